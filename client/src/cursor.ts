/** Determines which function a command applies to: the given one, or the one at the cursor. */

import * as vscode from "vscode";
import type { FunctionArgument } from "./protocol";
import type { Server } from "./server";

/**
 * The given function, or the one at the cursor. Without a supported file or a running server, informs the user and
 * returns undefined.
 *
 * @param otherwise the message if there is no such function, such as "Put the cursor into a Python function to probe
 * it."
 */
export async function functionMeant<T extends FunctionArgument>(
  server: Server,
  given: T | undefined,
  otherwise: string,
): Promise<T | FunctionArgument | undefined> {
  if (given) return (await ensureRunning(server)) ? given : undefined;
  const editor = vscode.window.activeTextEditor;
  if (!editor || !server.serves(editor.document)) {
    void vscode.window.showInformationMessage(otherwise);
    return undefined;
  }
  if (!(await ensureRunning(server))) return undefined;
  const { line, character } = editor.selection.active;
  return { uri: editor.document.uri.toString(), position: { line, character } };
}

/** Waits for the server to start, and returns whether it runs. If not, shows a message with actions. */
export async function ensureRunning(server: Server): Promise<boolean> {
  if (server.isRunning || (await server.whenStarted())) return true;
  const restart = "Restart Server";
  const logs = "Show Logs";
  const choice = await vscode.window.showWarningMessage("Counterlens is not running.", restart, logs);
  if (choice === restart) await vscode.commands.executeCommand("counterlens.restartServer");
  if (choice === logs) await vscode.commands.executeCommand("counterlens.showLogs");
  return false;
}
