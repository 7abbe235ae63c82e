/** "Ask About This Repository": shows the plan with its expected time, then starts the run or makes another plan. */

import * as path from "node:path";
import * as vscode from "vscode";
import { ensureRunning } from "../cursor";
import { NO_ANSWER, type Server } from "../server";
import { type Amount, amounts, type PlanRow, planRows } from "./planRows";
import { PLAN_RUN, type RunPlan, START_RUN, type StartedRun } from "./protocol";

type Row = vscode.QuickPickItem & { row?: PlanRow };

/**
 * Shows the user the plan of a run, and starts it. Returns the folder of the run, or undefined if it was not started.
 */
export async function askRepository(server: Server): Promise<string | undefined> {
  const folder = await folderMeant();
  if (!folder) return undefined;
  if (!(await started(server))) return undefined;
  let tasks: string[] | undefined;
  for (;;) {
    const plan = await ask<RunPlan>(server, PLAN_RUN, { folder: folder.uri.fsPath, tasks });
    if (plan?.cancelled) return undefined;
    if (!plan?.ok) {
      void vscode.window.showWarningMessage(plan?.error ?? NO_ANSWER);
      return undefined;
    }
    const row = await chosen(plan, folder.name);
    const amount = row?.kind === "amount" ? await otherAmount(plan) : undefined;
    if (row?.kind === "amount" && !amount) continue;
    if (row?.kind === "start" || amount) {
      const wanted = plan.tasks.filter(({ chosen: one }) => one).map(({ id }) => id);
      const minutes = row?.kind === "start" ? row.minutes : amount?.minutes;
      const limit = amount?.limit;
      const share = limit === undefined ? 1 : Math.min(1, limit / plan.functions);
      const whole = plan.seconds === null ? null : plan.seconds * share;
      const seconds = minutes ? Math.min(60 * minutes, whole ?? 60 * minutes) : whole;
      return begin(server, { folder: folder.uri.fsPath, tasks: wanted, minutes, limit, seconds });
    }
    if (row?.kind !== "tasks") return undefined;
    tasks = (await otherTasks(plan)) ?? tasks;
  }
}

/**
 * Starts or resumes a run. Returns its folder; if it was refused, warns the user with the reason and returns undefined.
 */
export async function begin(server: Server, argument: object): Promise<string | undefined> {
  const answer = await ask<StartedRun>(server, START_RUN, argument);
  if (answer?.ok) return answer.folder;
  void vscode.window.showWarningMessage(answer?.error ?? NO_ANSWER);
  return undefined;
}

/** Makes sure that the server runs, even if no open file has started it. */
export async function started(server: Server): Promise<boolean> {
  if (!server.isRunning && !(await server.whenStarted()))
    await server.restart("a repository is to be asked about");
  return ensureRunning(server);
}

export function ask<Result>(server: Server, command: string, argument: object): Promise<Result | undefined> {
  return server.request<Result>("workspace/executeCommand", { command, arguments: [argument] });
}

async function folderMeant(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
  if (folders.length === 0) {
    void vscode.window.showInformationMessage("Open the folder of a repository to ask about it.");
    return undefined;
  }
  if (!vscode.workspace.isTrusted) {
    const manage = "Manage Workspace Trust";
    const message = "Asking about a repository runs its tests in the sandbox. Trust the workspace first.";
    if ((await vscode.window.showWarningMessage(message, manage)) === manage)
      await vscode.commands.executeCommand("workbench.trust.manage");
    return undefined;
  }
  const active = vscode.window.activeTextEditor?.document.uri;
  const around = active && vscode.workspace.getWorkspaceFolder(active);
  if (folders.length === 1) return folders[0];
  const rows = folders
    .sort((a, b) => Number(b === around) - Number(a === around))
    .map((folder) => ({ label: folder.name, description: path.dirname(folder.uri.fsPath), folder }));
  const picked = await vscode.window.showQuickPick(rows, {
    title: "Ask About This Repository",
    placeHolder: "Which folder?",
  });
  return picked?.folder;
}

async function chosen(plan: RunPlan, name: string): Promise<PlanRow | undefined> {
  const rows: Row[] = planRows(plan).map((row) =>
    row.kind === "heading"
      ? { label: row.label, kind: vscode.QuickPickItemKind.Separator }
      : { label: `$(${row.icon}) ${row.label}`, description: row.description, detail: row.detail, row },
  );
  for (;;) {
    const picked = await vscode.window.showQuickPick(rows, {
      title: `Ask About ${name}`,
      placeHolder: "Questions and expected time",
      ignoreFocusOut: true,
    });
    if (picked?.row?.kind !== "fact") return picked?.row;
  }
}

/** Lets the user choose how much is asked; undefined to go back to the plan. */
async function otherAmount(plan: RunPlan): Promise<Amount | undefined> {
  const other = "Another Number of Functions…";
  const picked = await vscode.window.showQuickPick<vscode.QuickPickItem & Partial<Amount>>(
    [...amounts(plan), { label: other }],
    { title: "How much?", ignoreFocusOut: true },
  );
  if (picked?.label !== other) return picked as Amount | undefined;
  const typed = await vscode.window.showInputBox({
    title: other,
    prompt: `A number from 1 to ${plan.functions}`,
    validateInput: (text) =>
      /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= plan.functions
        ? undefined
        : `A number from 1 to ${plan.functions}`,
  });
  return typed ? { label: typed, description: "", limit: Number(typed) } : undefined;
}

async function otherTasks(plan: RunPlan): Promise<string[] | undefined> {
  const rows = plan.tasks.map(({ id, title, chosen: picked }) => ({ label: id, detail: title, picked }));
  const picked = await vscode.window.showQuickPick(rows, {
    title: "Which probes?",
    canPickMany: true,
    matchOnDetail: true,
    ignoreFocusOut: true,
  });
  return picked?.length ? picked.map(({ label }) => label) : undefined;
}
