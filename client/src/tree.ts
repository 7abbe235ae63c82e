/** "Confidence by Syntax": the syntax tree of the active file with the confidence of each node, linked to the code. */

import * as vscode from "vscode";
import {
  type ScoresChangedParams,
  TREE,
  type TreeParams,
  type TreeResult,
  type TreeRow,
  type TreeView,
} from "./protocol";
import { rangeOf } from "./ranges";
import { childrenOf, describe, innermost } from "./rows";
import type { Server } from "./server";

export const VIEW = "counterlens.tree";
const FOLLOW_PAUSE_MS = 150;

/** The number of a row in the response, counted from 1, since VS Code takes 0 for no element. */
type Element = number;

export class SyntaxTree implements vscode.Disposable, vscode.TreeDataProvider<Element> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Element>;
  private readonly disposables: vscode.Disposable[];
  private document: vscode.TextDocument | undefined;
  private answer: TreeResult | undefined;
  private children: number[][] = [];
  private shows: TreeView = "partial";
  private following: NodeJS.Timeout | undefined;
  /** Number of the latest request; responses to earlier ones are dropped. */
  private asked = 0;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView(VIEW, { treeDataProvider: this, showCollapseAll: true });
    const { Keyboard, Mouse } = vscode.TextEditorSelectionChangeKind;
    this.disposables = [
      this.view,
      this.changed,
      this.view.onDidChangeVisibility(() => void this.load()),
      vscode.window.onDidChangeActiveTextEditor(() => void this.load()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
        const moved = kind === Keyboard || kind === Mouse; // excludes clicks in the tree itself
        if (moved && textEditor.document === this.document) this.followSoon(textEditor);
      }),
    ];
  }

  scoresChanged({ uri }: ScoresChangedParams): void {
    const active = vscode.window.activeTextEditor?.document.uri.toString();
    if (vscode.Uri.parse(uri).toString() === active) void this.load();
  }

  async choose(): Promise<void> {
    const rows: (vscode.QuickPickItem & { shows: TreeView })[] = [
      {
        label: "Partial Tree",
        detail: "The constructs, without words and brackets.",
        shows: "partial",
      },
      { label: "Complete Tree", detail: "All nodes.", shows: "complete" },
      {
        label: "Token Sequence",
        detail: "The tokens of the model in sequence.",
        shows: "sequence",
      },
    ];
    const now = "now";
    const marked = rows.map((row) => ({ ...row, description: row.shows === this.shows ? now : "" }));
    const title = "Confidence by Syntax";
    const chosen = await vscode.window.showQuickPick(marked, { title });
    if (!chosen) return;
    this.shows = chosen.shows;
    await this.load();
  }

  async load(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!this.view.visible || !editor || editor.document.uri.scheme === "output") return;
    const question = ++this.asked;
    const { document } = editor;
    let answer: TreeResult | undefined;
    if (this.server.serves(document)) {
      const params: TreeParams = { textDocument: { uri: document.uri.toString() }, view: this.shows };
      answer = await this.server.request<TreeResult>(TREE, params);
    }
    if (question !== this.asked || answer?.state === "scoring") return; // keep the shown tree until scores arrive
    const opened = this.document !== document || this.view.selection.length === 0;
    this.document = document;
    this.answer = answer;
    this.children = childrenOf(answer?.rows ?? []);
    this.view.message = message(answer);
    this.changed.fire(undefined);
    if (opened) this.followSoon(editor); // it opens at the cursor
  }

  getChildren(element?: Element): Element[] {
    return (this.children[element ?? 0] ?? []).map((index) => index + 1);
  }

  getParent(element: Element): Element | undefined {
    const parent = this.row(element)?.parent ?? -1;
    return parent < 0 ? undefined : parent + 1;
  }

  getTreeItem(element: Element): vscode.TreeItem {
    const row = this.row(element);
    if (!row || !this.answer || !this.document) return new vscode.TreeItem("");
    const { label, description, tooltip } = describe(row);
    const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(label, row.leaf ? None : row.parent < 0 ? Expanded : Collapsed);
    item.id = `${this.document.uri}#${this.answer.version}#${this.answer.view}#${element}`;
    item.description = description;
    item.tooltip = new vscode.MarkdownString(tooltip);
    item.iconPath = icon(row);
    item.command = {
      title: "Show",
      command: "vscode.open",
      arguments: [this.document.uri, { selection: rangeOf(row.range), preserveFocus: true }],
    };
    return item;
  }

  /** Selects the node at the cursor, after a pause. */
  private followSoon(editor: vscode.TextEditor): void {
    clearTimeout(this.following);
    this.following = setTimeout(() => {
      const rows = this.answer?.version === editor.document.version ? this.answer.rows : [];
      const found = this.view.visible ? innermost(rows, editor.selection.active) : undefined;
      if (found !== undefined && this.view.selection[0] !== found + 1) {
        this.view.reveal(found + 1, { select: true, focus: false }).then(undefined, () => undefined);
      }
    }, FOLLOW_PAUSE_MS);
  }

  private row(element: Element): TreeRow | undefined {
    return this.answer?.rows[element - 1];
  }

  dispose(): void {
    clearTimeout(this.following);
    for (const disposable of this.disposables) disposable.dispose();
  }
}

function message(answer: TreeResult | undefined): string {
  if (!answer) return "Open a file in a language that Counterlens supports.";
  if (answer.state === "unavailable") {
    return `No confidence: ${answer.reason ?? "unknown"}`;
  }
  return answer.truncated > 0 ? `${answer.truncated} more rows are not shown.` : "";
}

function icon({ level }: TreeRow): vscode.ThemeIcon {
  if (level === null) return new vscode.ThemeIcon("circle-outline");
  // The overlay's colours are faint backgrounds; an icon needs a visible colour.
  const colours = ["charts.red", "charts.orange", "charts.yellow", "charts.foreground"];
  return new vscode.ThemeIcon("circle-filled", new vscode.ThemeColor(colours[level] ?? "charts.blue"));
}
