/**
 * Activation: registers the contributions that the editor needs immediately. Everything else is loaded later, on
 * demand.
 */

import * as vscode from "vscode";
import { offer } from "./assistant/offer";
import type { Running } from "./parts";

/** The part of the manifest that is used here. */
interface Contributions {
  commands: { command: string }[];
  languageModelTools: { name: string }[];
}

let running: Promise<Running> | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const started = soon().then(async () => (await import("./parts")).start(context));
  running = started;
  const { commands, languageModelTools } = context.extension.packageJSON.contributes as Contributions;
  for (const { command } of commands) {
    const run = async (...given: unknown[]) => (await started).commands[command]?.(...given);
    context.subscriptions.push(vscode.commands.registerCommand(command, run));
  }
  for (const { name } of languageModelTools) {
    context.subscriptions.push(offer(name, async () => (await started).tools[name]));
  }
}

/** Waits until after the activation, so that other extensions do not wait for ours. */
function soon(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export async function deactivate(): Promise<void> {
  await (await running)?.stop();
}
