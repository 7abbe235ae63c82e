/**
 * Shows the result of a probe: the report in a panel beside the code, or a message with the reason why there is none.
 */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { escaped } from "./page";
import { type Action, Panel } from "./panels";
import {
  COMPLETE_AND_EXPLAIN,
  type CompletionArgument,
  type FunctionArgument,
  isProbeResult,
  PROBE,
  type ProbeArgument,
  type ProbeFact,
  type ProbeRefinement,
  type ProbeResult,
} from "./protocol";
import { API_KEY_VARIABLE } from "./secrets";

const SET_API_KEY = "Set API Key…";

/** Number of completions of each side that the panel's button samples. */
const DRAWN = 20;

const TOOLS = [
  { action: "draw", title: `Sample ${DRAWN} Completions` },
  { action: "again", title: "Ask Again" },
  { action: "text", title: "Show as Text" },
];

const SECTION = "probe";

const PROBING = "Probing; what is known so far:";

const KEPT = "This result is from an earlier session. “Ask Again” probes anew.";

/** The last report as a read-only document: plain text that can be copied. */
const REPORT = vscode.Uri.parse("counterlens-report:/Counterlens%20Report");

/** Opens the diff of two texts made from a file. Without `before`, the file itself is the left side. */
export type Compare = (
  file: vscode.Uri,
  before: string | undefined,
  after: string,
  title: string,
) => Promise<void>;

