/** "Runs": evaluation runs in the workspace; opening one shows its report. */

import * as path from "node:path";
import * as vscode from "vscode";
import { NO_ANSWER, type Server } from "../server";
import { RUN_REPORT, RUNS, type RunReport, type RunRow } from "./protocol";
import { runWords } from "./words";

const FILES = "**/run.sqlite";
const EXCLUDED = "**/{node_modules,.venv,venv,.git}/**";
const MOST = 200;
const AGAIN_MS = 3_000;
const OPEN = "counterlens.openRun";

/** A row of the view. */
export interface FoundRun {
  folder: vscode.Uri;
  /** What the server knows of it. */
  run?: RunRow | undefined;
}

export class RunsView implements vscode.Disposable, vscode.TreeDataProvider<FoundRun> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<FoundRun>;
  private readonly disposables: vscode.Disposable[];
  private rows: FoundRun[] = [];
  private shown = "";
  private asked = 0;
  private waiting: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView("counterlens.runs", { treeDataProvider: this });
    const files = vscode.workspace.createFileSystemWatcher(FILES);
    const reload = () => void this.load();
    this.disposables = [
      this.view,
      this.changed,
      files,
      files.onDidCreate(reload),
      files.onDidDelete(reload),
      files.onDidChange(reload),
      this.view.onDidChangeVisibility(reload),
      vscode.commands.registerCommand(OPEN, (row: FoundRun) => this.open(row)),
    ];
    reload();
  }

  async load(): Promise<void> {
    if (!this.view.visible) return;
    const question = ++this.asked;
    clearTimeout(this.waiting);
    const files = await vscode.workspace.findFiles(FILES, EXCLUDED, MOST);
    const folders = files.map((file) => vscode.Uri.joinPath(file, ".."));
    folders.sort((a, b) => a.path.localeCompare(b.path));
    await this.describe(folders, question);
  }

  /** Show what the server knows of the runs, unless there is a later question. */
  private async describe(folders: vscode.Uri[], question: number): Promise<void> {
    const call = { command: RUNS, arguments: [{ folders: folders.map(({ fsPath }) => fsPath) }] };
    const answer =
      folders.length > 0
        ? await this.server.request<{ runs: RunRow[] }>("workspace/executeCommand", call)
        : undefined;
    if (question !== this.asked) return;
    const known = new Map(answer?.runs.map((run) => [run.folder, run]));
    const rows = folders.map((folder) => ({ folder, run: known.get(folder.fsPath) }));
    clearTimeout(this.waiting);
    // What happens in a folder that was made a moment ago can escape the editor's watcher.
    const goesOn = rows.some(({ run }) => run?.resume);
    if (goesOn) this.waiting = setTimeout(() => void this.askAgain(folders), AGAIN_MS);
    const shown = JSON.stringify(rows);
    // A click on a row that is being drawn anew is lost, and a run that goes on changes its file often.
    if (shown === this.shown) return;
    this.shown = shown;
    this.rows = rows;
    this.changed.fire(undefined);
  }

  private async askAgain(folders: vscode.Uri[]): Promise<void> {
    if (this.view.visible) await this.describe(folders, ++this.asked);
  }

  /** Type the command that goes on with a run into a terminal; it is the user who starts it. */
  resume(row?: FoundRun): void {
    const command = row?.run?.resume;
    if (!command) return;
    const terminal = vscode.window.createTerminal({ name: "Counterlens", env: this.server.environment });
    terminal.show();
    terminal.sendText(command, false);
  }

  private async open(row: FoundRun): Promise<void> {
    if (!this.server.isRunning) await this.server.restart("a run is to be shown");
    const call = { command: RUN_REPORT, arguments: [{ folder: row.folder.fsPath }] };
    const report = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: vscode.l10n.t("Counterlens: making the report…") },
      () => this.server.request<RunReport>("workspace/executeCommand", call),
    );
    if (!report?.ok) {
      void vscode.window.showWarningMessage(report?.error ?? NO_ANSWER);
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      "counterlens.run",
      vscode.l10n.t("Run {0}", name(row)),
      vscode.ViewColumn.Active,
      {
        enableScripts: true, // those that the page names by their hashes
        enableFindWidget: true,
        localResourceRoots: [],
      },
    );
    const draw = () => {
      panel.webview.html = inTheme(report.html);
    };
    const themes = vscode.window.onDidChangeActiveColorTheme(draw);
    panel.onDidDispose(() => themes.dispose());
    draw();
    if (!row.run) await this.load();
  }

  getChildren(row?: FoundRun): FoundRun[] {
    return row ? [] : this.rows;
  }

  getTreeItem(row: FoundRun): vscode.TreeItem {
    const { label, description, tooltip, spoken } = runWords(name(row), row.run);
    const item = new vscode.TreeItem(label);
    item.id = row.folder.toString();
    item.description = description;
    item.tooltip = new vscode.MarkdownString(tooltip);
    const icon = row.run?.error ? "error" : row.run?.resume ? "debug-pause" : "graph";
    item.iconPath = new vscode.ThemeIcon(icon);
    item.contextValue = row.run?.resume ? "resumable" : "run";
    item.accessibilityInformation = { label: spoken };
    item.command = { title: vscode.l10n.t("Show the Report"), command: OPEN, arguments: [row] };
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

/** A browser chooses between light and dark by the system; here the editor's theme decides. */
function inTheme(html: string): string {
  const { Light, HighContrastLight } = vscode.ColorThemeKind;
  const { kind } = vscode.window.activeColorTheme;
  const scheme = kind === Light || kind === HighContrastLight ? "light" : "dark";
  return html.replace("<head>", `<head>\n<style>:root { color-scheme: ${scheme} !important; }</style>`);
}
