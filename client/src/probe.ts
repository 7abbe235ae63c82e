/** Shows what a probe found: a short message, and on request the report as a page of its own. */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { isProbeResult, PROBE, type ProbeResult } from "./protocol";

const SHOW_REPORT = "Show Report";

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
    const choice = ok
      ? await vscode.window.showInformationMessage(summary, ...actions)
      : await vscode.window.showWarningMessage(error || summary, ...actions);
    if (choice === SHOW_REPORT) await vscode.window.showTextDocument(REPORT, { preview: true });
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }
}
