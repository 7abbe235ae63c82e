// The diagram of the syntax tree: what of it is drawn, where, and how it is linked to the code.
import assert from "node:assert/strict";
import test from "node:test";
import { indentedLayout, type Layout, sequenceLayout, treeLayout } from "../../client/src/diagram/layout";
import { rowFor } from "../../client/src/diagram/linking";
import type { Diagram } from "../../client/src/diagram/messages";
import {
  drawnFor,
  drawnRows,
  FIRST,
  MOST,
  moved,
  outlineOf,
  refolded,
  UNTOUCHED,
  unfolded,
} from "../../client/src/diagram/outline";
import { ariaLabel, boxTextOf, details, sourceOf } from "../../client/src/diagram/words";
import type { TreeRow } from "../../client/src/protocol";

const LINES = ["def f(x):", "    if x:", "        return 1", "    return x"];
const place = (line: number, character: number) => ({ line, character });

function row(kind: string, parent: number, from: [number, number], to: [number, number]): TreeRow {
  const range = { start: place(...from), end: place(...to) };
  const text = LINES[from[0]]?.slice(from[1]).trim() ?? "";
  return {
    ...{ parent, kind, category: "scope", text, range, leaf: false },
    ...{ confidence: 0.42, level: 3, minimum: 0.1, bits: 2 },
  };
}

const ROWS = [
  row("function_definition", -1, [0, 0], [3, 12]),
  row("parameters", 0, [0, 5], [0, 8]),
  row("block", 0, [1, 4], [3, 12]),
  row("if_statement", 2, [1, 4], [2, 16]),
  row("block", 3, [2, 8], [2, 16]),
  row("return_statement", 4, [2, 8], [2, 16]),
  row("return_statement", 2, [3, 4], [3, 12]),
];
const outline = outlineOf(ROWS);
const all = unfolded(outline, UNTOUCHED);
const measure = (text: string) => 7 * text.length;

/** A root with so many children. */
const wide = (children: number) =>
  outlineOf([
    row("module", -1, [0, 0], [3, 12]),
    ...Array.from({ length: children }, () => row("pass_statement", 0, [0, 0], [0, 1])),
  ]);

test("a cursor means the innermost row around it, and right behind a word that word", () => {
  const at = (line: number, character: number) =>
    rowFor(ROWS, { start: place(line, character), end: place(line, character) });
  assert.equal(at(0, 6), 1);
  assert.equal(at(2, 10), 5);
  assert.equal(at(2, 16), 5);
  assert.equal(at(1, 0), 0);
  assert.equal(at(3, 12), 6);
  assert.equal(at(9, 0), undefined);
});

test("a selection means the smallest row around all of it", () => {
  const of = (from: [number, number], to: [number, number]) =>
    rowFor(ROWS, { start: place(...from), end: place(...to) });
  assert.equal(of([1, 4], [2, 16]), 3);
  assert.equal(of([2, 10], [3, 6]), 2);
  assert.equal(of([0, 0], [3, 12]), 0);
});

test("of tokens, which are around no selection, the one where it begins is meant", () => {
  const tokens = [row("token", -1, [0, 0], [0, 3]), row("token", -1, [0, 3], [0, 5])];
  assert.equal(rowFor(tokens, { start: place(0, 1), end: place(0, 5) }), 0);
});

test("what the user folds stays folded, and what is selected in it is marked by the row around it", () => {
  const folding = refolded(UNTOUCHED, outline, [2], false);
  const open = unfolded(outline, folding, 5);
  const drawn = drawnRows(outline, open);
  assert.deepEqual(drawn, [0, 1, 2]);
  assert.equal(drawnFor(outline, drawn, 5), 2);
  const again = refolded(folding, outline, [2], true);
  assert.deepEqual(
    drawnRows(outline, unfolded(outline, again)),
    ROWS.map((_, at) => at),
  );
});

test("folding is kept through an edit that leaves the node where it is", () => {
  const folding = refolded(UNTOUCHED, outline, [3], false);
  const longer = outlineOf([...ROWS, row("return_statement", 2, [3, 4], [3, 12])]);
  assert.ok(!unfolded(longer, folding).has(3));
});

test("no more is drawn than can be looked at unasked, and than is bearable asked", () => {
  const drawn = (children: number, allOfIt: boolean) => {
    const one = wide(children);
    return drawnRows(one, unfolded(one, { ...UNTOUCHED, all: allOfIt })).length;
  };
  assert.equal(drawn(FIRST - 1, false), FIRST);
  assert.equal(drawn(FIRST, false), 1);
  assert.equal(drawn(FIRST, true), FIRST + 1);
  assert.equal(drawn(MOST, true), 1);
});

test("of too many tokens those around the selected one are drawn", () => {
  const tokens = outlineOf(Array.from({ length: 2 * MOST + 1 }, () => row("token", -1, [0, 0], [0, 1])));
  assert.deepEqual([drawnRows(tokens, new Set())[0], drawnRows(tokens, new Set()).length], [0, MOST]);
  assert.deepEqual(drawnRows(tokens, new Set(), 2 * MOST), [2 * MOST]);
});

test("a very deep tree is no trouble", () => {
  const rows = Array.from({ length: 20_000 }, (_, at) =>
    row("parenthesized_expression", at - 1, [0, 0], [0, 9]),
  );
  const deep = outlineOf(rows);
  const open = unfolded(deep, UNTOUCHED, 19_999);
  const drawn = drawnRows(deep, open, 19_999);
  assert.equal(drawn.length, MOST);
  const boxTexts = drawn.map((each) => boxTextOf(rows[each] as TreeRow));
  assert.equal(treeLayout(deep, drawn, open, boxTexts, measure).boxes.length, MOST);
});

