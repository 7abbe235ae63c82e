/** Icons of the views. Shape and colour have the same meaning, since not everyone sees the colours. */

import * as vscode from "vscode";
import type { PairOutcome } from "../protocol";

const themed = (icon: string, colour?: string) =>
  new vscode.ThemeIcon(icon, colour ? new vscode.ThemeColor(colour) : undefined);

/** The fuller the icon, the more certain; level 0 of six is the least certain. */
export function confidenceIcon(level: number): vscode.ThemeIcon {
  if (level <= 1) return themed("warning", "charts.orange");
  if (level <= 3) return themed("circle-outline", "charts.yellow");
  return themed("circle-filled", "charts.blue");
}

const OUTCOMES: Record<PairOutcome, [icon: string, colour?: string]> = {
  held: ["pass", "charts.blue"],
  lost: ["error", "charts.orange"],
  gained: ["arrow-up", "charts.orange"],
  failed: ["dash"],
  "not judged": ["question"],
};

/** The icon of a counterfactual's outcome; empty if it was not probed. */
export function outcomeIcon(outcome: PairOutcome | ""): vscode.ThemeIcon {
  return outcome ? themed(...OUTCOMES[outcome]) : themed("git-compare");
}
