/** Selects the spans of an overlay response to draw, sorted by their decoration. Pure, so that it can be tested. */

import { OVERLAY_LEVELS, type OverlaySpan } from "./protocol";

/** First and last line, both inclusive. */
export interface Lines {
  first: number;
  last: number;
}

/** Maximum number of ranges; more of them make the editor slow. */
export const MOST_SPANS = 2000;

function touches(span: OverlaySpan, visible: Lines[]): boolean {
  return visible.some(({ first, last }) => span.range.start.line <= last && span.range.end.line >= first);
}

/**
 * Sorts spans into one bucket per level.
 *
 * If there are more than `most`, spans on visible lines come first, and among these the least confident.
 */
export function byLevel(spans: OverlaySpan[], visible: Lines[], most: number = MOST_SPANS): OverlaySpan[][] {
  const known = spans.filter(({ level }) => Number.isInteger(level) && level >= 0 && level < OVERLAY_LEVELS);
  let drawn = known;
  if (known.length > most) {
    const ranked = known.map((span) => ({ span, hidden: touches(span, visible) ? 0 : 1 }));
    ranked.sort((a, b) => a.hidden - b.hidden || a.span.level - b.span.level);
    drawn = ranked.slice(0, most).map(({ span }) => span);
  }
  const levels: OverlaySpan[][] = Array.from({ length: OVERLAY_LEVELS }, () => []);
  for (const span of drawn) levels[span.level]?.push(span);
  return levels;
}

/** A part of one line. */
export interface Piece {
  line: number;
  from: number;
  to: number;
}

/** Splits a span into lines without their indentation: a coloured margin would attract attention without a reason. */
export function pieces({ range: { start, end } }: OverlaySpan, textOf: (line: number) => string): Piece[] {
  const found: Piece[] = [];
  for (let line = start.line; line <= end.line; line++) {
    const text = textOf(line);
    const from = line === start.line ? start.character : text.length - text.trimStart().length;
    const to = line === end.line ? end.character : text.trimEnd().length;
    if (from < to) found.push({ line, from, to });
  }
  return found;
}

/**
 * Visible lines with a margin of one screen above and below, so that scrolling reaches code that is already coloured.
 */
export function withMargin(visible: Lines[], lineCount: number): Lines | undefined {
  if (visible.length === 0) return undefined;
  const first = Math.min(...visible.map((lines) => lines.first));
  const last = Math.max(...visible.map((lines) => lines.last));
  const screen = last - first + 1;
  return { first: Math.max(0, first - screen), last: Math.min(lineCount - 1, last + screen) };
}
