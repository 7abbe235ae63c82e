/** From the editor to the picture: which row is meant by what is selected. Pure, to be tested. */

import type { Position, Range } from "vscode-languageclient/node";
import type { TreeRow } from "../protocol";
import { innermost } from "../rows";

/**
 * The smallest row around a selection; of tokens, which are around none, the one where it begins.
 *
 * A cursor right behind a word means that word, where there is no smaller thing in front of it.
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

/** Whether a row is a descendant of another. */
function isWithin(rows: TreeRow[], row: number, other: number): boolean {
  let at = row;
  while (at > other) at = rows[at]?.parent ?? -1;
  return at === other;
}

/** Negative where the one stands before the other. */
export function compare(one: Position, other: Position): number {
  return one.line - other.line || one.character - other.character;
}
