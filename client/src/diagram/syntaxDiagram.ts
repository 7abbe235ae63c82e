/** "Show Syntax Tree Diagram": draws the syntax tree of the function at the cursor, linked to the code in both directions. */

import * as path from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as vscode from "vscode";
import { page } from "../page";
import {
  type ScoresChangedParams,
  TREE,
  TREE_VIEWS,
  type TreeParams,
  type TreeResult,
  type TreeView,
} from "../protocol";
import { rangeOf } from "../ranges";
import type { Server } from "../server";
import { body } from "./body";
import { rowFor } from "./linking";
import {
  type Condition,
  type Diagram,
  type Greeting,
  type News,
  type PageMessage,
  SCOPES,
  type Scope,
} from "./messages";

const PAUSE_MS = 150;

/** The shown response and its document. */
interface Shown {
  document: vscode.TextDocument;
  answer: TreeResult;
  diagram: Diagram;
}

export class SyntaxDiagram implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private readonly disposables: vscode.Disposable[];
  /** Whether the page is ready for messages. */
  private listens = false;
  private view: TreeView = "partial";
  private scope: Scope = "function";
  private shown: Shown | undefined;
  private condition: Condition = "none";
  private status = "";
  /** Number of the latest request; responses to earlier ones are dropped. */
  private asked = 0;
  private waiting: NodeJS.Timeout | undefined;
  /** The selection that a click in the diagram made in the editor; it stands for the clicked row. */
  private revealed: { row: number; range: vscode.Range } | undefined;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly server: Server,
  ) {
    this.disposables = [
      vscode.window.onDidChangeActiveTextEditor(() => this.soon()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) this.soon();
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (document === this.shown?.document && contentChanges.length > 0) this.outdated();
      }),
    ];
  }

  /** Opens the diagram beside the code. The focus does not move. */
  async show(): Promise<void> {
    this.panel ??= this.create();
    this.panel.reveal(this.panel.viewColumn ?? vscode.ViewColumn.Beside, true);
    await this.load();
  }

  scoresChanged({ uri }: ScoresChangedParams): void {
    const document = this.editor()?.document ?? this.shown?.document;
    if (document?.uri.toString() === vscode.Uri.parse(uri).toString()) void this.load();
  }

  /** Called when the server is ready. */
  started(): void {
    void this.load();
  }

  private create(): vscode.WebviewPanel {
    const folder = vscode.Uri.joinPath(this.extension, "dist");
    const title = "Syntax Tree Diagram";
    const where = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const panel = vscode.window.createWebviewPanel("counterlens.picture", title, where, {
      enableScripts: true,
      localResourceRoots: [folder],
    });
    panel.webview.onDidReceiveMessage((message: PageMessage) => void this.act(message));
    panel.onDidChangeViewState(() => {
      if (!panel.visible)
        this.listens = false; // a hidden page is discarded, and loaded again when shown
      else if (!this.listens) void this.load(); // else only the focus changed
    });
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.shown = undefined;
      this.listens = false;
    });
    panel.webview.html = page(panel.webview, folder, { name: "picture", title, body: body() });
    return panel;
  }

  private async act(message: PageMessage): Promise<void> {
    if (message.action === "ready") {
      this.listens = true;
      this.greet();
    } else if (message.action === "reveal") {
      await this.reveal(message.id, message.row, message.go);
    } else {
      this.view = TREE_VIEWS.find((view) => message.action === "view" && view === message.value) ?? this.view;
      this.scope =
        SCOPES.find((scope) => message.action === "scope" && scope === message.value) ?? this.scope;
      await this.load();
    }
  }

  // From the code to the diagram.

  private soon(): void {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => void this.follow(), PAUSE_MS);
  }

  /** Follows the cursor: marks its row, or draws another function. */
  private async follow(): Promise<void> {
    const editor = this.editor();
    if (!this.panel?.visible || !editor) return;
    if (!this.shown || !this.isOf(editor)) return this.load();
    if (this.condition === "ready") this.post({ selected: this.selected() });
  }

  /** Whether the shown function or file contains the cursor. */
  private isOf({ document, selection }: vscode.TextEditor): boolean {
    if (document !== this.shown?.document) return false;
    const { scope } = this.shown.answer;
    if (this.scope === "file") return true;
    return scope ? rangeOf(scope.range).contains(selection.active) : false;
  }

  private async load(): Promise<void> {
    if (!this.panel?.visible) return;
    const editor = this.editor();
    if (!editor) return this.say("none", "Open a file in a language that Counterlens supports.");
    const { document, selection } = editor;
    const question = ++this.asked;
    const params: TreeParams = { textDocument: { uri: document.uri.toString() }, view: this.view };
    if (this.scope === "function") params.position = selection.active;
    const answer = await this.server.request<TreeResult>(TREE, params);
    if (question !== this.asked) return;
    if (answer?.state === "ready" && answer.version === document.version) this.present(document, answer);
    else this.wait(document, answer);
  }

  private present(document: vscode.TextDocument, answer: TreeResult): void {
    const { scope, view, labels, rows, truncated } = answer;
    const status = rows.length > 0 ? "" : "There is nothing to show.";
    [this.condition, this.status] = ["ready", status];
    // A diagram that is drawn again gets another number, so that a recent click in it would be lost.
    if (document === this.shown?.document && isDeepStrictEqual(answer, this.shown.answer)) {
      this.post({ condition: "ready", status, selected: this.selected() });
      return;
    }
    const file = path.basename(document.uri.fsPath);
    const title = scope?.name || file;
    const lines = document.getText(scope ? wholeLines(rangeOf(scope.range)) : undefined).split(/\r?\n/);
    const firstLine = scope?.range.start.line ?? 0;
    const diagram: Diagram = {
      ...{ id: this.asked, title, view, labels: [...labels], rows, truncated, lines, firstLine },
    };
    this.shown = { document, answer, diagram };
    this.revealed = undefined;
    if (this.panel) this.panel.title = `Syntax of ${title}`;
    this.postAll();
  }

  /** Handles missing scores of the document. Those of an earlier version stay, marked as stale. */
  private wait(document: vscode.TextDocument, answer: TreeResult | undefined): void {
    if (document !== this.shown?.document || answer?.state === "unavailable") this.shown = undefined;
    if (!answer) {
      this.say("none", "Counterlens is not running.");
    } else if (answer.state === "unavailable") {
      this.say("none", `No confidence: ${answer.reason ?? "unknown"}`);
    } else if (this.shown && this.shown.answer.version !== document.version) {
      this.outdated();
    } else if (this.shown) {
      this.say("stale", "The model is scoring this again…");
    } else {
      this.say("scoring", "The model is scoring this file…");
    }
  }

  private outdated(): void {
    this.say("stale", "The code has changed since. It is being scored again…");
  }

  private say(condition: Condition, status: string): void {
    [this.condition, this.status] = [condition, status];
    this.post({ condition, status, ...(!this.shown && { diagram: null }) });
  }

  /** The row of the selection in the editor. */
  private selected(): number | null {
    const editor = this.editor();
    if (!editor || !this.shown || editor.document !== this.shown.document) return null;
    const { start, end } = editor.selection;
    if (this.revealed?.range.isEqual(editor.selection)) return this.revealed.row;
    return rowFor(this.shown.answer.rows, { start, end }) ?? null;
  }

  /** The editor that the diagram follows. With the focus elsewhere, the diagram still belongs to its document. */
  private editor(): vscode.TextEditor | undefined {
    const active = vscode.window.activeTextEditor;
    if (active && this.server.serves(active.document)) return active;
    const visible = vscode.window.visibleTextEditors.filter(({ document }) => this.server.serves(document));
    return visible.find(({ document }) => document === this.shown?.document) ?? visible[0];
  }

  // From the diagram to the code.

  private async reveal(id: number, row: number, go: boolean): Promise<void> {
    const { shown } = this;
    const found = shown?.answer.rows[row];
    if (!shown || !found || id !== shown.diagram.id || shown.answer.version !== shown.document.version)
      return;
    const selection = rangeOf(found.range);
    this.revealed = { row, range: selection };
    const column = this.editor()?.viewColumn ?? vscode.ViewColumn.One;
    await vscode.window.showTextDocument(shown.document, {
      viewColumn: column,
      selection,
      preserveFocus: !go,
    });
  }

  // To the page.

  private greet(): void {
    const greeting: Greeting = {
      ...{ view: this.view, scope: this.scope },
      ...this.everything(),
    };
    this.post(greeting);
  }

  private postAll(): void {
    this.post(this.everything());
  }

  private everything(): News {
    const { condition, status } = this;
    return { condition, status, diagram: this.shown?.diagram ?? null, selected: this.selected() };
  }

  private post(news: News): void {
    if (this.listens) void this.panel?.webview.postMessage(news);
  }

  dispose(): void {
    clearTimeout(this.waiting);
    for (const disposable of this.disposables) disposable.dispose();
    this.panel?.dispose();
  }
}

function wholeLines({ start, end }: vscode.Range): vscode.Range {
  return new vscode.Range(start.line, 0, end.line + 1, 0);
}
