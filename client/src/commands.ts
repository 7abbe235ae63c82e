/** The commands of the palette, the menus and the status bar. */

import * as vscode from "vscode";
import { chooseGranularity, ignoreConcept } from "./concepts";
import type { Counterfactuals } from "./counterfactuals";
import { functionAtCursor } from "./cursor";
import type { DependenceView } from "./dependences";
import type { Overlay } from "./overlay";
import {
  type ConceptArgument,
  type FunctionArgument,
  IGNORE_CONCEPT,
  PREVIEW_REPLACEMENT,
  PROBE,
  type ReplacementArgument,
  SHOW_COUNTERFACTUAL,
  SHOW_DEPENDENCES,
} from "./protocol";
import type { Replacements } from "./replacements";
import { askForApiKey } from "./secrets";
import type { Server } from "./server";
import type { SyntaxTree } from "./tree";

export const SHOW_ACTIONS = "counterlens.showActions";
const CHOOSE_INTERPRETER = "Choose Interpreter…";
const SHOW_LOGS = "Show Logs";

/** What the commands are about. */
export interface Parts {
  server: Server;
  overlay: Overlay;
  counterfactuals: Counterfactuals;
  dependences: DependenceView;
  replacements: Replacements;
  tree: SyntaxTree;
  log: vscode.LogOutputChannel;
}

export function registerCommands(
  context: vscode.ExtensionContext,
  { server, overlay, counterfactuals, dependences, replacements, tree, log }: Parts,
): void {
  // biome-ignore lint/suspicious/noExplicitAny: what a command is given depends on who calls it
  const commands: Record<string, (argument?: any) => unknown> = {
    "counterlens.restartServer": () => server.restart("asked for by command"),
    "counterlens.showLogs": () => log.show(),
    "counterlens.toggleOverlay": () => overlay.setEnabled(!overlay.isEnabled),
    "counterlens.chooseGranularity": () => chooseGranularity(),
    "counterlens.chooseTree": () => tree.choose(),
    "counterlens.probeAtCursor": () => probeAtCursor(server),
    [SHOW_COUNTERFACTUAL]: (argument?: FunctionArgument) => counterfactuals.show(argument),
    [SHOW_DEPENDENCES]: (argument?: FunctionArgument) => dependences.show(argument),
    [PREVIEW_REPLACEMENT]: (argument: ReplacementArgument) => replacements.preview(argument),
    [IGNORE_CONCEPT]: (argument: ConceptArgument) => ignoreConcept(argument),
    "counterlens.setApiKey": () => askForApiKey(context.secrets),
    "counterlens.chooseInterpreter": () => chooseInterpreter(),
    [SHOW_ACTIONS]: () => showActions(overlay),
  };
  for (const [id, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(id, run));
  }
}

/** One clear message with a way out, for when no Python can run the server. */
export async function reportNoInterpreter(tried: string[], log: vscode.LogOutputChannel): Promise<void> {
  const last = tried.at(-1);
  const message =
    tried.length === 1
      ? `Counterlens cannot start: ${last}.`
      : "Counterlens cannot start: no Python with the counterlens package was found.";
  const choice = await vscode.window.showErrorMessage(message, CHOOSE_INTERPRETER, SHOW_LOGS);
  if (choice === CHOOSE_INTERPRETER) await chooseInterpreter();
  if (choice === SHOW_LOGS) log.show();
}

async function probeAtCursor(server: Server): Promise<void> {
  const argument = await functionAtCursor(server, "probe it");
  if (argument) await vscode.commands.executeCommand(PROBE, argument);
}

async function chooseInterpreter(): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    title: "The Python that has the counterlens package",
    openLabel: "Use This Python",
    canSelectMany: false,
  });
  const python = chosen?.[0]?.fsPath;
  if (!python) return;
  const settings = vscode.workspace.getConfiguration("counterlens");
  await settings.update("interpreter", python, vscode.ConfigurationTarget.Global);
}

async function showActions(overlay: Overlay): Promise<void> {
  const actions: (vscode.QuickPickItem & { command: string; argument?: string })[] = [
    { label: "$(beaker) Probe Function Counterfactually", command: "counterlens.probeAtCursor" },
    {
      label: "$(git-compare) Show Counterfactual…",
      command: SHOW_COUNTERFACTUAL,
    },
    { label: "$(type-hierarchy) Show Dependences", command: SHOW_DEPENDENCES },
    {
      label: `$(eye) ${overlay.isEnabled ? "Hide" : "Show"} the Confidence Overlay`,
      command: "counterlens.toggleOverlay",
    },
    { label: "$(list-selection) Choose What the Overlay Colours…", command: "counterlens.chooseGranularity" },
    { label: "$(refresh) Restart Server", command: "counterlens.restartServer" },
    { label: "$(output) Show Logs", command: "counterlens.showLogs" },
    {
      label: "$(gear) Settings",
      command: "workbench.action.openSettings",
      argument: "@ext:counterlens.counterlens",
    },
  ];
  const chosen = await vscode.window.showQuickPick(actions, { title: "Counterlens" });
  if (chosen) await vscode.commands.executeCommand(chosen.command, chosen.argument);
}
