/** Which rows of a tree are drawn: what is unfolded, within limits, and where the keyboard goes. Pure. */

import type { TreeRow } from "../protocol";
import { childrenOf } from "../rows";

/** As many rows are drawn unasked: more are no picture any more. */
export const FIRST = 250;
/** As many are drawn at all: more make the page slow. */
export const MOST = 1500;

export interface Outline {
  rows: TreeRow[];
  roots: number[];
  /** Of each row. */
  children: number[][];
  /** Of each row a name that mostly stays through edits, for what was unfolded by hand. */
  names: string[];
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
  return { rows, roots, children, names };
}

/** What the user has unfolded and folded, by name. */
export interface Folding {
  open: ReadonlySet<string>;
  closed: ReadonlySet<string>;
  /** Unfold as much as can be drawn. */
  all: boolean;
}

export const UNTOUCHED: Folding = { open: new Set(), closed: new Set(), all: false };

/** The rows around a row, the outermost first. */
export function ancestors({ rows }: Outline, row: number): number[] {
  const found: number[] = [];
  for (let at = rows[row]?.parent ?? -1; at >= 0; at = rows[at]?.parent ?? -1) found.push(at);
  return found.reverse();
}

/**
 * The rows that are unfolded: those around `selected`, then those the user has unfolded, then level by level
 * what is not folded, as long as no limit is passed.
 */
export function unfolded(outline: Outline, folding: Folding, selected?: number): Set<number> {
  const { rows, roots, children, names } = outline;
  const open = new Set<number>();
  let drawn = Math.min(roots.length, MOST);
  const unfold = (row: number, limit: number) => {
    const more = children[row]?.length ?? 0;
    if (more === 0 || open.has(row) || drawn + more > limit) return;
    open.add(row);
    drawn += more;
  };
  const isReached = (row: number) => (rows[row]?.parent ?? -1) < 0 || open.has(rows[row]?.parent ?? -1);
  for (const row of selected === undefined ? [] : ancestors(outline, selected)) unfold(row, MOST);
  if (folding.open.size > 0) {
    names.forEach((name, row) => {
      if (folding.open.has(name) && isReached(row)) unfold(row, MOST);
    });
  }
  const reached = [...roots];
  for (const row of reached) {
    if (!folding.closed.has(names[row] ?? "")) unfold(row, folding.all ? MOST : FIRST);
    if (open.has(row)) reached.push(...(children[row] ?? []));
  }
  return open;
}

/** The rows that are drawn, in the order of the text; of too many roots those around `selected`. */
export function drawnRows({ roots, children }: Outline, open: Set<number>, selected = 0): number[] {
  const at = Math.max(0, roots.findLastIndex((root) => root <= selected));
  const from = Math.floor(at / MOST) * MOST;
  const waiting = roots.slice(from, from + MOST).reverse();
  const found: number[] = [];
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    found.push(row);
    if (open.has(row)) waiting.push(...(children[row] ?? []).toReversed());
  }
  return found;
}

/** The row itself where it is drawn, else the innermost one around it that is. */
export function drawnFor(outline: Outline, drawn: number[], row: number): number | undefined {
  const there = new Set(drawn);
  return [...ancestors(outline, row), row].findLast((each) => there.has(each));
}

/** What a key does: where the focus goes, and what is unfolded or folded. */
export interface Move {
  to?: number;
  open?: number[];
  close?: number;
}

/** The keys of the tree pattern of WAI-ARIA; undefined for others. */
export function moved(outline: Outline, drawn: number[], open: Set<number>, at: number, key: string) {
  const { rows, children } = outline;
  const place = drawn.indexOf(at);
  const own = children[at] ?? [];
  const flat = rows[at]?.kind === "token";
  const go = (to: number | undefined): Move => (to === undefined ? {} : { to });
  switch (key) {
    case "ArrowDown":
      return go(drawn[place + 1]);
    case "ArrowUp":
      return go(drawn[place - 1]);
    case "Home":
      return go(drawn[0]);
    case "End":
      return go(drawn.at(-1));
    case "ArrowRight":
      if (flat) return go(drawn[place + 1]);
      return own.length > 0 && !open.has(at) ? { open: [at] } : go(own[0]);
    case "ArrowLeft": {
      if (flat) return go(drawn[place - 1]);
      const parent = rows[at]?.parent ?? -1;
      return open.has(at) ? { close: at } : go(parent < 0 ? undefined : parent);
    }
    case "*": {
      const parent = rows[at]?.parent ?? -1;
      const siblings = parent < 0 ? outline.roots : (children[parent] ?? []);
      return { open: siblings.filter((row) => (children[row]?.length ?? 0) > 0) };
    }
    default:
      return /^\p{L}$/u.test(key) ? go(startingWith(rows, drawn, place, key)) : undefined;
  }
}

/** The next row whose name begins with a letter. */
function startingWith(rows: TreeRow[], drawn: number[], place: number, letter: string): number | undefined {
  const around = [...drawn.slice(place + 1), ...drawn.slice(0, place)];
  return around.find((row) => {
    const { kind, text } = rows[row] ?? { kind: "", text: "" };
    return (kind === "token" ? text : kind).toLowerCase().startsWith(letter.toLowerCase());
  });
}
