/** Follows the cursor for the views: its function, and the known facts about that. */

import * as vscode from "vscode";
import type { ScoresChangedParams } from "../protocol";
import type { Server } from "../server";
import { whyEmpty } from "./empty";
import { FUNCTION, type FunctionResult } from "./protocol";

const PAUSE_MS = 200;

/** The function that the views show. */
export interface Place {
  document: vscode.TextDocument;
  found: FunctionResult;
}

/** Sends requests only while one of its views is visible. */
export class Follower implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Place | undefined>();
  /** Fired when the shown function changes; undefined without a supported file. */
  readonly onDidChange = this.changed.event;
  private readonly views: vscode.TreeView<unknown>[] = [];
  private readonly disposables: vscode.Disposable[];
  private waiting: NodeJS.Timeout | undefined;
  /** Number of the latest request; responses to earlier ones are dropped. */
  private asked = 0;
  private shown: Place | undefined;
  private empty = "";

  constructor(private readonly server: Server) {
    this.disposables = [
      this.changed,
      vscode.window.onDidChangeActiveTextEditor(() => this.soon()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) this.soon();
      }),
    ];
  }

  get place(): Place | undefined {
    return this.shown;
  }

  /** The reason why no function is shown. Empty if one is, or if there is nothing to add. */
  get whyEmpty(): string {
    return this.empty;
  }

  /** Also follows the cursor for another view. */
  serve(view: vscode.TreeView<unknown>): void {
    this.views.push(view);
    this.disposables.push(view.onDidChangeVisibility(() => this.soon()));
  }

  scoresChanged({ uri }: ScoresChangedParams): void {
    const at = vscode.window.activeTextEditor?.document ?? this.shown?.document;
    if (at && vscode.Uri.parse(uri).toString() === at.uri.toString()) this.soon();
  }

  soon(): void {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => void this.load(), PAUSE_MS);
  }

  private async load(): Promise<void> {
    if (!this.views.some(({ visible }) => visible)) return;
    const editor = vscode.window.activeTextEditor;
    // A diff, a panel or a view counts as showing its function.
    const here = editor && this.server.serves(editor.document) ? editor : this.lastEditor();
    if (!here) {
      if (!editor) return;
      this.shown = undefined;
      const { languageId, uri } = editor.document;
      const isFile = uri.scheme === "file";
      this.empty = isFile ? whyEmpty({ served: false, language: languageId, running: true }) : "";
      this.changed.fire(undefined);
      return;
    }
    const question = ++this.asked;
    const { document, selection } = here;
    const { line, character } = selection.active;
    const found = await this.server.request<FunctionResult>(FUNCTION, {
      textDocument: { uri: document.uri.toString() },
      position: { line, character },
    });
    if (question !== this.asked) return;
    this.shown = found && { document, found };
    const { isRunning: running } = this.server;
    this.empty = whyEmpty({ served: true, language: document.languageId, running, found });
    this.changed.fire(this.shown);
  }

  private lastEditor(): vscode.TextEditor | undefined {
    const last = this.shown?.document;
    return vscode.window.visibleTextEditors.find(({ document }) => document === last);
  }

  dispose(): void {
    clearTimeout(this.waiting);
    for (const disposable of this.disposables) disposable.dispose();
  }
}
