/** Finds the row of the diagram for a selection in the editor. Pure, so that it can be tested. */

import type { Position, Range } from "vscode-languageclient/node";
import type { TreeRow } from "../protocol";
import { innermost } from "../rows";

/**
 * The smallest row around a selection. If no row contains it, as in a sequence of tokens, the row where it begins.
 *
 * A cursor directly after a word means that word, unless a smaller row begins at the cursor.
 */
export function rowFor(rows: TreeRow[], { start, end }: Range): number | undefined {
  if (compare(start, end) !== 0) {
    const around = rows.findLastIndex(
      ({ range }) => compare(range.start, start) <= 0 && compare(end, range.end) <= 0,
    );
    return around >= 0 ? around : innermost(rows, start);
  }
  const at = innermost(rows, start);
  const behind = rows.findLastIndex(
    ({ range }) => compare(range.start, start) < 0 && compare(start, range.end) <= 0,
  );
  if (behind < 0) return at;
  return at === undefined || isWithin(rows, behind, at) ? behind : at;
}

/** Whether a row is `other` or its descendant. */
function isWithin(rows: TreeRow[], row: number, other: number): boolean {
  let at = row;
  while (at > other) at = rows[at]?.parent ?? -1;
  return at === other;
}

/** Negative if the first position comes before the second. */
export function compare(one: Position, other: Position): number {
  return one.line - other.line || one.character - other.character;
}
