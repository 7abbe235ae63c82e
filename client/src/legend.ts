/** The legend of the overlay: the meaning of each colour and underline, its number of places, and a way to go there. */

import * as vscode from "vscode";
import { swatch } from "./colours";
import { chooseGranularity } from "./concepts";
import type { Display } from "./display";
import { legendRows, nextPlace } from "./legendRows";
import type { Overlay } from "./overlay";
import { OVERLAY, type OverlayResult } from "./protocol";
import type { Server } from "./server";

type Row = vscode.QuickPickItem & { run?: () => unknown };

/** The unit that is coloured now, by granularity. */
const UNITS: Record<string, string> = {
  token: "currently each token of the model",
  leaf: "currently each word, operator and bracket",
  statement: "currently each statement",
  concept: "currently the smallest construct around each place",
};

export function toggleLabel(shown: boolean): string {
  const what = shown ? "Hide the Confidence Overlay" : "Show the Confidence Overlay";
  return `$(eye) ${what}`;
}

export function chooseLabel(): string {
  return `$(list-selection) Set Overlay Granularity…`;
}

export async function showLegend(server: Server, overlay: Overlay, display: Display): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  let answer: OverlayResult | undefined;
  if (editor && server.serves(editor.document)) {
    const params = { textDocument: { uri: editor.document.uri.toString() } };
    answer = await server.request<OverlayResult>(OVERLAY, params);
  }
  const rows: Row[] = legendRows(answer, overlay.isUnderlined).map((row) => ({
    label: row.label,
    description: row.description,
    detail: row.detail,
    iconPath: image(overlay, row.level),
    run: () => editor && go(editor, nextPlace(row.places, editor.selection.active)),
  }));
  const { granularity } = display;
  const heading = "probability, least certain first";
  const { Separator } = vscode.QuickPickItemKind;
  const chosen = await vscode.window.showQuickPick<Row>(
    [
      { label: heading, kind: Separator },
      ...rows,
      { label: "the overlay", kind: Separator },
      {
        label: toggleLabel(overlay.isEnabled),
        run: () => overlay.setEnabled(!overlay.isEnabled),
      },
      {
        label: chooseLabel(),
        description: UNITS[granularity] ?? granularity,
        run: () => chooseGranularity(display),
      },
      {
        label: `$(type-hierarchy-sub) Show Syntax Tree Diagram`,
        run: () => vscode.commands.executeCommand("counterlens.showPicture"),
      },
      {
        label: `$(gear) Opacity and Underlines…`,
        run: () => vscode.commands.executeCommand("workbench.action.openSettings", "counterlens.overlay"),
      },
    ],
    {
      title: "Counterlens: Legend",
      placeHolder: "The model's probability of the code. Choose a level to go to its next place.",
    },
  );
  await chosen?.run?.();
}

function image(overlay: Overlay, level: number): { light: vscode.Uri; dark: vscode.Uri } {
  const uri = (ink: string) =>
    vscode.Uri.parse(
      `data:image/svg+xml;base64,${Buffer.from(swatch(overlay.colourOf(level), level, ink)).toString("base64")}`,
    );
  return { light: uri("#3b3b3b"), dark: uri("#d0d0d0") };
}

function go(editor: vscode.TextEditor, place: ReturnType<typeof nextPlace>): void {
  if (!place) return;
  const { start, end } = place.range;
  editor.selection = new vscode.Selection(start.line, start.character, end.line, end.character);
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