export class ProbeReports implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private shown: { file: vscode.Uri; result: ProbeResult } | undefined;
  /** What the running probe has stated, while there is no result of its function to show. */
  private stating: { file: string; function: string; facts: string[] } | undefined;
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(REPORT.scheme, this);
  private readonly panel: Panel;
  /** Whether the running probe has shown results. */
  private inFront = false;
  /** The answers that running probes will have, by what was asked of which text. */
  private readonly running = new Map<string, Promise<unknown>>();
  readonly onDidChange = this.changed.event;

  constructor(
    extension: vscode.Uri,
    private readonly compare: Compare,
  ) {
    this.panel = new Panel(extension, "counterlens.probe", TOOLS, (action) => this.act(action));
  }

  /**
   * Shows the result of {@link PROBE}, which both the code lens and the command send as the server's executeCommand. A
   * second click asks nothing again.
   */
  readonly middleware: Middleware = {
    executeCommand: (command, args, next) => {
      const argument = args[0] as FunctionArgument | undefined;
      if (command !== PROBE || !argument) return next(command, args);
      const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === argument.uri);
      const key = JSON.stringify([argument, document?.version]);
      const begin = async () => {
        this.inFront = false;
        this.stating = undefined;
        const result: unknown = await next(command, [{ ...argument, refine: true }]);
        if (isProbeResult(result)) void this.show(argument.uri, result);
        return result;
      };
      const answer = this.running.get(key) ?? begin().finally(() => this.running.delete(key));
      this.running.set(key, answer);
      return answer;
    },
  };

  provideTextDocumentContent(): string {
    return this.shown?.result.report ?? "";
  }

  private async show(uri: string, result: ProbeResult): Promise<void> {
    for (const { action } of TOOLS) this.panel.enable(action, true);
    if (!result.ok) {
      this.panel.say(this.stating ? "The probe ended without a result." : "");
      this.stating = undefined;
      // Results of the function's own tests are too long for a message, and would vanish with it.
      if (result.html) return this.present(uri, result, "");
      return this.explain(result);
    }
    this.present(uri, result, result.kept ? KEPT : "");
  }

  /**
   * Shows a sentence of a running probe: below the others, or as the status of an earlier result of the same function,
   * which stays until there is a new one.
   */
  stated({ uri, function: name, fact }: ProbeFact): void {
    const file = vscode.Uri.parse(uri);
    const { shown } = this;
    if (this.panel.isOpen && shown?.file.toString() === file.toString() && shown.result.function === name) {
      this.panel.say(fact);
      return;
    }
    const { stating } = this;
    const goesOn = stating?.file === file.toString() && stating.function === name;
    if (goesOn && !this.panel.isOpen) return; // the reader has closed it
    const facts = goesOn ? [...stating.facts, fact] : [fact];
    this.stating = { file: file.toString(), function: name, facts };
    const items = facts.map((each) => `<li>${escaped(each)}</li>`).join("\n");
    const html = `<h1>Probe of ${escaped(name)}</h1>\n<ul>\n${items}\n</ul>`;
    if (goesOn && !this.shown) {
      this.panel.put(SECTION, html);
      return;
    }
    this.shown = undefined; // what the buttons act on is no longer what is shown
    for (const { action } of TOOLS) this.panel.enable(action, false);
    this.panel.show(`Probe of ${name}`, `<section id="${SECTION}">${html}</section>`, PROBING);
    this.inFront = true;
  }

  /** Shows the results so far of a probe that is still sampling completions. */
  refined({ uri, status, result }: ProbeRefinement): void {
    this.panel.enable("draw", false);
    this.present(uri, result, status);
    this.inFront = true;
  }

  /** Shows the result of a probe that no command started. */
  showResult(uri: vscode.Uri, result: ProbeResult): void {
    this.present(uri.toString(), result, "");
  }

  /**
   * Shows a result. It replaces that of the same version of a function in place, which keeps the reader's scroll
   * position, and stays behind whatever the reader has opened since the probe's first results.
   */
  private present(uri: string, result: ProbeResult, status: string): void {
    const file = vscode.Uri.parse(uri);
    const last = this.panel.isOpen ? this.shown : undefined;
    const { stating } = this;
    const ends = stating?.file === file.toString() && stating.function === result.function;
    this.shown = { file, result };
    if (ends) this.stating = undefined; // another probe may still be running
    this.changed.fire(REPORT);
    const same =
      last?.file.toString() === file.toString() &&
      last.result.function === result.function &&
      last.result.version === result.version;
    if (same || (ends && this.panel.isOpen)) {
      this.panel.put(SECTION, result.html);
      this.panel.say(status);
      if (!status && !this.inFront) this.panel.reveal();
    } else {
      const title = `Probe of ${result.function}`;
      this.panel.show(title, `<section id="${SECTION}">${result.html}</section>`, status);
    }
  }

  private async explain({ summary, error }: ProbeResult): Promise<void> {
    // The server names the environment variable of the API key; in the editor a command sets the key.
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
    if (action === "again") {
      const again: ProbeArgument = { uri: file.toString(), function: result.function, again: true };
      await vscode.commands.executeCommand(PROBE, again);
      return;
    }
    if (action === "draw") {
      const argument: ProbeArgument = {
        uri: file.toString(),
        function: result.function,
        samples: DRAWN,
      };
      this.panel.enable("draw", false);
      await vscode.commands.executeCommand(PROBE, argument);
      this.panel.enable("draw", true);
      return;
    }
    const pair = number === undefined ? undefined : result.pairs[number];
    if (!pair) return;
    if (action === "difference") {
      const { version } = await vscode.workspace.openTextDocument(file);
      const before = version === result.version ? undefined : result.source; // the version that was probed
      const title = `${result.function}: ${pair.title} (original ↔ counterfactual)`;
      await this.compare(file, before, pair.counterfactual, title);
    }
    if (action === "explain") {
      const argument: CompletionArgument = {
        uri: file.toString(),
        position: { line: pair.line, character: 0 },
        mutation: pair.mutation,
      };
      await vscode.commands.executeCommand(COMPLETE_AND_EXPLAIN, argument);
    }
    const [original, counterfactual] = pair.wrote;
    if (action === "wrote" && original !== undefined && counterfactual !== undefined) {
      const title = `${result.function}: written after the original ↔ after ${pair.title}`;
      await this.compare(file, original, counterfactual, title);
    }
  }

  dispose(): void {
    this.panel.dispose();
    this.registration.dispose();
    this.changed.dispose();
  }
}
