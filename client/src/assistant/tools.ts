/** Tools for assistants in the editor: they send a request to the server, and return its report. */

import * as vscode from "vscode";
import { CONFIDENCE, type FunctionArgument, PROBE, type Reported } from "../protocol";
import type { Server } from "../server";
import { textResult } from "./host";
import { type Subject, subject } from "./input";
import type { Tool } from "./offer";

/** Names as in the manifest; assistants outside the editor use the same ones. */
export const PROBE_TOOL = "counterlens_probe_function";
export const CONFIDENCE_TOOL = "counterlens_confidence";

export function toolsOf(server: Server): Record<string, Tool> {
  return {
    [PROBE_TOOL]: {
      prepareInvocation: ({ input }) => {
        const title = "Probe a Function?";
        return question(title, named(subject(input, { needsFunction: true })), [
          "The function's own tests run the model's code in a sandbox.",
          whereTo(),
        ]);
      },
      invoke: ({ input }, cancel) => ask(server, PROBE, subject(input, { needsFunction: true }), cancel),
    },
    [CONFIDENCE_TOOL]: {
      prepareInvocation: ({ input }) => {
        const title = "Measure the Model's Confidence in the Code?";
        return question(title, named(subject(input, { needsFunction: false })), [whereTo()]);
      },
      invoke: ({ input }, cancel) =>
        ask(server, CONFIDENCE, subject(input, { needsFunction: false }), cancel),
    },
  };
}

function question(title: string, about: string, consequences: string[]) {
  const message = new vscode.MarkdownString([`\`${about}\``, ...consequences].join("\n\n"));
  return {
    invocationMessage: `Examining ${about}`,
    confirmationMessages: { title, message },
  };
}

function named({ path, function: name }: Subject): string {
  const about = name ? `${name} (${path})` : path;
  return about.replaceAll("`", "'"); // the text is put into backquotes
}

/** Names where the code is sent: to the examined model, and with the report to the assistant. */
function whereTo(): string {
  const settings = vscode.workspace.getConfiguration("counterlens");
  const model = settings.get<string>("model") ?? "";
  const isRemote = model.startsWith("remote");
  const elsewhere = isRemote ? (settings.get<string>("remote.baseUrl") ?? "") : model;
  const asked =
    isRemote || model.startsWith("editor:")
      ? `The code is sent to ${elsewhere}.`
      : "The examined model runs on this machine.";
  return `${asked} The report, with parts of the code, is sent to the assistant.`;
}

async function ask(
  server: Server,
  command: string,
  about: Subject,
  cancel: vscode.CancellationToken,
): Promise<object> {
  const document = await vscode.workspace.openTextDocument(await find(about.path));
  if (!server.serves(document))
    throw new Error(`Counterlens does not examine ${document.languageId} files here.`);
  if (!(await server.whenStarted())) throw new Error("Counterlens is not running; its log says why.");
  const uri = document.uri.toString();
  const argument: FunctionArgument = { uri, ...(about.function && { function: about.function }) };
  const call = { command, arguments: [argument] };
  const answer = await server.request<Reported>("workspace/executeCommand", call, cancel);
  if (!answer?.ok) throw new Error(answer?.error ?? "The language server did not answer; its log says why.");
  return textResult(answer.markdown);
}

/** Finds a file of the workspace, and no other, since the assistant names it rather than the user. */
async function find(path: string): Promise<vscode.Uri> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const candidates = folders.flatMap(({ uri }) => [vscode.Uri.joinPath(uri, path), uri.with({ path })]);
  for (const candidate of candidates) {
    if (vscode.workspace.getWorkspaceFolder(candidate) && (await exists(candidate))) return candidate;
  }
  throw new Error(`There is no file ${path} in the workspace.`);
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    return (await vscode.workspace.fs.stat(uri)).type !== vscode.FileType.Directory;
  } catch {
    return false;
  }
}
