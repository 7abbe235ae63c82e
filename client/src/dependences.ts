/** "Show Dependences": shows the dependences found in the source, and then the model's inferences beside them. */

import * as vscode from "vscode";
import { functionMeant } from "./cursor";
import { type Action, Panel, type Tool } from "./panels";
import {
  DEPENDENCES,
  type DependenceArgument,
  type DependenceMethod,
  type DependenceResult,
  type FunctionArgument,
} from "./protocol";
import { NO_ANSWER, type Server } from "./server";

const METHODS = ["interventional", "prompted", "pairwise", "core", "trace"] as const;
const TOOLS: (Tool & { action: (typeof METHODS)[number] })[] = [
  { action: "interventional", title: "Measure Reactions" },
  { action: "prompted", title: "Ask the Model" },
  { action: "pairwise", title: "Ask Pair by Pair" },
  { action: "core", title: "Ask about Indirect Dependences" },
  { action: "trace", title: "Ask for Steps" },
];
const EXAMINED = "Examining the model…";

export class DependenceView implements vscode.Disposable {
  private readonly panel: Panel;
  private readonly edits: vscode.Disposable;
  private shown: { argument: FunctionArgument; version: number } | undefined;
  /** Number of the latest request; responses to earlier ones are dropped. */
  private asked = 0;

  constructor(
    extension: vscode.Uri,
    private readonly server: Server,
  ) {
    this.panel = new Panel(extension, "counterlens.dependences", TOOLS, (action) => this.act(action));
    this.edits = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      const here = document.uri.toString() === this.file?.toString();
      if (here && contentChanges.length > 0) this.panel.say("The file has changed since.");
    });
  }

  /** Shows the dependences of the given function, or of the one at the cursor if none is given. */
  async show(named?: FunctionArgument): Promise<void> {
    const argument = await functionMeant(
      this.server,
      named,
      "Put the cursor into a function of Python or Java to see its dependences.",
    );
    if (!argument) return;
    const question = ++this.asked;
    const answer = await this.ask(argument, "none");
    if (question !== this.asked) return;
    if (!answer?.ok) {
      void vscode.window.showWarningMessage(answer?.error ?? NO_ANSWER);
      return;
    }
    const found = { uri: argument.uri, function: answer.function };
    this.present(found, answer, EXAMINED);
    await this.infer(found, undefined);
  }

  private async infer(argument: FunctionArgument, method: DependenceMethod | undefined): Promise<void> {
    const question = ++this.asked;
    this.panel.say(EXAMINED);
    const answer = await this.ask(argument, method);
    if (question !== this.asked || !this.panel.isOpen) return;
    if (answer?.ok) this.present(argument, answer, "");
    else this.panel.say(answer?.error ?? NO_ANSWER);
  }

  private present(argument: FunctionArgument, answer: DependenceResult, status: string): void {
    this.shown = { argument, version: answer.version };
    this.panel.show(`Dependences of ${answer.function}`, answer.html, status);
  }

  private ask(
    argument: FunctionArgument,
    method: DependenceMethod | undefined,
  ): Promise<DependenceResult | undefined> {
    const wanted: DependenceArgument = method ? { ...argument, method } : argument;
    return this.server.request<DependenceResult>("workspace/executeCommand", {
      command: DEPENDENCES,
      arguments: [wanted],
    });
  }

  private get file(): vscode.Uri | undefined {
    return this.shown && vscode.Uri.parse(this.shown.argument.uri);
  }

  private async act({ action, line }: Action): Promise<void> {
    if (!this.shown || !this.file) return;
    if (action === "reveal" && line !== undefined) {
      const at = new vscode.Range(line - 1, 0, line - 1, 0);
      const editor = vscode.window.visibleTextEditors.find(
        ({ document }) => document.uri.toString() === this.file?.toString(),
      );
      const column = editor?.viewColumn ?? vscode.ViewColumn.One;
      await vscode.window.showTextDocument(this.file, {
        viewColumn: column,
        selection: at,
      });
    }
    const method = METHODS.find((one) => one === action);
    if (method) await this.infer(this.shown.argument, method);
  }

  dispose(): void {
    this.edits.dispose();
    this.panel.dispose();
  }
}
