/// <reference lib="dom" />
/** The current diagram: its rows, their positions, the selected row and the focused one. */

import {
  type Box,
  indentedLayout,
  type Layout,
  type Measure,
  sequenceLayout,
  treeLayout,
} from "../diagram/layout";
import type { Diagram } from "../diagram/messages";
import {
  ancestors,
  drawnFor,
  drawnRows,
  type Folding,
  moved,
  type Outline,
  outlineOf,
  refolded,
  UNTOUCHED,
  unfolded,
} from "../diagram/outline";
import { ariaLabel, type BoxText, boxTextOf } from "../diagram/words";
import type { TreeRow, TreeView } from "../protocol";
import { Drawing, type Node } from "./drawing";
import type { Viewport } from "./viewport";

const NAMES: Record<TreeView, (title: string) => string> = {
  partial: (title) => `Partial tree of ${title}`,
  complete: (title) => `Complete tree of ${title}`,
  sequence: (title) => `Tokens of ${title}`,
};

export class Scene {
  diagram: Diagram | undefined;
  folding: Folding = UNTOUCHED;
  focused: number | undefined;
  /** Whether the tree is indented, if the user has chosen; by default it is if it would be too wide. */
  indented: boolean | undefined;
  private isIndented = false;
  private selected: number | undefined;
  private outline: Outline = outlineOf([]);
  private open = new Set<number>();
  private rows: number[] = [];
  private boxes: Box[] = [];
  private readonly drawing: Drawing;

  constructor(
    private readonly svg: SVGSVGElement,
    private readonly viewport: Viewport,
    /** Measured again for each drawing, since the fonts may have changed. */
    private readonly measure: () => Measure,
  ) {
    this.drawing = new Drawing(svg);
  }

  scaled(scale: number): void {
    this.drawing.scaled(scale);
  }

  get hasFocus(): boolean {
    return this.svg.contains(document.activeElement);
  }

  isOpen(row: number): boolean {
    return this.open.has(row);
  }

  /** Whether the tree is currently indented. */
  get isTurned(): boolean {
    return this.isIndented;
  }

  /** Number of drawn rows, and of all rows. */
  get counts(): { drawn: number; all: number } {
    return { drawn: this.rows.length, all: this.diagram?.rows.length ?? 0 };
  }

  /** The marked row: the selected one, or its innermost drawn ancestor. */
  get marked(): number | undefined {
    return this.selected === undefined ? undefined : drawnFor(this.outline, this.rows, this.selected);
  }

  show(diagram: Diagram | undefined, selected: number | undefined): void {
    const held = this.hasFocus && this.focused !== undefined ? this.outline.names[this.focused] : undefined;
    this.diagram = diagram;
    this.selected = selected;
    this.outline = outlineOf(diagram?.rows ?? []);
    this.isIndented = false;
    this.drawing.clear();
    this.focused = held === undefined ? undefined : Math.max(0, this.outline.names.indexOf(held));
    this.draw();
    if (held !== undefined) this.focus(this.focused);
    else this.lookAt(this.marked);
  }

  /** Marks a row. With `unfold`, first unfolds ancestors that the user had folded before it was marked. */
  select(row: number | undefined, unfold: boolean): void {
    const isAnother = row !== this.selected;
    this.selected = row;
    if (row !== undefined && unfold && isAnother && !this.rows.includes(row)) {
      this.folding = refolded(this.folding, this.outline, ancestors(this.outline, row), true);
      this.draw();
    }
    if (!this.hasFocus) this.stopAt(this.marked ?? this.focused);
    this.mark();
    this.lookAt(this.marked);
  }

  focus(row: number | undefined): void {
    if (row === undefined) return;
    this.stopAt(row);
    this.drawing.group(row)?.focus({ preventScroll: true });
    this.lookAt(row);
  }

  /** Makes a row the only tab stop. */
  stopAt(row: number | undefined): void {
    this.focused = row;
    this.drawing.stopAt(row);
  }

  fold(rows: number[], isOpen: boolean): void {
    this.refold(refolded(this.folding, this.outline, rows, isOpen));
  }

