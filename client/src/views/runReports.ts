/** The reports of runs, each in its own panel, which is reused. */

import * as vscode from "vscode";
import { NO_ANSWER, type Server } from "../server";
import { RUN_REPORT, type RunReport } from "./protocol";

interface Shown {
  panel: vscode.WebviewPanel;
  html: string;
}

export class RunReports implements vscode.Disposable {
  private readonly panels = new Map<string, Shown>();
  private readonly themes: vscode.Disposable;

  constructor(private readonly server: Server) {
    this.themes = vscode.window.onDidChangeActiveColorTheme(() => {
      for (const shown of this.panels.values()) draw(shown);
    });
  }

  /**
   * Shows the report of a run with the results so far.
   *
   * @param name of the run
   * @param beside whether to open it beside the code, without moving the focus
   */
  async show(folder: vscode.Uri, name: string, beside = false): Promise<void> {
    if (!this.server.isRunning) await this.server.restart("a run is to be shown");
    const call = { command: RUN_REPORT, arguments: [{ folder: folder.fsPath }] };
    const report = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: "Counterlens: creating the report…" },
      () => this.server.request<RunReport>("workspace/executeCommand", call),
    );
    if (!report?.ok) {
      void vscode.window.showWarningMessage(report?.error ?? NO_ANSWER);
      return;
    }
    const key = folder.toString();
    const shown = this.panels.get(key);
    if (shown) {
      shown.html = report.html;
      draw(shown);
      shown.panel.reveal(undefined, beside);
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      "counterlens.run",
      `Run ${name}`,
      beside
        ? { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }
        : { viewColumn: vscode.ViewColumn.Active },
      {
        enableScripts: true, // the page allows only its own scripts, by hash
        enableFindWidget: true,
        localResourceRoots: [],
      },
    );
    const made = { panel, html: report.html };
    this.panels.set(key, made);
    panel.onDidDispose(() => this.panels.delete(key));
    draw(made);
  }

  dispose(): void {
    this.themes.dispose();
  }
}

/** Draws a report in the editor's colour scheme, since the page by itself would follow the system's. */
function draw({ panel, html }: Shown): void {
  const { Light, HighContrastLight } = vscode.ColorThemeKind;
  const { kind } = vscode.window.activeColorTheme;
  const scheme = kind === Light || kind === HighContrastLight ? "light" : "dark";
  const style = `<style>:root { color-scheme: ${scheme} !important; }</style>`;
  panel.webview.html = html.replace("<head>", `<head>\n${style}`);
}
