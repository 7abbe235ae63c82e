/** "Replace with …": shows the diff to what the model expected, then replaces the text if the user confirms. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { ReplacementArgument } from "./protocol";
import { rangeOf } from "./ranges";

const REPLACE = "Replace";
const CHANGED = "The file has changed in the meantime; request the replacement again.";

/** Provides proposed texts as read-only documents while they are open. */
export class Replacements implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private static readonly scheme = "counterlens-replacement";
  private readonly proposals = new Map<string, string>();
  private readonly disposables: vscode.Disposable[] = [
    vscode.workspace.registerTextDocumentContentProvider(Replacements.scheme, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.proposals.delete(uri.toString())),
  ];
  private shown = 0;

  provideTextDocumentContent(uri: vscode.Uri): string | undefined {
    return this.proposals.get(uri.toString());
  }

  /** Shows the diff, and replaces the text if the user confirms. */
  async preview({ uri, version, range, newText, title }: ReplacementArgument): Promise<void> {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
    if (document.version !== version) {
      void vscode.window.showInformationMessage(CHANGED);
      return;
    }
    const where = rangeOf(range);
    const proposal = await this.show(document, where, newText, title);
    const answer = await vscode.window.showInformationMessage(
      `Replace ${title} in line ${where.start.line + 1}?`,
      REPLACE,
      "Keep",
    );
    await close(proposal);
    if (answer === REPLACE) await replace(document, version, where, newText);
  }

  private async show(
    document: vscode.TextDocument,
    where: vscode.Range,
    newText: string,
    title: string,
  ): Promise<vscode.Uri> {
    const text = document.getText();
    const [from, to] = [document.offsetAt(where.start), document.offsetAt(where.end)];
    const proposal = vscode.Uri.from({
      scheme: Replacements.scheme,
      path: `/${path.posix.basename(document.uri.path)}`,
      query: String(++this.shown), // gives each text its own URI
    });
    this.proposals.set(proposal.toString(), text.slice(0, from) + newText + text.slice(to));
    const proposed = await vscode.workspace.openTextDocument(proposal);
    await vscode.languages.setTextDocumentLanguage(proposed, document.languageId);
    const shown = `${title.replaceAll("`", "")} (yours ↔ what the model expected)`;
    await vscode.commands.executeCommand("vscode.diff", document.uri, proposal, shown, {
      preview: true,
      selection: new vscode.Range(where.start, where.start),
    } satisfies vscode.TextDocumentShowOptions);
    return proposal;
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}

async function replace(
  document: vscode.TextDocument,
  version: number,
  where: vscode.Range,
  newText: string,
): Promise<void> {
  if (document.version !== version) {
    void vscode.window.showInformationMessage(CHANGED);
    return;
  }
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, where, newText);
  await vscode.workspace.applyEdit(edit);
  await vscode.window.showTextDocument(document, { selection: new vscode.Range(where.start, where.start) });
}

/** Closes the diff, if it is still open. */
async function close(proposal: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const open = tabs.filter(
    ({ input }) =>
      input instanceof vscode.TabInputTextDiff && input.modified.toString() === proposal.toString(),
  );
  await vscode.window.tabGroups.close(open);
}
