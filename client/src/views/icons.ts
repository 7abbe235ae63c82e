/** Icons of the views: shape and colour say the same, as not everybody sees the colours. */

import * as vscode from "vscode";

const themed = (icon: string, colour?: string) =>
  new vscode.ThemeIcon(icon, colour ? new vscode.ThemeColor(colour) : undefined);

/** The fuller, the more certain: level 0 of six is the least. */
export function confidenceIcon(level: number): vscode.ThemeIcon {
  if (level <= 1) return themed("warning", "charts.orange");
  if (level <= 3) return themed("circle-outline", "charts.yellow");
  return themed("circle-filled", "charts.blue");
}

/** What a probe found of a counterfactual; see `outcome` of the protocol. */
export function outcomeIcon(outcome: string): vscode.ThemeIcon {
  switch (outcome) {
    case "held":
      return themed("pass", "charts.blue");
    case "lost":
      return themed("error", "charts.orange");
    case "gained":
      return themed("arrow-up", "charts.orange");
    case "failed":
      return themed("dash");
    case "not judged":
      return themed("question");
    default:
      return themed("git-compare");
  }
}
