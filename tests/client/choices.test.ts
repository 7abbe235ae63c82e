import assert from "node:assert/strict";
import test from "node:test";
import { choices, firstDifference, title } from "../../client/src/choices";
import type { Counterfactual, CounterfactualResult } from "../../client/src/protocol";

const flip: Counterfactual = {
  mutation: "if-else-flip",
  concept: "control flow",
  preserving: true,
  line: 8,
  description: "negated the condition `n % 2 == 0` and swapped its branches",
  assumptions: ["eq-ne-consistent", "pure-operators"],
  source: "",
};
const swap: Counterfactual = { ...flip, mutation: "operand-swap", line: 3, assumptions: [] };
const negate: Counterfactual = { ...flip, mutation: "negate-condition", preserving: false, assumptions: [] };

function listed(found: Partial<CounterfactualResult>) {
  return choices({ function: "parity", counterfactuals: [], refused: [], ...found });
}

test("what keeps the meaning comes first, then what breaks it, each in the order of the source", () => {
  const rows = listed({ counterfactuals: [negate, flip, swap] });
  assert.deepEqual(
    rows.map(({ label }) => label),
    ["keeps the meaning", "operand-swap", "if-else-flip", "breaks the meaning", "negate-condition"],
  );
});

test("a row says where, what it perturbs, what is assumed and what was done", () => {
  const [, row] = listed({ counterfactuals: [flip] });
  assert.deepEqual(row, {
    kind: "counterfactual",
    label: "if-else-flip",
    description: "line 9 · control flow · assumes eq-ne-consistent, pure-operators",
    detail: "Negated the condition `n % 2 == 0` and swapped its branches.",
    shows: flip,
  });
  const [, bare] = listed({ counterfactuals: [swap] });
  assert.ok(bare?.kind === "counterfactual");
  assert.equal(bare.description, "line 4 · control flow");
});

test("refusals come last; those of one mutation for one reason are one row", () => {
  const refused = [
    { mutation: "if-else-flip", line: 19, reason: "there is no else branch to swap with" },
    { mutation: "loop-unroll", line: 2, reason: "no execution of this loop was observed" },
    { mutation: "if-else-flip", line: 4, reason: "there is no else branch to swap with" },
    { mutation: "if-else-flip", line: 4, reason: "a comment stands between the branches" },
  ];
  assert.deepEqual(listed({ counterfactuals: [negate], refused }).slice(2), [
    { kind: "heading", label: "refused" },
    {
      kind: "refused",
      label: "if-else-flip",
      description: "lines 5, 20",
      detail: "There is no else branch to swap with.",
    },
    {
      kind: "refused",
      label: "loop-unroll",
      description: "line 3",
      detail: "No execution of this loop was observed.",
    },
    {
      kind: "refused",
      label: "if-else-flip",
      description: "line 5",
      detail: "A comment stands between the branches.",
    },
  ]);
});

test("nothing found makes no rows, and no headings either", () => {
  assert.deepEqual(listed({}), []);
});

test("the title names function, mutation and line", () => {
  assert.equal(title("parity", flip), "parity: if-else-flip, line 9 (original ↔ counterfactual)");
});

for (const [name, before, after, line] of [
  ["in the middle", "a\nb\nc\n", "a\nB\nc\n", 1],
  ["at the start", "a\nb", "A\nb", 0],
  ["lines added at the end", "a\nb", "a\nb\nc", 1],
  ["lines removed at the end", "a\nb\nc", "a\nb", 1],
  ["with Windows line ends", "a\r\nb\r\n", "a\r\nB\r\n", 1],
  ["nowhere", "a\nb", "a\nb", 1],
] as const) {
  test(`the first difference is found: ${name}`, () => assert.equal(firstDifference(before, after), line));
}
