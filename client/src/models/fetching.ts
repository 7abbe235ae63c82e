/** The code models that the server offers, and downloading one of them. */

import * as vscode from "vscode";
import { ensureRunning } from "../cursor";
import { NO_ANSWER, type Server } from "../server";
import { EMBEDDED_MODEL } from "../settings";
import { ended } from "../statusText";
import { CODE_MODELS, type CodeModels, FETCH_MODEL, type FetchedModel } from "./codeModels";
import { browse, choose } from "./writing";

/** @param measure whether to wait until their speed on this machine is known */
export async function offeredCodeModels(server: Server, measure: boolean): Promise<CodeModels> {
  const none = { models: [], byDefault: EMBEDDED_MODEL };
  if (!server.isRunning) return none;
  const call = { command: CODE_MODELS, arguments: [{ measure }] };
  return (await server.request<CodeModels>("workspace/executeCommand", call)) ?? none;
}

/** Downloads a model, with progress shown by the server, and selects it. */
export async function fetchAndChoose(server: Server, id: string, name: string): Promise<void> {
  if (!(await ensureRunning(server))) return;
  const call = { command: FETCH_MODEL, arguments: [{ id }] };
  const found = await server.request<FetchedModel>("workspace/executeCommand", call);
  if (found?.cancelled) return;
  if (found?.ok) {
    await choose({ model: id });
    void vscode.window.showInformationMessage(`Counterlens now uses ${name}.`);
    return;
  }
  const [again, file] = ["Try Again", "Model File…"];
  const why = found ? [found.error, found.hint].filter(Boolean).map(ended).join(" ") : NO_ANSWER;
  const choice = await vscode.window.showErrorMessage(why, again, file);
  if (choice === again) await fetchAndChoose(server, id, name);
  if (choice === file) await browse();
}
