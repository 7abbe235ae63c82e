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
  /** Of each row how many are inside of it. */
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
 * The rows that are unfolded: those around `selected`, those the user has unfolded, and then level by level the
 * rest, as long as no limit is passed; never what the user has folded.
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

/** With rows unfolded, or folded, by hand. */
export function refolded(folding: Folding, { names }: Outline, rows: number[], isOpen: boolean): Folding {
  const changed = new Set(rows.map((row) => names[row] ?? ""));
  const without = (those: ReadonlySet<string>) => [...those].filter((name) => !changed.has(name));
  return {
    ...folding,
    open: new Set([...without(folding.open), ...(isOpen ? changed : [])]),
    closed: new Set([...without(folding.closed), ...(isOpen ? [] : changed)]),
  };
}

/** The rows that are drawn, in the order of the text; of too many roots those around `selected`. */
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

/** Where the keyboard is. */
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

/** Tokens stand side by side: to them left and right mean what up and down do. */
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

/** The keys of the tree pattern of WAI-ARIA; undefined for others. */
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
