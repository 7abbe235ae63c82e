/** Shows what a probe found: a short message, and on request the report as a page of its own. */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { isProbeResult, PROBE, type ProbeResult } from "./protocol";
import { API_KEY_VARIABLE } from "./secrets";

const SHOW_REPORT = "Show Report";
const SET_API_KEY = "Set API Key…";

/** The last report, as a read-only document: it can be scrolled, searched and kept beside the code. */
const REPORT = vscode.Uri.parse("counterlens-report:/Counterlens%20Report");

export class ProbeReports implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private report = "";
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(REPORT.scheme, this);
  readonly onDidChange = this.changed.event;

  /** The code lens and the command both go through the server's executeCommand: show its result there. */
  readonly middleware: Middleware = {
    executeCommand: async (command, args, next) => {
      const result: unknown = await next(command, args);
      if (command === PROBE && isProbeResult(result)) void this.show(result);
      return result;
    },
  };

  provideTextDocumentContent(): string {
    return this.report;
  }

  private async show({ ok, summary, report, error }: ProbeResult): Promise<void> {
    if (report) {
      this.report = report;
      this.changed.fire(REPORT);
    }
    const actions = report ? [SHOW_REPORT] : [];
    // The server names the variable that the key comes from; here there is a command for it.
    if (!ok && error?.includes(API_KEY_VARIABLE)) actions.push(SET_API_KEY);
    const choice = ok
      ? await vscode.window.showInformationMessage(summary, ...actions)
      : await vscode.window.showWarningMessage(error || summary, ...actions);
    if (choice === SHOW_REPORT) await vscode.window.showTextDocument(REPORT, { preview: true });
    if (choice === SET_API_KEY) await vscode.commands.executeCommand("counterlens.setApiKey");
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }
}
