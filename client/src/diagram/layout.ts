/**
 * Positions of the diagram's boxes: a tidy tree from left to right, an indented tree, or tokens in their lines. Pure.
 */

import { hierarchy, tree } from "d3-hierarchy";
import type { TreeRow } from "../protocol";
import type { Outline } from "./outline";
import type { BoxText } from "./words";

export interface Box {
  row: number;
  /** Upper left corner of the box. */
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A link from a box to one of its children, as path data. */
export interface Link {
  to: number;
  path: string;
}

export interface Layout {
  boxes: Box[];
  links: Link[];
  width: number;
  height: number;
}

/** Measures the width of a text: heads and figures in the editor's UI font, source in the code font. */
export type Measure = (text: string, font: "head" | "figure" | "code") => number;

export const MARGIN = 16;
export const PADDING = 9;
export const LINE = 16;
/** Space between a head and its figure. */
const GAP = 12;
/** Space between a box and its children, for the fold button. */
const ACROSS = 36;
const BETWEEN = 10;
/** Maximum space beside a box, for the fold button and the number of folded rows. */
const BESIDE = 44;

/** The height of a box with a number of lines of text. */
const heightOf = (lines: number) => 8 + LINE * lines;

function sizeOf(boxText: BoxText, measure: Measure): { width: number; height: number } {
  const head = measure(boxText.head, "head") + GAP + measure(boxText.figure, "figure");
  const width = 2 * PADDING + Math.max(head, boxText.text ? measure(boxText.text, "code") : 0);
  return { width: Math.ceil(width), height: heightOf(boxText.text ? 2 : 1) };
}

/** Places parents left of their children, each depth in one column, and siblings in text order. */
export function treeLayout(
  outline: Outline,
  drawn: number[],
  open: Set<number>,
  boxTexts: BoxText[],
  measure: Measure,
): Layout {
  if (drawn.length === 0) return { boxes: [], links: [], width: 0, height: 0 };
  const sizes = new Map(drawn.map((row, at) => [row, sizeOf(boxTexts[at] as BoxText, measure)]));
  const height = (row: number) => sizes.get(row)?.height ?? 0;
  const roots = outline.roots.filter((row) => sizes.has(row));
  const root = hierarchy(-1, (row) => (row < 0 ? roots : open.has(row) ? outline.children[row] : undefined));
  const placed = tree<number>()
    .nodeSize([1, 1])
    .separation(
      (a, b) => (height(a.data) + height(b.data)) / 2 + BETWEEN * (a.parent === b.parent ? 1 : 1.6),
    )(root);
  const nodes = placed.descendants().filter(({ data }) => data >= 0);
  const columns: number[] = [];
  for (const { data, depth } of nodes) {
    columns[depth] = Math.max(columns[depth] ?? 0, sizes.get(data)?.width ?? 0);
  }
  const lefts: number[] = [0, MARGIN];
  columns.forEach((width, depth) => {
    lefts[depth + 1] = (lefts[depth] ?? 0) + width + ACROSS;
  });
  const top = Math.min(...nodes.map(({ x, data }) => x - height(data) / 2)) - MARGIN;
  const boxes = new Map(
    nodes.map(({ data, depth, x }) => {
      const size = sizes.get(data) ?? { width: 0, height: 0 };
      const box: Box = { row: data, x: lefts[depth] ?? 0, y: x - size.height / 2 - top, ...size };
      return [data, box];
    }),
  );
  const inOrder = drawn.flatMap((row) => boxes.get(row) ?? []);
  const links = inOrder.flatMap((box) => {
    const parent = boxes.get(outline.rows[box.row]?.parent ?? -1);
    return parent ? [{ to: box.row, path: curve(parent, box) }] : [];
  });
  return { boxes: inOrder, links, ...extent(inOrder, BESIDE) };
}

/** Indentation of a child in the indented tree. */
const STEP = 30;
const STEM = 12;

/** Places each row on its own line below its parent, with indentation: narrow, but as long as the code. */
export function indentedLayout(
  outline: Outline,
  drawn: number[],
  boxTexts: BoxText[],
  measure: Measure,
): Layout {
  const boxes = new Map<number, Box>();
  const links: Link[] = [];
  let y = MARGIN;
  drawn.forEach((row, at) => {
    const parent = boxes.get(outline.rows[row]?.parent ?? -1);
    const size = sizeOf(boxTexts[at] as BoxText, measure);
    const box: Box = { row, x: parent ? parent.x + STEP : MARGIN, y, ...size };
    boxes.set(row, box);
    y += size.height + BETWEEN;
    if (!parent) return;
    const stem = parent.x + STEM;
    const middle = box.y + box.height / 2;
    const path = `M${stem} ${parent.y + parent.height}V${middle - 6}Q${stem} ${middle} ${stem + 6} ${middle}H${box.x}`;
    links.push({ to: row, path });
  });
  const inOrder = [...boxes.values()];
  return { boxes: inOrder, links, ...extent(inOrder, BESIDE) };
}

function curve(from: Box, to: Box): string {
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = [to.x, to.y + to.height / 2];
  const middle = x2 - ACROSS / 2;
  return `M${x1} ${y1}H${middle - ACROSS / 2}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

/** Width of one character of indentation. */
const INDENT = 7;
const DEEPEST = 40;
const APART = 4;

/** Places tokens in the lines of the source, with their indentation; long lines are wrapped. */
export function sequenceLayout(
  rows: TreeRow[],
  drawn: number[],
  boxTexts: BoxText[],
  measure: Measure,
  widest: number,
): Layout {
  const boxes: Box[] = [];
  const height = heightOf(2);
  let line = -1;
  let [x, y, left] = [MARGIN, MARGIN - height - BETWEEN, MARGIN];
  drawn.forEach((row, at) => {
    const boxText = boxTexts[at] as BoxText;
    const start = rows[row]?.range.start ?? { line: 0, character: 0 };
    const inner = Math.max(measure(boxText.head, "code"), measure(boxText.figure, "figure"));
    const width = Math.ceil(inner) + PADDING;
    const isNew = start.line !== line;
    if (isNew) left = MARGIN + INDENT * Math.min(start.character, DEEPEST);
    if (isNew || x + width + MARGIN > widest) {
      x = isNew ? left : left + 2 * INDENT;
      y += height + BETWEEN;
    }
    line = start.line;
    boxes.push({ row, x, y, width, height });
    x += width + APART;
  });
  return { boxes, links: [], ...extent(boxes, 0) };
}

function extent(boxes: Box[], beyond: number): { width: number; height: number } {
  const far = (edge: (box: Box) => number) => boxes.reduce((most, box) => Math.max(most, edge(box)), 0);
  return {
    width: far((box) => box.x + box.width) + MARGIN + beyond,
    height: far((box) => box.y + box.height) + MARGIN,
  };
}
