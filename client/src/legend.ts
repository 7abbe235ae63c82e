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
  token: vscode.l10n.t("currently each token of the model"),
  leaf: vscode.l10n.t("currently each word, operator and bracket"),
  statement: vscode.l10n.t("currently each statement"),
  concept: vscode.l10n.t("currently the smallest construct around each place"),
};

export function toggleLabel(shown: boolean): string {
  const what = shown
    ? vscode.l10n.t("Hide the Confidence Overlay")
    : vscode.l10n.t("Show the Confidence Overlay");
  return `$(eye) ${what}`;
}

export function chooseLabel(): string {
  return `$(list-selection) ${vscode.l10n.t("Set Overlay Granularity…")}`;
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
  const heading = vscode.l10n.t("probability, least certain first");
  const { Separator } = vscode.QuickPickItemKind;
  const chosen = await vscode.window.showQuickPick<Row>(
    [
      { label: heading, kind: Separator },
      ...rows,
      { label: vscode.l10n.t("the overlay"), kind: Separator },
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
        label: `$(type-hierarchy-sub) ${vscode.l10n.t("Show Syntax Tree Diagram")}`,
        run: () => vscode.commands.executeCommand("counterlens.showPicture"),
      },
      {
        label: `$(gear) ${vscode.l10n.t("Opacity and Underlines…")}`,
        run: () => vscode.commands.executeCommand("workbench.action.openSettings", "counterlens.overlay"),
      },
    ],
    {
      title: vscode.l10n.t("Counterlens: Legend"),
      placeHolder: vscode.l10n.t(
        "The model's probability of the code. Choose a level to go to its next place.",
      ),
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
