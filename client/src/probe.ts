/** Shows what a probe found: a short message, the report on request. */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { isProbeResult, PROBE, type ProbeResult } from "./protocol";

const SHOW_REPORT = "Show Report";

export class ProbeReports implements vscode.Disposable {
  private readonly channel = vscode.window.createOutputChannel("Counterlens Report");

  /** The code lens and the command both go through the server's executeCommand: show its result there. */
  readonly middleware: Middleware = {
    executeCommand: async (command, args, next) => {
      const result: unknown = await next(command, args);
      if (command === PROBE && isProbeResult(result)) void this.show(result);
      return result;
    },
  };

  private async show({ ok, summary, report, error }: ProbeResult): Promise<void> {
    if (report) {
      this.channel.clear();
      this.channel.append(report.endsWith("\n") ? report : `${report}\n`);
    }
    const actions = report ? [SHOW_REPORT] : [];
    const choice = ok
      ? await vscode.window.showInformationMessage(summary, ...actions)
      : await vscode.window.showWarningMessage(error || summary, ...actions);
    if (choice === SHOW_REPORT) this.channel.show();
  }

  dispose(): void {
    this.channel.dispose();
  }
}
