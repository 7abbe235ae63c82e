/** Hovers with a "more" link, which shows the same hover with its folded part. */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { folded, unfolded } from "./hovers";

export const MORE = "counterlens.showMore";

/** The place of the hover whose "more" link was clicked. */
interface Place {
  uri: string;
  line: number;
  character: number;
}

export class More implements vscode.Disposable {
  private readonly registration = vscode.commands.registerCommand(MORE, (place: Place) => this.show(place));
  private wanted: Place | undefined;

  readonly middleware: Middleware = {
    provideHover: async (document, position, token, next) => {
      const hover = await next(document, position, token);
      if (!hover) return hover;
      const here: Place = {
        uri: document.uri.toString(),
        line: position.line,
        character: position.character,
      };
      const all = JSON.stringify(this.wanted) === JSON.stringify(here);
      const given = JSON.stringify([here]).replaceAll("%", "%25"); // the argument of a link is decoded twice
      const link = `command:${MORE}?${encodeURIComponent(given)}`;
      for (const content of hover.contents)
        if (content instanceof vscode.MarkdownString)
          content.value = all ? unfolded(content.value) : folded(content.value, link);
      return hover;
    },
  };

  /** Moves the cursor to the place, since the editor shows a hover again only at the cursor. */
  private async show(place: Place): Promise<void> {
    const at = new vscode.Position(place.line, place.character);
    const editor = vscode.window.visibleTextEditors.find(
      ({ document }) => document.uri.toString() === place.uri,
    );
    if (!editor) return;
    editor.selection = new vscode.Selection(at, at);
    // The editor of a notebook cell has no column of its own, and already has the focus.
    if (editor.viewColumn !== undefined && editor !== vscode.window.activeTextEditor)
      await vscode.window.showTextDocument(editor.document, { viewColumn: editor.viewColumn });
    this.wanted = place;
    await vscode.commands.executeCommand("editor.action.hideHover"); // an open hover would only be focused
    await vscode.commands.executeCommand("editor.action.showHover", { focus: "autoFocusImmediately" });
    setTimeout(() => {
      if (this.wanted === place) this.wanted = undefined;
    }, SHOWN_MS);
  }

  dispose(): void {
    this.registration.dispose();
  }
}

/** Time limit within which the editor requests the contents of the hover. */
const SHOWN_MS = 2_000;
