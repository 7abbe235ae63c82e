/** "Fit Now": fits the margins of the model in use, so that it marks places without tests. */

import * as vscode from "vscode";
import { FIT_MARGINS, type FitResult } from "./protocol";
import { NO_ANSWER, type Server } from "./server";

/** Has the server fit the margins, with progress, and says which kinds of doubt mark places now. */
export async function fitMargins(server: Server): Promise<void> {
  const answer = await server.request<FitResult>("workspace/executeCommand", { command: FIT_MARGINS });
  if (!answer?.ok) {
    void vscode.window.showWarningMessage(answer?.error ?? NO_ANSWER);
    return;
  }
  const kinds = answer.kinds.join(", ") || "none";
  const text = `Fitted on ${answer.functions} functions. Kinds of doubt that mark places now: ${kinds}`;
  void vscode.window.showInformationMessage(text);
}
