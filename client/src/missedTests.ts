/** "What Do the Tests Miss?": opens the tests that would fail on mutants that the function's own tests pass. */

import * as vscode from "vscode";
import { functionMeant } from "./cursor";
import { type FunctionArgument, MUTANTS, type MutantsResult } from "./protocol";
import { NO_ANSWER, type Server } from "./server";

/** Shows what the tests of the given function miss, or those of the one at the cursor if none is given. */
export async function showMissedTests(server: Server, named?: FunctionArgument): Promise<void> {
  const argument = await functionMeant(
    server,
    named,
    "Put the cursor into a Python function to see what its tests miss.",
  );
  if (!argument) return;
  const answer = await server.request<MutantsResult>("workspace/executeCommand", {
    command: MUTANTS,
    arguments: [argument],
  });
  if (!answer?.ok) {
    void vscode.window.showWarningMessage(answer?.error ?? NO_ANSWER);
    return;
  }
  const summary = `${answer.function}: ${answer.summary}`;
  void vscode.window.showInformationMessage(summary);
  if (!answer.tests) return;
  const tests = await vscode.workspace.openTextDocument({ language: "python", content: answer.tests });
  await vscode.window.showTextDocument(tests, { viewColumn: vscode.ViewColumn.Beside });
}
