/** The status bar item: the model, its state, the reason if nothing is shown, and actions. */

import * as vscode from "vscode";
import type { Interpreter } from "./install/choosing";
import { OVERLAY, type OverlayResult, type ScoresChangedParams, type StatusParams } from "./protocol";
import type { Server } from "./server";
import { statusText } from "./statusText";

/** Links in the tooltip. */
const ACTIONS: [string, string][] = [
  ["Select Model", "counterlens.selectModel"],
  ["Test Connection", "counterlens.testConnection"],
  ["Legend", "counterlens.showLegend"],
  ["Toggle Overlay", "counterlens.toggleOverlay"],
  ["Restart", "counterlens.restartServer"],
  ["Logs", "counterlens.showLogs"],
];

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(
    "counterlens.status",
    vscode.StatusBarAlignment.Right,
    90,
  );
  private readonly disposables: vscode.Disposable[] = [this.item];
  private server: Server | undefined;
  private current: StatusParams = { model: "", state: "idle", detail: "" };
  private unscored = "";
  private overlayShown = true;

  /** A sentence about the interpreter that runs the server. */
  private python = "";

  constructor(actionsCommand: string) {
    this.item.name = "Counterlens";
    this.item.command = actionsCommand;
    this.item.show();
  }

  /** Also shows, from now on, why the active file has no confidence. */
  follow(server: Server): void {
    this.server = server;
    this.disposables.push(
      vscode.window.onDidChangeActiveTextEditor(() => void this.look()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.draw()),
    );
  }

  show(status: StatusParams): void {
    this.current = status;
    this.draw();
  }

  overlayIs(shown: boolean): void {
    this.overlayShown = shown;
    this.draw();
  }

  scoresChanged({ uri }: ScoresChangedParams): void {
    const active = vscode.window.activeTextEditor?.document.uri.toString();
    if (vscode.Uri.parse(uri).toString() === active) void this.look();
  }

  /** Keeps the interpreter for the tooltip, which shows it from the next state on. */
  runsWith({ path, why, version }: Interpreter): void {
    this.python = `Counterlens ${version} runs with ${path} (${why}).`;
  }

  /** Requests the reason why the active file is not scored; the empty range avoids getting its spans. */
  private async look(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    let answer: OverlayResult | undefined;
    if (document && this.server?.serves(document)) {
      const nowhere = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
      const params = { textDocument: { uri: document.uri.toString() }, range: nowhere };
      answer = await this.server.request<OverlayResult>(OVERLAY, params);
    }
    if (document !== vscode.window.activeTextEditor?.document) return;
    const unscored = answer?.state === "unavailable" ? (answer.reason ?? "unknown") : "";
    if (unscored === this.unscored) return;
    this.unscored = unscored;
    this.draw();
  }

  private draw(): void {
    const { icon, text, details, warns } = statusText({
      status: this.current,
      unscored: this.unscored,
      trusted: vscode.workspace.isTrusted,
      overlay: this.overlayShown,
    });
    this.item.text = `$(${icon}) ${text}`;
    const tooltip = new vscode.MarkdownString("**Counterlens**", true);
    for (const detail of [...details, this.python]) {
      if (detail) tooltip.appendMarkdown("\n\n").appendText(detail);
    }
    const links = ACTIONS.map(([label, command]) => `[${label}](command:${command})`);
    tooltip.appendMarkdown(`\n\n${links.join(" · ")}`);
    tooltip.isTrusted = { enabledCommands: ACTIONS.map(([, command]) => command) };
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: `Counterlens, ${text}. ${details.join(" ")}` };
    this.item.backgroundColor = warns ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}
