/** Webview panels: pages of the server's HTML with our own style and script, and nothing else. */

import * as vscode from "vscode";
import { escaped, page } from "./page";

/** A message from the page, mostly for a clicked button. */
export interface Action {
  action: string;
  /** Index of a pair. */
  pair?: number;
  /** Line number, counted from 1. */
  line?: number;
}

export interface Tool {
  action: string;
  title: string;
}

/** A panel that opens when there is something to show, and is then reused. */
export class Panel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private status = "";
  /** Whether the page is ready for messages. Earlier ones may be lost, or overtaken by later ones. */
  private listens = false;
  /** Sections that were added below the fragment, by id, in page order. */
  private readonly sections = new Map<string, string>();
  private readonly disabled = new Set<string>();

  constructor(
    private readonly extension: vscode.Uri,
    private readonly kind: string,
    private readonly tools: Tool[],
    private readonly act: (action: Action) => unknown,
    private readonly closed: () => unknown = () => undefined,
  ) {}

  /** Shows a fragment of HTML that the server has escaped, beside the code. The focus does not move. */
  show(title: string, fragment: string, status = ""): void {
    const panel = this.panel ?? this.create(title);
    const { webview } = panel;
    this.status = status;
    this.listens = false;
    this.sections.clear();
    panel.title = title;
    webview.html = page(webview, this.folder, { name: "panel", title, body: this.body(fragment) });
    panel.reveal(panel.viewColumn ?? vscode.ViewColumn.Beside, true);
  }

  /** Brings the panel to the front. The focus does not move. */
  reveal(): void {
    this.panel?.reveal(this.panel.viewColumn, true);
  }

  /** Shows a status message in the page, which screen readers announce. */
  say(status: string): void {
    this.status = status;
    this.post({ status });
  }

  /** Adds a section to the page, or replaces the one with its id; the reader's scroll position is kept. */
  put(id: string, html: string): void {
    this.sections.set(id, html);
    this.post({ sections: [[id, html]] });
  }

  /** Enables or disables a button of the toolbar. */
  enable(action: string, enabled: boolean): void {
    if (enabled) this.disabled.delete(action);
    else this.disabled.add(action);
    this.post({ disabled: [...this.disabled] });
  }

  get isOpen(): boolean {
    return this.panel !== undefined;
  }

  private post(message: object): void {
    if (this.listens) void this.panel?.webview.postMessage(message);
  }

  private get folder(): vscode.Uri {
    return vscode.Uri.joinPath(this.extension, "dist");
  }

  private body(fragment: string): string {
    const buttons = this.tools.map(
      (tool) => `<button type="button" data-action="${tool.action}">${escaped(tool.title)}</button>`,
    );
    return `<div role="toolbar" aria-label="Counterlens" lang="en">${buttons.join("")}<span id="status" role="status"></span></div>
<main>
${fragment}
</main>`;
  }

  private create(title: string): vscode.WebviewPanel {
    const where = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const panel = vscode.window.createWebviewPanel(this.kind, title, where, {
      enableScripts: true,
      enableFindWidget: true,
      localResourceRoots: [this.folder],
    });
    panel.webview.onDidReceiveMessage((message: Action) => {
      // A hidden page is loaded again when it is shown; it gets its sections and its last status back.
      if (message.action === "ready") {
        this.listens = true;
        this.post({ sections: [...this.sections], disabled: [...this.disabled], status: this.status });
      } else void this.act(message);
    });
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.listens = false;
      this.closed();
    });
    this.panel = panel;
    return panel;
  }

  dispose(): void {
    this.panel?.dispose();
  }
}
