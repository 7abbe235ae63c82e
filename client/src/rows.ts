/** The rows of the tree view: children, texts, and the row at the cursor. Pure, so that it can be tested. */

import type { Position, Range } from "vscode-languageclient/node";
import { written } from "./numbers";
import type { TreeRow } from "./protocol";

/** The indices of the children of each row: those of row i at i + 1, and rows without a parent at 0. */
export function childrenOf(rows: TreeRow[]): number[][] {
  const children: number[][] = Array.from({ length: rows.length + 1 }, () => []);
  rows.forEach(({ parent }, index) => {
    children[parent + 1]?.push(index);
  });
  return children;
}

export function percent(probability: number | null): string {
  if (probability === null) return "not scored";
  const shown = 100 * probability;
  if (shown < 0.01) return `below ${written(0.01, 2)} %`;
  return `${written(shown, shown < 1 ? 2 : 0)} %`;
}

/** The texts of a row: its kind or text as the label, its confidence, and a tooltip with the details. */
export function describe(row: TreeRow): { label: string; description: string; tooltip: string } {
  const token = row.kind === "token";
  const rest = token ? "" : ` · ${row.text}`;
  const lines = [
    `**${row.kind}** · ${row.category}`,
    `Confidence: ${percent(row.confidence)}`,
    ...(token || row.minimum === null ? [] : [`Least certain token: ${percent(row.minimum)}`]),
    ...(row.bits === null ? [] : [`Surprisal: ${written(row.bits, 1)} bits`]),
  ];
  return {
    label: token ? row.text : row.kind,
    description: `${percent(row.confidence)}${rest}`,
    tooltip: lines.join("\n\n"),
  };
}

/** The last row around a position, which is the innermost. */
export function innermost(rows: TreeRow[], at: Position): number | undefined {
  let found: number | undefined;
  rows.forEach(({ range }, index) => {
    if (contains(range, at)) found = index;
  });
  return found;
}

function contains({ start, end }: Range, at: Position): boolean {
  return !before(at, start) && before(at, end);
}

function before(one: Position, other: Position): boolean {
  return one.line < other.line || (one.line === other.line && one.character < other.character);
}
