import assert from "node:assert/strict";
import test from "node:test";
import type { Counterfactual } from "../../client/src/protocol";
import { amounts, planRows, span } from "../../client/src/views/planRows";
import type { RunPlan } from "../../client/src/views/protocol";
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
  assert.equal(words.ariaLabel, "decision: 42 % over 1 node; least certain: n % 2, 0.10 %, line 9");
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
  assert.equal(refusalWords(refused[0] as never).ariaLabel, "loop-unroll, line 4, refused: it has no loop");
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

test("a run that goes on says how far it is and how long it still takes", () => {
  const live = { folder: "/w/r", state: "running" as const, done: 3, total: 9, what: "", error: "" };
  assert.equal(runWords("r", undefined, { ...live, seconds: 200 }).description, "3 of 9 · about 4 min left");
  assert.equal(runWords("r", undefined, { ...live, seconds: null }).ariaLabel, "run r, 3 of 9");
  assert.equal(runWords("r", undefined, { ...live, total: 0, seconds: null }).description, "preparing");
});

const PLAN: RunPlan = {
  ok: true,
  cancelled: false,
  lines: ["completion: 57 functions"],
  models: ["smollm2-135m"],
  tasks: [
    { id: "completion", title: "complete", chosen: true },
    { id: "likelihood", title: "score", chosen: false },
  ],
  functions: 57,
  seconds: 1500,
  settings: "counterlens.toml",
};

test("a plan offers all of it, a limit where it takes long, and other probes", () => {
  const rows = planRows(PLAN);
  assert.deepEqual(
    rows.map(({ kind, label }) => [kind, label]),
    [
      ["start", "Ask about 57 functions"],
      ["start", "Stop after 10 minutes"],
      ["amount", "Fewer Functions, or Less Time…"],
      ["tasks", "Other Probes…"],
      ["heading", "the plan"],
      ["fact", "completion: 57 functions"],
      ["fact", "Settings: counterlens.toml, and those of the editor"],
    ],
  );
  const [all] = rows;
  assert.equal(all?.kind === "start" && all.description, "about 25 min");
  assert.match(all?.kind === "start" ? all.detail : "", /smollm2-135m; at the pace of earlier runs/);
  assert.equal(planRows({ ...PLAN, seconds: 40 }).filter(({ kind }) => kind === "start").length, 1);
  assert.equal(planRows({ ...PLAN, seconds: null }).filter(({ kind }) => kind === "start").length, 2);
});

test("a number of functions or of minutes can be chosen, each with what is known of its time", () => {
  assert.deepEqual(
    amounts(PLAN).map(({ label, description }) => [label, description]),
    [
      ["5 functions", "about 3 min"],
      ["10 functions", "about 5 min"],
      ["20 functions", "about 9 min"],
      ["50 functions", "about 22 min"],
      ["2 minutes", ""],
      ["5 minutes", ""],
      ["10 minutes", ""],
    ],
  );
  assert.equal(amounts({ ...PLAN, seconds: null })[0]?.description, "time unknown");
});

test("a time is as exact as an estimate is", () => {
  assert.deepEqual([3, 42, 91, 7199, 7200].map(span), ["5 s", "40 s", "2 min", "2 h", "2 h"]);
});
