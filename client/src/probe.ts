/** Shows what a probe found: the report in a panel beside the code, or why there is none in a message. */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { type Action, Panel } from "./panels";
import { type FunctionArgument, isProbeResult, PROBE, type ProbeResult } from "./protocol";
import { API_KEY_VARIABLE } from "./secrets";

const SET_API_KEY = vscode.l10n.t("Set API Key…");

/** The last report as a read-only document: plain text that can be copied. */
const REPORT = vscode.Uri.parse("counterlens-report:/Counterlens%20Report");

/** Opens the difference of two texts made from a file; the first is the file itself where it is undefined. */
export type Compare = (
  file: vscode.Uri,
  before: string | undefined,
  after: string,
  title: string,
) => Promise<void>;

export class ProbeReports implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private shown: { file: vscode.Uri; result: ProbeResult } | undefined;
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(REPORT.scheme, this);
  private readonly panel: Panel;
  readonly onDidChange = this.changed.event;

  constructor(
    extension: vscode.Uri,
    private readonly compare: Compare,
  ) {
    const tools = [{ action: "text", title: vscode.l10n.t("Show as Text") }];
    this.panel = new Panel(extension, "counterlens.probe", tools, (action) => this.act(action));
  }

  /** The code lens and the command both go through the server's executeCommand: show its result there. */
  readonly middleware: Middleware = {
    executeCommand: async (command, args, next) => {
      const result: unknown = await next(command, args);
      const argument = args[0] as FunctionArgument | undefined;
      if (command === PROBE && argument && isProbeResult(result)) void this.show(argument.uri, result);
      return result;
    },
  };

  provideTextDocumentContent(): string {
    return this.shown?.result.report ?? "";
  }

  private async show(uri: string, result: ProbeResult): Promise<void> {
    if (!result.ok) return this.explain(result);
    this.shown = { file: vscode.Uri.parse(uri), result };
    this.changed.fire(REPORT);
    this.panel.show(vscode.l10n.t("Probe of {0}", result.function), result.html);
  }

  private async explain({ summary, error }: ProbeResult): Promise<void> {
    // The server names the variable that the key comes from; here there is a command for it.
    const actions = error?.includes(API_KEY_VARIABLE) ? [SET_API_KEY] : [];
    const choice = await vscode.window.showWarningMessage(error || summary, ...actions);
    if (choice === SET_API_KEY) await vscode.commands.executeCommand("counterlens.setApiKey");
  }

  private async act({ action, pair: number }: Action): Promise<void> {
    if (!this.shown) return;
    const { file, result } = this.shown;
    if (action === "text") {
      await vscode.window.showTextDocument(REPORT, { preview: true });
      return;
    }
    const pair = number === undefined ? undefined : result.pairs[number];
    if (!pair) return;
    if (action === "difference") {
      const { version } = await vscode.workspace.openTextDocument(file);
      const before = version === result.version ? undefined : result.source; // what was probed, not what is now
      const title = vscode.l10n.t("{0}: {1} (original ↔ counterfactual)", result.function, pair.title);
      await this.compare(file, before, pair.counterfactual, title);
    }
    const [original, counterfactual] = pair.wrote;
    if (action === "wrote" && original !== undefined && counterfactual !== undefined) {
      const title = vscode.l10n.t("{0}: written after the original ↔ after {1}", result.function, pair.title);
      await this.compare(file, original, counterfactual, title);
    }
  }

  dispose(): void {
    this.panel.dispose();
    this.registration.dispose();
    this.changed.dispose();
  }
}
