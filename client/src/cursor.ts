/** Which function a command means: the one it was called for, or the one at the cursor. */

import * as vscode from "vscode";
import type { FunctionArgument } from "./protocol";
import type { Server } from "./server";

/**
 * The function that is given, or the one at the cursor; undefined, and said why, when there is no Python file or no
 * server.
 *
 * @param otherwise what to say where there is none, such as "Put the cursor into a Python function to probe it."
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

/** Whether the server runs, once it has started; when it does not, a message with a way out. */
export async function ensureRunning(server: Server): Promise<boolean> {
  if (server.isRunning || (await server.whenStarted())) return true;
  const restart = vscode.l10n.t("Restart Server");
  const logs = vscode.l10n.t("Show Logs");
  const choice = await vscode.window.showWarningMessage(
    vscode.l10n.t("Counterlens is not running."),
    restart,
    logs,
  );
  if (choice === restart) await vscode.commands.executeCommand("counterlens.restartServer");
  if (choice === logs) await vscode.commands.executeCommand("counterlens.showLogs");
  return false;
}
