/**
 * "Runs": the evaluation runs in the workspace, which can be started, paused and resumed; opening one shows its report.
 */

import * as path from "node:path";
import * as vscode from "vscode";
import type { Server } from "../server";
import { LiveRuns } from "./liveRuns";
import { PAUSE_RUN, RUNS, type RunNews, type RunRow, type StartedRun } from "./protocol";
import { ask, askRepository, begin, started } from "./repositoryRun";
import { RunReports } from "./runReports";
import { runWords } from "./words";

const FILES = "**/run.sqlite";
const EXCLUDED = "**/{node_modules,.venv,venv,.git}/**";
const MOST = 200;
const AGAIN_MS = 3_000;
const OPEN = "counterlens.openRun";

/** A row of the view. */
export interface FoundRun {
  folder: vscode.Uri;
  /** The server's description of the run. */
  run?: RunRow | undefined;
}

export class RunsView implements vscode.Disposable, vscode.TreeDataProvider<FoundRun> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<FoundRun>;
  private readonly reports: RunReports;
  private readonly live = new LiveRuns();
  private readonly disposables: vscode.Disposable[];
  private rows: FoundRun[] = [];
  private shown = "";
  private asked = 0;
  private waiting: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView("counterlens.runs", { treeDataProvider: this });
    this.reports = new RunReports(server);
    const files = vscode.workspace.createFileSystemWatcher(FILES);
    const reload = () => void this.load();
    this.disposables = [
      this.view,
      this.changed,
      this.reports,
      this.live,
      files,
      files.onDidCreate(reload),
      files.onDidDelete(reload),
      files.onDidChange(reload),
      this.view.onDidChangeVisibility(reload),
      vscode.commands.registerCommand(OPEN, (row: FoundRun) => this.open(row)),
    ];
    reload();
  }

  /** Called when the server is ready. Runs of an earlier server ended with it. */
  async serverStarted(): Promise<void> {
    this.live.forget();
    await this.load();
  }

  async load(): Promise<void> {
    if (this.view.visible) await this.find();
  }

  private async find(): Promise<void> {
    const question = ++this.asked;
    clearTimeout(this.waiting);
    const files = await vscode.workspace.findFiles(FILES, EXCLUDED, MOST);
    const folders = files.map((file) => vscode.Uri.joinPath(file, ".."));
    folders.sort((a, b) => a.path.localeCompare(b.path));
    await this.describe(folders, question);
  }

  /** Shows the server's description of the runs, unless there is a later request. */
  private async describe(folders: vscode.Uri[], question: number): Promise<void> {
    const argument = { folders: folders.map(({ fsPath }) => fsPath) };
    const answer =
      folders.length > 0 ? await ask<{ runs: RunRow[] }>(this.server, RUNS, argument) : undefined;
    if (question !== this.asked) return;
    const known = new Map(answer?.runs.map((run) => [run.folder, run]));
    this.rows = folders.map((folder) => ({ folder, run: known.get(folder.fsPath) }));
    clearTimeout(this.waiting);
    // The editor's file watcher can miss changes in a folder that was just created.
    const goesOn = this.rows.some(({ run }) => run?.resume);
    if (goesOn) this.waiting = setTimeout(() => void this.askAgain(folders), AGAIN_MS);
    this.draw();
  }

  private async askAgain(folders: vscode.Uri[]): Promise<void> {
    if (this.view.visible) await this.describe(folders, ++this.asked);
  }

  /**
   * Redraws only if something has changed: a click on a row that is being redrawn is lost, and a run changes its file
   * often.
   */
  private draw(): void {
    const shown = JSON.stringify(this.getChildren().map((row) => [row.folder, this.words(row), row.run]));
    if (shown === this.shown) return;
    this.shown = shown;
    this.changed.fire(undefined);
  }

  /** Shows the plan of a run over a repository, and starts the run. */
  async ask(): Promise<void> {
    if (await askRepository(this.server)) await vscode.commands.executeCommand("counterlens.runs.focus");
  }

  /** Resumes the given run, or one that the user chooses. */
  async resume(row?: FoundRun): Promise<void> {
    if (!(await started(this.server))) return;
    if (!row) await this.find();
    const paused = this.rows.filter(({ folder, run }) => run?.resume && !this.live.of(folder.fsPath));
    const chosen = row ?? (await this.choose(paused, "No run can be resumed."));
    if (chosen) await begin(this.server, { run: chosen.folder.fsPath });
  }

  /** Pauses the given run, or one that was started here and that the user chooses. */
  async pause(row?: FoundRun): Promise<void> {
    const running = this.live.folders.map((folder) => ({ folder: vscode.Uri.file(folder) }));
    const chosen = row ?? (await this.choose(running, "No run is active here."));
    if (!chosen) return;
    const answer = await ask<StartedRun>(this.server, PAUSE_RUN, { run: chosen.folder.fsPath });
    if (answer && !answer.ok) void vscode.window.showWarningMessage(answer.error ?? "");
  }

  private async choose(rows: FoundRun[], none: string): Promise<FoundRun | undefined> {
    if (rows.length === 0) void vscode.window.showInformationMessage(none);
    if (rows.length <= 1) return rows[0];
    const items = rows.map((row) => ({ label: name(row), description: this.words(row).description, row }));
    return (await vscode.window.showQuickPick(items, { title: "Which run?" }))?.row;
  }

  /** Handles news of a run that was started here. */
  news(news: RunNews): void {
    const row: FoundRun = { folder: vscode.Uri.file(news.folder) };
    this.live.take(news, name(row));
    this.draw();
    if (news.state === "running") return;
    void this.load();
    if (news.state === "done") void this.reports.show(row.folder, name(row), true);
    if (news.error) void this.explain(row, news);
  }

  private async explain(row: FoundRun, { error, state }: RunNews): Promise<void> {
    const [again, logs] = ["Resume", "Show Logs"];
    const text =
      state === "done"
        ? `Run ${name(row)}: some functions failed: ${error}`
        : `Run ${name(row)} stopped: ${error}`;
    const choice = await vscode.window.showWarningMessage(text, again, logs);
    if (choice === again) await this.resume(row);
    if (choice === logs) await vscode.commands.executeCommand("counterlens.showLogs");
  }

  private async open(row: FoundRun): Promise<void> {
    await this.reports.show(row.folder, name(row));
    if (!row.run) await this.load();
  }

  getChildren(row?: FoundRun): FoundRun[] {
    if (row) return [];
    const found = new Set(this.rows.map(({ folder }) => folder.fsPath));
    const begun = this.live.folders.filter((folder) => !found.has(folder));
    return [...this.rows, ...begun.map((folder) => ({ folder: vscode.Uri.file(folder) }))];
  }

  private words(row: FoundRun) {
    return runWords(name(row), row.run, this.live.of(row.folder.fsPath));
  }

  getTreeItem(row: FoundRun): vscode.TreeItem {
    const { label, description, tooltip, ariaLabel } = this.words(row);
    const live = this.live.of(row.folder.fsPath) !== undefined;
    const item = new vscode.TreeItem(label);
    item.id = row.folder.toString();
    item.description = description;
    item.tooltip = new vscode.MarkdownString(tooltip);
    const still = row.run?.error ? "error" : row.run?.resume ? "debug-pause" : "graph";
    item.iconPath = new vscode.ThemeIcon(live ? "loading~spin" : still);
    item.contextValue = live ? "running" : row.run?.resume ? "resumable" : "run";
    item.accessibilityInformation = { label: ariaLabel };
    item.command = { title: "Show the Report", command: OPEN, arguments: [row] };
    return item;
  }

  dispose(): void {
    clearTimeout(this.waiting);
    for (const disposable of this.disposables) disposable.dispose();
  }
}

function name({ folder }: FoundRun): string {
  return vscode.workspace.asRelativePath(folder) || path.basename(folder.fsPath);
}
