/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * Draws the diagram as SVG. Elements of remaining rows are reused, which keeps the focus and lets them move smoothly.
 */

import { UNDERLINES } from "../colours";
import { type Box, type Layout, LINE, PADDING } from "../diagram/layout";
import type { BoxText } from "../diagram/words";

const SVG = "http://www.w3.org/2000/svg";
/** Radius of the fold button. */
const RADIUS = 6.5;

/** A row to draw. */
export interface Node {
  box: Box;
  boxText: BoxText;
  ariaLabel: string;
  level: number | null;
  kind: string;
  /** Counted from 1. */
  depth: number;
  /** Position among its siblings, counted from 1, and their number. */
  place: [at: number, of: number];
  /** Undefined if there is nothing to unfold. */
  open?: boolean;
  /** Number of its descendants. */
  inside: number;
}

type Attributes = Record<string, string | number | boolean | undefined>;

export function element<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes,
  ...children: (Element | string)[]
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS(SVG, name);
  set(made, attributes);
  made.append(...children);
  return made;
}

function set(of: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) of.removeAttribute(name);
    else of.setAttribute(name, String(value));
  }
}

/** The cue of a level besides its colour, as in the editor: a line along the lower edge. */
export function levelLine(level: number | null, width: number, height: number): SVGPathElement[] {
  const style = UNDERLINES[level ?? UNDERLINES.length];
  if (!style) return [];
  const at = (y: number) => `M3 ${height - y}H${width - 3}`;
  return [element("path", { class: `line ${style}`, d: style === "double" ? at(2.5) + at(5.5) : at(3) })];
}

export class Drawing {
  private readonly links = element("g", { class: "links", "aria-hidden": true });
  private readonly nodes = element("g", { class: "nodes", role: "presentation" });
  private readonly groups = new Map<number, SVGGElement>();
  /** The content of each group: most stay unchanged when a row is folded. */
  private readonly drawn = new WeakMap<SVGGElement, string>();
  private readonly paths = new Map<number, SVGPathElement>();
  private size = { width: 0, height: 0 };

  constructor(readonly svg: SVGSVGElement) {
    svg.append(this.links, this.nodes);
  }

  /** Removes everything, since the row numbers get another meaning. */
  clear(): void {
    this.groups.clear();
    this.paths.clear();
    this.links.replaceChildren();
    this.nodes.replaceChildren();
  }

  draw(layout: Layout, nodes: Node[]): void {
    this.size = layout;
    keep(
      this.paths,
      layout.links.map(({ to }) => to),
    );
    for (const { to, path } of layout.links) {
      const drawn = this.paths.get(to) ?? this.links.appendChild(element("path", {}));
      this.paths.set(to, drawn);
      drawn.setAttribute("d", path);
    }
    keep(
      this.groups,
      nodes.map(({ box }) => box.row),
    );
    let next = this.nodes.firstElementChild;
    for (const node of nodes) {
      const group = this.groups.get(node.box.row) ?? element("g", { tabindex: -1, "data-row": node.box.row });
      this.groups.set(node.box.row, group);
      const { x, y, ...size } = node.box;
      group.style.transform = `translate(${x}px, ${y}px)`;
      const content = JSON.stringify({ ...node, box: size });
      if (this.drawn.get(group) !== content) fill(group, node);
      this.drawn.set(group, content);
      if (group === next) next = next.nextElementSibling;
      else this.nodes.insertBefore(group, next);
    }
  }

  scaled(scale: number): void {
    const { width, height } = this.size;
    set(this.svg, { viewBox: `0 0 ${width} ${height}`, width: width * scale, height: height * scale });
  }

  group(row: number | undefined): SVGGElement | undefined {
    return row === undefined ? undefined : this.groups.get(row);
  }

  /** Makes a row the only tab stop. */
  stopAt(row: number | undefined): void {
    for (const [each, group] of this.groups) group.setAttribute("tabindex", each === row ? "0" : "-1");
  }

  /** @param around the ancestors of the selected row, whose links lead to it */
  select(row: number | undefined, around: number[]): void {
    for (const [each, group] of this.groups) group.setAttribute("aria-selected", String(each === row));
    const way = new Set([...around, row]);
    for (const [to, path] of this.paths) path.classList.toggle("way", way.has(to));
  }
}

/** Removes the elements of rows that are no longer drawn. */
function keep(elements: Map<number, Element>, rows: number[]): void {
  const stay = new Set(rows);
  for (const [row, one] of elements) {
    if (stay.has(row)) continue;
    one.remove();
    elements.delete(row);
  }
}

function fill(group: SVGGElement, node: Node): void {
  const { box, boxText, level, kind, open, inside } = node;
  const { width, height } = box;
  const token = kind === "token";
  set(group, {
    class: ["node", kind === "ERROR" ? "error" : "", level === null ? "unscored" : `level${level}`].join(" "),
    role: token ? "option" : "treeitem",
    "aria-label": node.ariaLabel,
    "aria-level": token ? undefined : node.depth,
    "aria-expanded": open,
    "aria-posinset": node.place[0],
    "aria-setsize": node.place[1],
  });
  const rect = (name: string, out = 0) =>
    element("rect", {
      class: name,
      x: -out,
      y: -out,
      width: width + 2 * out,
      height: height + 2 * out,
      rx: 4 + out,
    });
  const text = (name: string, anchor: string, x: number, y: number, words: string) =>
    element("text", { class: name, "text-anchor": anchor, x, y, "aria-hidden": true }, words);
  const first = 3 + LINE / 2 + 5;
  const texts = token
    ? [
        text("code", "middle", width / 2, first, boxText.head),
        text("figure", "middle", width / 2, first + LINE, boxText.figure),
      ]
    : [
        text("head", "start", PADDING, first, boxText.head),
        text("figure", "end", width - PADDING, first, boxText.figure),
        ...(boxText.text ? [text("code", "start", PADDING, first + LINE, boxText.text)] : []),
      ];
  group.replaceChildren(
    rect("ring", 3),
    rect("base"),
    rect("tint"),
    ...levelLine(level, width, height),
    ...texts.flatMap((one) => [one, " "]), // spaces separate the texts for readers that join them
    ...(open === undefined ? [] : [fold(width, height / 2, open, inside)]),
  );
}

function fold(x: number, y: number, open: boolean, inside: number): SVGGElement {
  const sign = open ? "M-3.5 0H3.5" : "M-3.5 0H3.5M0 -3.5V3.5";
  const count = element("text", { class: "count", x: RADIUS + 4, y: 4 }, open ? "" : String(inside));
  return element(
    "g",
    { class: "fold", transform: `translate(${x + RADIUS + 3} ${y})`, "aria-hidden": true },
    element("circle", { r: RADIUS }),
    element("path", { d: sign }),
    count,
  );
}
