/** The legend of the overlay: what each colour and line means, how much of it there is, and a way to it. */

import * as vscode from "vscode";
import { swatch } from "./colours";
import { chooseGranularity } from "./concepts";
import { legendRows, nextPlace } from "./legendRows";
import type { Overlay } from "./overlay";
import { OVERLAY, type OverlayResult } from "./protocol";
import type { Server } from "./server";

type Row = vscode.QuickPickItem & { run?: () => unknown };

/** What is coloured, in a sentence's words. */
const UNITS: Record<string, string> = {
  token: "each token of the model",
  leaf: "each word, operator and bracket",
  statement: "each statement",
  concept: "the smallest construct around each place",
};

export async function showLegend(server: Server, overlay: Overlay): Promise<void> {
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
  const granularity =
    vscode.workspace.getConfiguration("counterlens").get<string>("overlay.granularity") ?? "leaf";
  const probability = answer?.calibrated ? "calibrated probability" : "probability";
  const { Separator } = vscode.QuickPickItemKind;
  const chosen = await vscode.window.showQuickPick<Row>(
    [
      { label: `${probability}, least certain first`, kind: Separator },
      ...rows,
      { label: "the overlay", kind: Separator },
      {
        label: `$(eye) ${overlay.isEnabled ? "Hide" : "Show"} the Confidence Overlay`,
        run: () => overlay.setEnabled(!overlay.isEnabled),
      },
      {
        label: "$(list-selection) Choose What the Overlay Colours…",
        description: `now ${UNITS[granularity] ?? granularity}`,
        run: chooseGranularity,
      },
      {
        label: "$(gear) Opacity and Underlines…",
        run: () => vscode.commands.executeCommand("workbench.action.openSettings", "counterlens.overlay"),
      },
    ],
    {
      title: "Counterlens: Legend",
      placeHolder: "How probable the model finds the code. Choose a level to go to its next place.",
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
