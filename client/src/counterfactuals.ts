/** "Show Counterfactual…": lets the user choose a counterfactual of a function, and shows it beside the original. */

import * as path from "node:path";
import * as vscode from "vscode";
import { type Choice, choices, firstDifference, title } from "./choices";
import { functionMeant } from "./cursor";
import {
  COUNTERFACTUALS,
  type Counterfactual,
  type CounterfactualResult,
  type FunctionArgument,
} from "./protocol";
import { NO_ANSWER, type Server } from "./server";

type Row = vscode.QuickPickItem & { choice?: Choice };

/** Provides mutated texts as read-only documents while they are open. */
export class Counterfactuals implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private static readonly scheme = "counterlens-counterfactual";
  private readonly sources = new Map<string, string>();
  private readonly disposables: vscode.Disposable[] = [
    vscode.workspace.registerTextDocumentContentProvider(Counterfactuals.scheme, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.sources.delete(uri.toString())),
  ];
  private shown = 0;

  constructor(private readonly server: Server) {}

  provideTextDocumentContent(uri: vscode.Uri): string | undefined {
    return this.sources.get(uri.toString());
  }

  /** Shows a counterfactual of the given function, or of the one at the cursor if none is given. */
  async show(named?: FunctionArgument): Promise<void> {
    const argument = await functionMeant(
      this.server,
      named,
      "Put the cursor into a Python function to see its counterfactuals.",
    );
    if (!argument) return;
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(argument.uri));
    const { version } = document;
    const found = await this.ask(argument);
    if (!found) return;
    const chosen = await choose(found);
    if (!chosen) return;
    // If the document changed meanwhile, the diff would seem to undo those edits.
    if (document.version !== version) return this.show(argument);
    await this.open(document, found.function, chosen);
  }

  /**
   * Requests all counterfactuals of a function. If there are none, warns the user with the reason and returns
   * undefined.
   */
  async ask(argument: FunctionArgument): Promise<CounterfactualResult | undefined> {
    const answer = await vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Window,
        title: "Counterlens: creating counterfactuals…",
      },
      () =>
        this.server.request<CounterfactualResult>("workspace/executeCommand", {
          command: COUNTERFACTUALS,
          arguments: [argument],
        }),
    );
    if (answer && !answer.error) return answer;
    const problem = answer?.error ?? NO_ANSWER;
    void vscode.window.showWarningMessage(problem);
    return undefined;
  }

  async open(original: vscode.TextDocument, functionName: string, chosen: Counterfactual): Promise<void> {
    const mutated = this.keep(original.uri, chosen.mutation, chosen.source);
    const line = firstDifference(original.getText(), chosen.source);
    await this.difference(original.uri, mutated, title(functionName, chosen), line, original.languageId);
  }

  /** Compares two unsaved texts made from one file. Without `before`, the file itself is the left side. */
  async compare(file: vscode.Uri, before: string | undefined, after: string, heading: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(file);
    const left = before === undefined ? file : this.keep(file, "before", before);
    const line = firstDifference(before ?? document.getText(), after);
    await this.difference(left, this.keep(file, "after", after), heading, line, document.languageId);
  }

  /** Keeps a text, and returns its URI. */
  private keep(file: vscode.Uri, label: string, source: string): vscode.Uri {
    const made = vscode.Uri.from({
      scheme: Counterfactuals.scheme,
      path: `/${label}/${path.posix.basename(file.path)}`,
      query: String(++this.shown), // gives each text its own URI
    });
    this.sources.set(made.toString(), source);
    return made;
  }

  private async difference(
    left: vscode.Uri,
    right: vscode.Uri,
    heading: string,
    line: number,
    language: string,
  ): Promise<void> {
    for (const uri of [left, right].filter(({ scheme }) => scheme === Counterfactuals.scheme)) {
      await vscode.languages.setTextDocumentLanguage(await vscode.workspace.openTextDocument(uri), language);
    }
    await vscode.commands.executeCommand("vscode.diff", left, right, heading, {
      preview: true,
      selection: new vscode.Range(line, 0, line, 0),
    } satisfies vscode.TextDocumentShowOptions);
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}

/** Lets the user choose a counterfactual. Returns undefined if there is none or the user chose none. */
export async function choose(found: CounterfactualResult): Promise<Counterfactual | undefined> {
  const rows = choices(found).map(row);
  if (rows.length === 0) {
    void vscode.window.showInformationMessage(`No mutation applies to ${found.function}.`);
    return undefined;
  }
  const chosen = await vscode.window.showQuickPick(rows, {
    title: `Counterfactuals of ${found.function}`,
    placeHolder: "Choose one to see it beside the original",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  const choice = chosen?.choice;
  if (choice?.kind === "counterfactual") return choice.shows;
  if (choice?.kind === "refused") {
    const where = `${choice.label}, ${choice.description}`;
    void vscode.window.showInformationMessage(`No counterfactual (${where}): ${choice.detail}`);
  }
  return undefined;
}

function row(choice: Choice): Row {
  if (choice.kind === "heading") {
    return { label: choice.label, kind: vscode.QuickPickItemKind.Separator };
  }
  const { label, description, detail } = choice;
  const icon = choice.kind === "refused" ? "circle-slash" : "git-compare";
  return { label: `$(${icon}) ${label}`, description, detail, choice };
}
