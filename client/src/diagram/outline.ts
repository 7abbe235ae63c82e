/** Selects the rows of a tree to draw: unfolded ones, within limits. Also handles the keys. Pure. */

import type { TreeRow } from "../protocol";
import { childrenOf } from "../rows";

/** Number of rows that are drawn by default; a larger diagram is not readable. */
export const FIRST = 250;
/** Maximum number of rows; more make the page slow. */
export const MOST = 1500;

export interface Outline {
  rows: TreeRow[];
  roots: number[];
  /** Children of each row. */
  children: number[][];
  /** A name for each row that mostly stays the same through edits, to keep what the user unfolded. */
  names: string[];
  /** Number of descendants of each row. */
  inside: number[];
}

export function outlineOf(rows: TreeRow[]): Outline {
  const [roots = [], ...children] = childrenOf(rows);
  const depths: number[] = [];
  const seen = new Map<string, number>();
  const names = rows.map(({ parent, kind }, row) => {
    depths[row] = parent < 0 ? 0 : (depths[parent] ?? 0) + 1;
    const name = `${depths[row]} ${kind}`;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return `${name} ${count}`;
  });
  const inside = rows.map(() => 0);
  for (const [row, { parent }] of [...rows.entries()].reverse()) {
    if (parent >= 0) inside[parent] = (inside[parent] ?? 0) + (inside[row] ?? 0) + 1;
  }
  return { rows, roots, children, names, inside };
}

/** The rows that the user has unfolded and folded, by name. */
export interface Folding {
  open: ReadonlySet<string>;
  closed: ReadonlySet<string>;
  /** Unfolds as many rows as can be drawn. */
  all: boolean;
}

export const UNTOUCHED: Folding = { open: new Set(), closed: new Set(), all: false };

/** The ancestors of a row, the outermost first. */
export function ancestors({ rows }: Outline, row: number): number[] {
  const found: number[] = [];
  for (let at = rows[row]?.parent ?? -1; at >= 0; at = rows[at]?.parent ?? -1) found.push(at);
  return found.reverse();
}

/**
 * The unfolded rows: those around `selected`, those that the user has unfolded, and then the rest level by level within
 * the limits; never rows that the user has folded.
 */
export function unfolded(outline: Outline, folding: Folding, selected?: number): Set<number> {
  const { rows, roots, children, names } = outline;
  const open = new Set<number>();
  let drawn = Math.min(roots.length, MOST);
  const unfold = (row: number, limit: number) => {
    const parent = rows[row]?.parent ?? -1;
    const more = children[row]?.length ?? 0;
    if (more === 0 || open.has(row) || drawn + more > limit) return;
    if ((parent >= 0 && !open.has(parent)) || folding.closed.has(names[row] ?? "")) return;
    open.add(row);
    drawn += more;
  };
  for (const row of selected === undefined ? [] : ancestors(outline, selected)) unfold(row, MOST);
  names.forEach((name, row) => {
    if (folding.open.has(name)) unfold(row, MOST);
  });
  const reached = [...roots];
  for (const row of reached) {
    unfold(row, folding.all ? MOST : FIRST);
    if (open.has(row)) reached.push(...(children[row] ?? []));
  }
  return open;
}

/** Unfolds or folds rows by hand. */
export function refolded(folding: Folding, { names }: Outline, rows: number[], isOpen: boolean): Folding {
  const changed = new Set(rows.map((row) => names[row] ?? ""));
  const without = (those: ReadonlySet<string>) => [...those].filter((name) => !changed.has(name));
  return {
    ...folding,
    open: new Set([...without(folding.open), ...(isOpen ? changed : [])]),
    closed: new Set([...without(folding.closed), ...(isOpen ? [] : changed)]),
  };
}

/** The rows to draw, in text order; if there are too many roots, those around `selected`. */
export function drawnRows({ roots, children }: Outline, open: Set<number>, selected = 0): number[] {
  const at = Math.max(
    0,
    roots.findLastIndex((root) => root <= selected),
  );
  const from = Math.floor(at / MOST) * MOST;
  const waiting = roots.slice(from, from + MOST).reverse();
  const found: number[] = [];
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    found.push(row);
    if (open.has(row)) waiting.push(...(children[row] ?? []).toReversed());
  }
  return found;
}

/** The row itself if it is drawn, or else its innermost ancestor that is. */
export function drawnFor(outline: Outline, drawn: number[], row: number): number | undefined {
  const there = new Set(drawn);
  return [...ancestors(outline, row), row].findLast((each) => there.has(each));
}

/** The effect of a key: the row to focus, and rows to unfold or fold. */
export interface Move {
  to?: number;
  open?: number[];
  close?: number;
}

/** The focused row, and the state of the tree. */
export interface Place {
  outline: Outline;
  drawn: number[];
  open: ReadonlySet<number>;
  row: number;
}

const go = (to: number | undefined): Move => (to === undefined ? {} : { to });

function step({ drawn, row }: Place, by: number): Move {
  return go(drawn[drawn.indexOf(row) + by]);
}

/** Tokens are side by side, so left and right do the same as up and down. */
const isToken = ({ outline: { rows }, row }: Place) => rows[row]?.kind === "token";

const parentOf = ({ outline: { rows }, row }: Place) => rows[row]?.parent ?? -1;

const KEYS: Record<string, (place: Place) => Move> = {
  ArrowDown: (place) => step(place, 1),
  ArrowUp: (place) => step(place, -1),
  Home: ({ drawn }) => go(drawn[0]),
  End: ({ drawn }) => go(drawn.at(-1)),
  ArrowRight(place) {
    if (isToken(place)) return step(place, 1);
    const own = place.outline.children[place.row] ?? [];
    return own.length > 0 && !place.open.has(place.row) ? { open: [place.row] } : go(own[0]);
  },
  ArrowLeft(place) {
    if (isToken(place)) return step(place, -1);
    if (place.open.has(place.row)) return { close: place.row };
    return parentOf(place) < 0 ? {} : { to: parentOf(place) };
  },
  "*"(place) {
    const { roots, children } = place.outline;
    const siblings = parentOf(place) < 0 ? roots : (children[parentOf(place)] ?? []);
    return { open: siblings.filter((row) => (children[row]?.length ?? 0) > 0) };
  },
};

/** The effect of a key of WAI-ARIA's tree pattern; undefined for other keys. */
export function moved(place: Place, key: string): Move | undefined {
  const known = KEYS[key];
  if (known) return known(place);
  return /^\p{L}$/u.test(key) ? go(startingWith(place, key)) : undefined;
}

/** The next row whose name begins with a letter. */
function startingWith({ outline: { rows }, drawn, row }: Place, letter: string): number | undefined {
  const at = drawn.indexOf(row);
  const around = [...drawn.slice(at + 1), ...drawn.slice(0, at)];
  return around.find((each) => {
    const { kind, text } = rows[each] ?? { kind: "", text: "" };
    return (kind === "token" ? text : kind).toLowerCase().startsWith(letter.toLowerCase());
  });
}
