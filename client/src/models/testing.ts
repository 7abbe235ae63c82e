/** "Test Connection": tests whether the model of the settings responds, and shows its capabilities. */

import * as vscode from "vscode";
import { ensureRunning } from "../cursor";
import { TEST_MODEL, type TestedModel } from "../protocol";
import type { Server } from "../server";
import { ended } from "../statusText";
import { trialRows } from "./trialRows";

const AGAIN = "Test Again";
const KEY = "Set API Key…";
const OTHER = "Select Model…";
const LOGS = "Show Logs";

export async function testConnection(server: Server): Promise<void> {
  if (!(await ensureRunning(server))) return;
  const found = await server.request<TestedModel>("workspace/executeCommand", {
    command: TEST_MODEL,
    arguments: [{}],
  });
  if (!found) return; // cancelled, or the server has just stopped, which is reported elsewhere
  if (found.ok) await show(found);
  else await explain(found, server);
}

async function show(found: TestedModel): Promise<void> {
  const icons = new Map([
    [true, "check"],
    [false, "circle-slash"],
    [null, "info"],
  ]);
  const rows = trialRows(found).map(({ able, label, detail }) => ({
    label: `$(${icons.get(able)}) ${label}`,
    detail,
  }));
  const other = { label: `$(server) ${OTHER}` };
  const chosen = await vscode.window.showQuickPick([...rows, other], {
    title: `Test of ${found.model}`,
    placeHolder: "Capabilities of the model",
    ignoreFocusOut: true,
  });
  if (chosen === other) await vscode.commands.executeCommand("counterlens.selectModel");
}

async function explain(found: TestedModel, server: Server): Promise<void> {
  const name = found.model.replace(/^remote:/, "");
  const what = [`${name}: ${ended(found.error)}`, found.hint && ended(found.hint)].filter(Boolean).join(" ");
  const keyed = found.reason === "the key was rejected";
  const ways = [AGAIN, ...(keyed ? [KEY] : []), OTHER, LOGS];
  const choice = await vscode.window.showErrorMessage(what, ...ways);
  if (choice === AGAIN) await testConnection(server);
  if (choice === KEY) await vscode.commands.executeCommand("counterlens.setApiKey");
  if (choice === OTHER) await vscode.commands.executeCommand("counterlens.selectModel");
  if (choice === LOGS) await vscode.commands.executeCommand("counterlens.showLogs");
}
