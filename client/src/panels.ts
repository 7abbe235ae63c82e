/** Webview panels: a page of the server's HTML with our own style and script, and nothing else. */

import * as vscode from "vscode";
import { language } from "./language";
import { escaped, page } from "./page";

/** What a button of the page asks for. */
export interface Action {
  action: string;
  /** Number of a pair. */
  pair?: number;
  /** Counted from 1. */
  line?: number;
}

export interface Tool {
  action: string;
  title: string;
}

/** One panel that is opened when there is something to show, and used again for the next. */
export class Panel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private status = "";
  /** Whether the page listens; what is posted before may be lost, and what comes later stand before it. */
  private listens = false;
  /** What was put below the fragment, by id, in the order of the page. */
  private readonly sections = new Map<string, string>();
  private readonly disabled = new Set<string>();

  constructor(
    private readonly extension: vscode.Uri,
    private readonly kind: string,
    private readonly tools: Tool[],
    private readonly act: (action: Action) => unknown,
    private readonly closed: () => unknown = () => undefined,
  ) {}

  /** Show a fragment of HTML that the server has escaped, beside the code; the keyboard stays where it is. */
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

  /** Bring the panel to the front; the keyboard stays where it is. */
  reveal(): void {
    this.panel?.reveal(this.panel.viewColumn, true);
  }

  /** Say something in the page, also to a screen reader. */
  say(status: string): void {
    this.status = status;
    this.post({ status });
  }

  /** Add a section to the page, or put it in the place of the one with its id: whoever reads stays where they are. */
  put(id: string, html: string): void {
    this.sections.set(id, html);
    this.post({ sections: [[id, html]] });
  }

  /** Whether a button of the toolbar can be pressed. */
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
    return `<div role="toolbar" aria-label="Counterlens" lang="${language()}">${buttons.join("")}<span id="status" role="status"></span></div>
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
      // A page that is shown again starts anew, with what it had and said last.
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
