import assert from "node:assert/strict";
import test from "node:test";
import type { TreeRow } from "../../client/src/protocol";
import { childrenOf, describe, innermost, percent } from "../../client/src/rows";

function row(kind: string, parent: number, first: number, last: number, from = 0, to = 0): TreeRow {
  return {
    parent,
    kind,
    category: "decision",
    text: "if x:",
    range: { start: { line: first, character: from }, end: { line: last, character: to } },
    confidence: 0.25,
    level: 3,
    minimum: 0.001,
    bits: 12.34,
    leaf: false,
  };
}

const ROWS = [row("module", -1, 0, 9), row("if_statement", 0, 1, 4), row("call", 1, 2, 2, 4, 9)];

test("children are found by their parent, roots under nobody", () => {
  assert.deepEqual(childrenOf(ROWS), [[0], [1], [2], []]);
  assert.deepEqual(childrenOf([]), [[]]);
});

test("the innermost row around the cursor is found, and the end of a row is outside of it", () => {
  assert.equal(innermost(ROWS, { line: 2, character: 5 }), 2);
  assert.equal(innermost(ROWS, { line: 2, character: 9 }), 1);
  assert.equal(innermost(ROWS, { line: 4, character: 0 }), 0);
  assert.equal(innermost(ROWS, { line: 9, character: 0 }), undefined);
});

test("probabilities have no more digits than tell them apart", () => {
  assert.deepEqual([1, 0.614, 0.0042, 0.00001, null].map(percent), [
    "100 %",
    "61 %",
    "0.42 %",
    "below 0.01 %",
    "not scored",
  ]);
});

test("a node shows its kind and text, a token its text", () => {
  const node = describe(row("if_statement", -1, 0, 1));
  assert.equal(node.label, "if_statement");
  assert.equal(node.description, "25 % · if x:");
  assert.match(node.tooltip, /decision[\s\S]*Least certain token: 0\.10 %[\s\S]*12\.3 bits/);
  const token = describe({ ...row("token", -1, 0, 0), bits: null });
  assert.equal(token.label, "if x:");
  assert.equal(token.description, "25 %");
  assert.doesNotMatch(token.tooltip, /Least certain|bits/);
});
