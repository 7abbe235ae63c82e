/** "Probe Function…": lets the user choose a task, and shows results in one panel as they arrive. */

import { randomUUID } from "node:crypto";
import * as path from "node:path";
import * as vscode from "vscode";
import { ensureRunning } from "./cursor";
import { type Action, Panel, type Tool } from "./panels";
import {
  ALL_TASKS,
  PROBE_TASKS,
  TASKS,
  type TaskListing,
  type TaskNews,
  type TasksArgument,
  type TasksResult,
} from "./protocol";
import { NO_ANSWER, type Server } from "./server";
import { PROBED_LANGUAGES } from "./settings";
import { type TaskChoice, taskChoices } from "./taskChoices";

export type Scope = "function" | "file";

/** The function to probe, or all functions of a file if none is named. */
interface Subject {
  uri: string;
  function?: string;
}

interface Run {
  subject: Subject;
  name: string;
  cancel: vscode.CancellationTokenSource;
  status: string;
  /** Whether the file has changed since. */
  stale: boolean;
}

type Row = vscode.QuickPickItem & { choice?: TaskChoice };

const TOOLS: Tool[] = [
  { action: "stop", title: "Stop" },
  { action: "again", title: "Probe Again…" },
];
const OPENING = "Opening the model";
const CHANGED = "The file has changed since.";

export class TaskView implements vscode.Disposable {
  private readonly panel: Panel;
  private readonly edits: vscode.Disposable;
  private run: Run | undefined;

  constructor(
    extension: vscode.Uri,
    private readonly server: Server,
  ) {
    const act = (action: Action) => this.act(action);
    this.panel = new Panel(extension, "counterlens.tasks", TOOLS, act, () => this.run?.cancel.cancel());
    this.edits = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (document.uri.toString() !== this.run?.subject.uri || contentChanges.length === 0) return;
      this.run.stale = true;
      this.say(this.run.status);
    });
  }

  /** Lets the user choose a task for the function at the cursor, or for the whole file. */
  async choose(scope: Scope): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const probed = editor && PROBED_LANGUAGES.includes(editor.document.languageId);
    if (!probed || !this.server.serves(editor.document)) {
      void vscode.window.showInformationMessage("Open a Python or Java file to probe it.");
      return;
    }
    if (!(await ensureRunning(this.server))) return;
    const { line, character } = editor.selection.active;
    const uri = editor.document.uri.toString();
    await this.pick(scope, uri, { uri, position: { line, character } });
  }

  /** Shows the news of the current run; those of earlier runs are dropped. */
  news({ run, overview, section, html, status, over }: TaskNews): void {
    if (run !== this.run?.name) return;
    this.panel.put("overview", overview);
    if (section) this.panel.put(section, html);
    this.say(status);
    if (over) this.panel.enable("stop", false);
  }

  private say(status: string): void {
    if (!this.run) return;
    this.run.status = status;
    this.panel.say(this.run.stale ? `${status}. ${CHANGED}` : status);
  }

  private async pick(scope: Scope, uri: string, place: object): Promise<void> {
    const list = vscode.window.createQuickPick<Row>();
    list.title = "Counterlens: Probe";
    list.placeholder = "What Can Be Probed Here?";
    list.busy = true;
    list.matchOnDetail = true;
    list.show();
    const found = await this.ask<TaskListing>(TASKS, place);
    if (!found?.ok) {
      list.dispose();
      void vscode.window.showWarningMessage(found?.error ?? NO_ANSWER);
      return;
    }
    const choice = await chosen(list, found, scope, path.posix.basename(vscode.Uri.parse(uri).path));
    if (choice?.kind === "scope") return this.pick(choice.scope, uri, place);
    if (choice?.kind === "task") {
      const named = choice.scope === "function" ? { function: found.function } : {};
      await this.start({ uri, ...named }, choice.tasks);
    }
  }

  private async start(subject: Subject, tasks: string[]): Promise<void> {
    this.run?.cancel.cancel();
    const cancel = new vscode.CancellationTokenSource();
    const run: Run = { subject, name: randomUUID(), cancel, status: OPENING, stale: false };
    this.run = run;
    const name = subject.function ?? path.posix.basename(vscode.Uri.parse(subject.uri).path);
    this.panel.show(`Probes of ${name}`, "", OPENING);
    this.panel.enable("stop", true);
    const argument: TasksArgument = { ...subject, tasks, run: run.name };
    const answer = await this.ask<TasksResult>(PROBE_TASKS, argument, run.cancel.token);
    if (this.run !== run) return;
    this.panel.enable("stop", false);
    if (answer && !answer.ok) this.say(answer.error ?? NO_ANSWER);
    if (!answer && !run.cancel.token.isCancellationRequested) this.say(NO_ANSWER);
  }

  private ask<Result>(
    command: string,
    argument: object,
    cancel?: vscode.CancellationToken,
  ): Promise<Result | undefined> {
    const call = { command, arguments: [argument] };
    return this.server.request<Result>("workspace/executeCommand", call, cancel);
  }

  private async act({ action }: Action): Promise<void> {
    if (!this.run) return;
    const { uri, function: name } = this.run.subject;
    if (action === "stop") this.run.cancel.cancel();
    if (action === "again") {
      await vscode.workspace.openTextDocument(vscode.Uri.parse(uri)); // so that the server knows it
      await this.pick(name ? "function" : "file", uri, { uri, ...(name && { function: name }) });
    }
  }

  dispose(): void {
    this.run?.cancel.cancel();
    this.edits.dispose();
    this.panel.dispose();
  }
}

/** Fills an open list, and returns the user's choice, or undefined if it is closed. */
function chosen(
  list: vscode.QuickPick<Row>,
  found: TaskListing,
  scope: Scope,
  file: string,
): Promise<TaskChoice | undefined> {
  const { title, choices } = taskChoices(found, scope, file, ALL_TASKS);
  list.title = title;
  list.placeholder = found.model ? `What Should ${found.model} Be Asked?` : "No model is available";
  list.items = choices.map(row);
  list.busy = false;
  return new Promise((resolve) => {
    list.onDidAccept(() => {
      const choice = list.selectedItems[0]?.choice;
      if (choice?.kind === "unavailable") {
        void vscode.window.showInformationMessage(`${choice.label} cannot be run here: ${choice.detail}`);
        return;
      }
      resolve(choice);
      list.hide();
    });
    list.onDidHide(() => {
      resolve(undefined);
      list.dispose();
    });
  });
}

const ICONS = { task: "beaker", unavailable: "circle-slash", scope: "arrow-swap" };

function row(choice: TaskChoice): Row {
  if (choice.kind === "heading") {
    return { label: choice.label, kind: vscode.QuickPickItemKind.Separator };
  }
  const { label, detail } = choice;
  return { label: `$(${ICONS[choice.kind]}) ${label}`, detail, choice };
}