  unfoldAll(): void {
    this.refold({ ...UNTOUCHED, all: true });
  }

  /** Folds everything except the outermost rows. */
  foldAll(): void {
    const inner = this.outline.names.filter((_, row) => (this.outline.rows[row]?.parent ?? -1) >= 0);
    this.refold({ ...UNTOUCHED, closed: new Set(inner) });
  }

  private refold(folding: Folding): void {
    this.folding = folding;
    this.draw();
  }

  /** Handles a key, and returns whether it is one of the tree's. */
  press(row: number, key: string): boolean {
    const move = moved({ outline: this.outline, drawn: this.rows, open: this.open, row }, key);
    if (!move) return false;
    if (move.open) this.fold(move.open, true);
    if (move.close !== undefined) this.fold([move.close], false);
    this.focus(move.to ?? row);
    return true;
  }

  /** Switches to the other layout of the tree, and keeps it. */
  turn(): void {
    this.indented = !this.isIndented;
    this.draw();
  }

  /** Called when the available space has changed. */
  resized(): void {
    this.isIndented = false;
    this.draw();
  }

  draw(): void {
    const { diagram, outline } = this;
    if (!diagram) return;
    this.open = unfolded(outline, this.folding, this.selected);
    this.rows = drawnRows(outline, this.open, this.selected);
    const ones = this.rows.map((row) => outline.rows[row] as TreeRow);
    const isTree = diagram.view !== "sequence";
    const { layout, boxTexts } = this.laidOut(ones, isTree);
    this.boxes = layout.boxes;
    this.svg.setAttribute("role", isTree ? "tree" : "listbox");
    this.svg.setAttribute("aria-label", NAMES[diagram.view](diagram.title));
    this.drawing.draw(
      layout,
      ones.map((one, at) => this.node(one, at, boxTexts[at] as Node["boxText"])),
    );
    this.viewport.sized(layout.width, layout.height);
    const { focused } = this;
    this.stopAt(
      (focused === undefined ? this.marked : drawnFor(outline, this.rows, focused)) ?? this.rows[0],
    );
    this.mark();
  }

  private laidOut(ones: TreeRow[], isTree: boolean): { layout: Layout; boxTexts: BoxText[] } {
    const { outline, rows, open, viewport } = this;
    const measure = this.measure();
    let boxTexts = ones.map((one) => boxTextOf(one));
    if (!isTree) {
      return { layout: sequenceLayout(outline.rows, rows, boxTexts, measure, viewport.widest), boxTexts };
    }
    const layout = treeLayout(outline, rows, open, boxTexts, measure);
    // Once the tree is indented it stays so, since folding a row must not change the layout.
    this.isIndented = this.indented ?? (this.isIndented || !viewport.holds(layout.width));
    if (!this.isIndented) return { layout, boxTexts };
    boxTexts = ones.map((one) => boxTextOf(one, true));
    return { layout: indentedLayout(outline, rows, boxTexts, measure), boxTexts };
  }

  private node(one: TreeRow, at: number, boxText: Node["boxText"]): Node {
    const { children, roots } = this.outline;
    const row = this.rows[at] as number;
    const siblings = one.parent < 0 ? roots : (children[one.parent] ?? []);
    const inside = this.outline.inside[row] ?? 0;
    return {
      box: this.boxes[at] as Box,
      boxText,
      ariaLabel: ariaLabel(boxText, one, this.open.has(row) ? 0 : inside),
      level: one.level,
      kind: one.kind,
      depth: ancestors(this.outline, row).length + 1,
      place: [siblings.indexOf(row) + 1, siblings.length],
      ...((children[row]?.length ?? 0) > 0 && { open: this.open.has(row) }),
      inside,
    };
  }

  private mark(): void {
    const shown = this.marked;
    this.drawing.select(shown, shown === undefined ? [] : ancestors(this.outline, shown));
  }

  private lookAt(row: number | undefined): void {
    const box = row === undefined ? undefined : this.boxes[this.rows.indexOf(row)];
    if (box) this.viewport.lookAt(box);
  }
}
