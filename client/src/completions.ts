/** "Complete and Explain": offers the model's completion as a suggestion, and shows its confidence in each part. */

import * as vscode from "vscode";
import { type Counterfactuals, choose } from "./counterfactuals";
import { functionMeant } from "./cursor";
import { escaped } from "./page";
import { type Action, Panel } from "./panels";
import {
  COMPLETE,
  type CompletionArgument,
  type CompletionBegun,
  type CompletionResult,
  PREVIEW_REPLACEMENT,
  type ReplacementArgument,
} from "./protocol";
import { rangeOf } from "./ranges";
import { NO_ANSWER, type Server } from "./server";

const ASKED = "Asking the model…";

export class Completions implements vscode.Disposable, vscode.InlineCompletionItemProvider {
  private readonly panel: Panel;
  private readonly disposables: vscode.Disposable[] = [
    vscode.languages.registerInlineCompletionItemProvider({ language: "python" }, this),
  ];
  private shown: { argument: CompletionArgument; answer: CompletionResult } | undefined;
  /** Number of the latest request; responses to earlier ones are dropped. */
  private asked = 0;

  constructor(
    extension: vscode.Uri,
    private readonly server: Server,
    private readonly counterfactuals: Counterfactuals,
  ) {
    const tools = [
      { action: "place", title: "Show in Place" },
      { action: "mutation", title: "Compare with a Counterfactual…" },
    ];
    this.panel = new Panel(extension, "counterlens.completion", tools, (action) => this.act(action));
  }

  /** Completes at the given position, or at the cursor if none is given. */
  async complete(given?: CompletionArgument): Promise<void> {
    const argument: CompletionArgument | undefined = await functionMeant(
      this.server,
      given,
      "Put the cursor into the body of a Python function to complete it.",
    );
    if (!argument) return;
    const question = ++this.asked;
    if (this.panel.isOpen) this.panel.say(ASKED);
    const answer = await this.server.request<CompletionResult>("workspace/executeCommand", {
      command: COMPLETE,
      arguments: [argument],
    });
    if (question !== this.asked) return;
    if (!answer?.ok) {
      if (this.panel.isOpen) this.panel.say("");
      void vscode.window.showWarningMessage(answer?.error ?? NO_ANSWER);
      return;
    }
    this.shown = { argument, answer };
    this.panel.show(`Completion of ${answer.function}`, answer.html);
    this.panel.enable("place", !argument.mutation);
    if (!argument.mutation) await vscode.commands.executeCommand("editor.action.inlineSuggest.trigger");
  }

  /** Shows the first line of a completion while the rest is written and explained. */
  begun({ function: name, text }: CompletionBegun): void {
    const title = `Completion of ${name}`;
    this.panel.show(title, `<pre><code>${escaped(text)}</code></pre>`, ASKED);
  }

  /** Offers the completion at the position where it was requested, unless more of the function follows. */
  provideInlineCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): vscode.InlineCompletionItem[] {
    const { argument, answer } = this.shown ?? {};
    if (!answer?.range || argument?.mutation || argument?.uri !== document.uri.toString()) return [];
    const range = rangeOf(answer.range);
    const fits = answer.version === document.version && range.start.isEqual(position);
    if (!fits || document.getText(range).trim()) return [];
    return [new vscode.InlineCompletionItem(answer.text.trimEnd(), new vscode.Range(position, position))];
  }

  private async act({ action }: Action): Promise<void> {
    if (!this.shown) return;
    const { argument, answer } = this.shown;
    if (action === "place" && answer.range) {
      const replacement: ReplacementArgument = {
        uri: argument.uri,
        version: answer.version,
        range: answer.range,
        newText: answer.text,
        title: `the rest of ${answer.function}`,
      };
      await vscode.commands.executeCommand(PREVIEW_REPLACEMENT, replacement);
    }
    if (action === "mutation") {
      const found = await this.counterfactuals.ask({ uri: argument.uri, function: answer.function });
      const chosen = found && (await choose(found));
      if (!chosen) return;
      const position = { line: chosen.line, character: 0 };
      await this.complete({ uri: argument.uri, position, mutation: chosen.mutation });
    }
  }

  dispose(): void {
    this.panel.dispose();
    for (const disposable of this.disposables) disposable.dispose();
  }
}
