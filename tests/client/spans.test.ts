import assert from "node:assert/strict";
import test from "node:test";
import { OVERLAY_LEVELS, type OverlaySpan } from "../../client/src/protocol";
import { byLevel, pieces, withMargin } from "../../client/src/spans";

const NODE = { kind: "identifier", category: "natural language" };

function span(line: number, level: number): OverlaySpan {
  return {
    range: { start: { line, character: 0 }, end: { line, character: 5 } },
    level,
    confidence: level / 6,
    ...NODE,
  };
}

test("spans are sorted into one bucket a level", () => {
  const spans = [span(0, 5), span(1, 0), span(2, 5), span(3, 2)];
  const levels = byLevel(spans, [{ first: 0, last: 10 }]);
  assert.equal(levels.length, OVERLAY_LEVELS);
  assert.deepEqual(levels[0], [span(1, 0)]);
  assert.deepEqual(levels[2], [span(3, 2)]);
  assert.deepEqual(levels[5], [span(0, 5), span(2, 5)]);
  assert.deepEqual(levels[1], []);
});

test("levels that do not exist are not drawn", () => {
  const levels = byLevel([span(0, -1), span(0, OVERLAY_LEVELS), span(0, 1.5), span(0, 3)], []);
  assert.deepEqual(levels.flat(), [span(0, 3)]);
});

test("with too many spans the visible ones are drawn first", () => {
  const spans = Array.from({ length: 100 }, (_, line) => span(line, 3));
  const lines = byLevel(spans, [{ first: 60, last: 69 }], 10)
    .flat()
    .map(({ range }) => range.start.line);
  assert.deepEqual(lines.sort(), [60, 61, 62, 63, 64, 65, 66, 67, 68, 69]);
});

test("among the visible the least confident are drawn first", () => {
  const spans = Array.from({ length: 60 }, (_, index) => span(0, index % OVERLAY_LEVELS));
  const levels = byLevel(spans, [{ first: 0, last: 0 }], 15);
  assert.deepEqual(
    levels.map((bucket) => bucket.length),
    [10, 5, 0, 0, 0, 0],
  );
});

test("a span of several lines is visible when any of its lines is", () => {
  const long: OverlaySpan = {
    range: { start: { line: 2, character: 0 }, end: { line: 40, character: 1 } },
    level: 4,
    confidence: 0.9,
    ...NODE,
  };
  assert.deepEqual(byLevel([span(90, 0), long], [{ first: 30, last: 35 }], 1).flat(), [long]);
});

test("the margin is one screen on each side, within the document", () => {
  assert.deepEqual(withMargin([{ first: 100, last: 129 }], 1000), { first: 70, last: 159 });
  assert.deepEqual(withMargin([{ first: 0, last: 29 }], 40), { first: 0, last: 39 });
  assert.deepEqual(
    withMargin(
      [
        { first: 10, last: 12 },
        { first: 20, last: 21 },
      ],
      1000,
    ),
    { first: 0, last: 33 },
  );
  assert.equal(withMargin([], 10), undefined);
});

test("a span of several lines is drawn line by line, without indentation and blank lines", () => {
  const text = ['  """First.', "", "    second  ", '  """'];
  const docstring: OverlaySpan = {
    range: { start: { line: 0, character: 2 }, end: { line: 3, character: 5 } },
    level: 1,
    confidence: 0.1,
    ...NODE,
  };
  assert.deepEqual(
    pieces(docstring, (line) => text[line] ?? ""),
    [
      { line: 0, from: 2, to: 11 },
      { line: 2, from: 4, to: 10 },
      { line: 3, from: 2, to: 5 },
    ],
  );
});
