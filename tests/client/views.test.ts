import assert from "node:assert/strict";
import test from "node:test";
import type { Counterfactual } from "../../client/src/protocol";
import {
  conceptWords,
  counterfactualWords,
  groupsOf,
  refusalWords,
  runWords,
} from "../../client/src/views/words";

const FLIP: Counterfactual = {
  mutation: "if-else-flip",
  concept: "condition logic",
  preserving: true,
  line: 8,
  description: "negated the condition",
  assumptions: ["pure"],
  source: "",
  outcome: "held",
  verdict: "it held",
};

test("a concept says its confidence, over how much, and where it is least certain", () => {
  const least = { start: { line: 8, character: 7 }, end: { line: 8, character: 12 } };
  const words = conceptWords({
    name: "decision",
    confidence: 0.423,
    level: 3,
    nodes: 1,
    least,
    least_confidence: 0.001,
    text: "n % 2",
  });
  assert.equal(words.description, "42 % · 1 node");
  assert.equal(words.spoken, "decision: 42 % over 1 node; least certain: n % 2, 0.10 %, line 9");
});

test("a counterfactual says its verdict, and that it was not probed where one is due", () => {
  assert.equal(counterfactualWords(FLIP).description, "line 9 · it held");
  assert.match(counterfactualWords(FLIP).tooltip, /Assumes pure\. Probed: it held\./);
  assert.equal(counterfactualWords({ ...FLIP, verdict: "" }).description, "line 9 · not probed");
  assert.equal(counterfactualWords({ ...FLIP, preserving: false, verdict: "" }).description, "line 9");
});

test("groups are in the order of the source, and none is empty", () => {
  const refused = [{ mutation: "loop-unroll", line: 3, reason: "it has no loop" }];
  const groups = groupsOf({ function: "f", counterfactuals: [FLIP, { ...FLIP, line: 2 }], refused });
  assert.deepEqual(
    groups.map(({ label, rows }) => [label, rows.map(({ line }) => line)]),
    [
      ["keeps the meaning", [2, 8]],
      ["refused", [3]],
    ],
  );
  assert.equal(refusalWords(refused[0] as never).spoken, "loop-unroll, line 4, refused: it has no loop");
});

test("a run says how far it is, whether it can be resumed, or why it cannot be read", () => {
  const run = {
    folder: "/w/r",
    tasks: ["completion"],
    data: "humaneval",
    models: ["a", "b"],
    done: 3,
    total: 9,
  };
  assert.equal(runWords("r", { ...run, resume: "x" }).description, "completion · 3 of 9, can be resumed");
  assert.equal(runWords("r", { ...run, done: 9, resume: "" }).description, "completion · 9 done");
  assert.equal(runWords("r", { ...run, resume: "", error: "no run" }).description, "no run");
  assert.equal(runWords("r", undefined).label, "r");
});