test("the keyboard goes as the tree pattern says", () => {
  const press = (at: number, key: string, open = all) =>
    moved({ outline, drawn: drawnRows(outline, open), open, row: at }, key);
  assert.deepEqual(press(0, "ArrowDown"), { to: 1 });
  assert.deepEqual(press(0, "ArrowUp"), {});
  assert.deepEqual(press(3, "ArrowRight"), { to: 4 });
  assert.deepEqual(press(3, "ArrowLeft"), { close: 3 });
  assert.deepEqual(press(1, "ArrowLeft"), { to: 0 });
  assert.deepEqual(press(0, "ArrowRight", new Set()), { open: [0] });
  assert.deepEqual(press(1, "ArrowRight"), {});
  assert.deepEqual(press(1, "*"), { open: [2] });
  assert.deepEqual(press(2, "Home"), { to: 0 });
  assert.deepEqual(press(2, "End"), { to: 6 });
  assert.deepEqual(press(5, "r"), { to: 6 });
  assert.deepEqual(press(6, "R"), { to: 5 });
  assert.equal(press(6, "Tab"), undefined);
});

function assertApart({ boxes, width, height }: Layout): void {
  for (const [i, a] of boxes.entries()) {
    assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height);
    for (const b of boxes.slice(0, i)) {
      const apart =
        a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      assert.ok(apart, `${a.row} and ${b.row} overlap`);
    }
  }
}

test("boxes do not overlap, children stand right of their parents, siblings in the order of the text", () => {
  const drawn = drawnRows(outline, all);
  const boxTexts = drawn.map((each) => boxTextOf(ROWS[each] as TreeRow));
  const tidy = treeLayout(outline, drawn, all, boxTexts, measure);
  const indented = indentedLayout(outline, drawn, boxTexts, measure);
  for (const layout of [tidy, indented]) {
    assertApart(layout);
    assert.deepEqual(
      layout.links.map(({ to }) => to),
      [1, 2, 3, 4, 5, 6],
    );
    for (const { row: each, x, y } of layout.boxes) {
      const parent = layout.boxes[ROWS[each]?.parent ?? -1];
      if (parent) assert.ok(x > parent.x);
      const sister = layout.boxes.find(
        ({ row: other }) => other > each && ROWS[other]?.parent === ROWS[each]?.parent,
      );
      if (sister) assert.ok(sister.y > y);
    }
  }
  assert.ok(indented.width < tidy.width);
  assert.deepEqual(treeLayout(outlineOf([]), [], new Set(), [], measure).boxes, []);
});

test("tokens stand in the lines of the source, and long lines go on below", () => {
  const tokens = [
    row("token", -1, [0, 0], [0, 3]),
    row("token", -1, [0, 3], [1, 4]),
    ...Array.from({ length: 20 }, (_, at) => row("token", -1, [1, 4 + at], [1, 5 + at])),
  ];
  const drawn = tokens.map((_, at) => at);
  const boxTexts = tokens.map((each) => boxTextOf(each));
  const layout = sequenceLayout(tokens, drawn, boxTexts, measure, 300);
  assertApart(layout);
  const lines = new Set(layout.boxes.map(({ y }) => y));
  assert.ok(lines.size > 2);
  assert.equal(layout.boxes[0]?.y, layout.boxes[1]?.y);
  assert.ok((layout.boxes[2]?.x ?? 0) > (layout.boxes[0]?.x ?? 0));
});

const diagram: Diagram = {
  ...{ id: 1, title: "f", view: "partial", rows: ROWS, truncated: 0 },
  ...{ labels: ["a", "b", "c", "20 to 50 %"], lines: LINES, firstLine: 0 },
};

test("a box says the node, its confidence and its source, and a screen reader says that and the rest", () => {
  const one = ROWS[3] as TreeRow;
  const boxText = boxTextOf(one);
  assert.deepEqual(boxText, { head: "if_statement", figure: "42 %", text: "if x:" });
  assert.equal(ariaLabel(boxText, one, 2), "if_statement 42 % if x: 2 folded, scope");
  const unscored = { ...one, confidence: null, level: null };
  assert.equal(boxTextOf(unscored).figure, "–");
  assert.match(ariaLabel(boxTextOf(unscored), unscored, 0), /not scored, scope$/);
  assert.equal(boxTextOf({ ...one, confidence: 1e-9 }).figure, "<0.01 %");
  assert.equal(boxTextOf({ ...one, kind: "if", text: "if" }).text, "");
});

test("blanks of a token can be seen", () => {
  const head = (text: string) => boxTextOf({ ...(ROWS[0] as TreeRow), kind: "token", text }).head;
  assert.equal(head("\\n    "), "↵␣");
  assert.equal(head(" \\t"), "␣→");
  assert.equal(head("\\n is text"), "\\n is text");
});

test("the details name concept, confidence, surprisal and place, with the source as it stands", () => {
  const one = ROWS[3] as TreeRow;
  assert.deepEqual(details(one, diagram), [
    ["Concept", "scope"],
    ["Confidence", "42 % (20 to 50 %), raw, not calibrated"],
    ["Least certain token", "10 %"],
    ["Surprisal", "2.0 bits"],
    ["Place", "line 2, column 5"],
  ]);
  assert.equal(sourceOf(one.range, diagram), "if x:\n    return 1");
  assert.equal(
    sourceOf(one.range, { ...diagram, lines: LINES.slice(1), firstLine: 1 }),
    "if x:\n    return 1",
  );
  assert.equal(sourceOf({ start: place(0, 4), end: place(0, 5) }, diagram), "f");
});
