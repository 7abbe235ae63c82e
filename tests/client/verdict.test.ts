import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProbedPair, ProbeResult } from "../../client/src/protocol";
import { verdict } from "../../client/src/testing/verdict";

function pair(shows: ProbedPair["shows"], mutation = "operand-swap", line = 7): ProbedPair {
  return {
    title: "",
    counterfactual: "",
    wrote: [],
    mutation,
    line,
    shows,
    unstable: false,
    sentence: shows,
  };
}

function result(pairs: ProbedPair[], more: Partial<ProbeResult> = {}): ProbeResult {
  const nothing = { summary: "", report: "", markdown: "", html: "", version: 1, not_asked: [] };
  const base = { ok: true, ...nothing, function: "f", source: "", why_not_judged: "", noise: "" };
  return { ...base, pairs, ...more };
}

test("one place where the change decided says that the model did not hold, and each of these places why", () => {
  const found = verdict(result([pair("held"), pair("lost"), pair("lost", "loop-unroll")]), "operand-swap");
  assert.deepEqual(found, { state: "changed", messages: ["lost"] });
  const right = verdict(result([pair("gained"), pair("lost")]), "operand-swap");
  assert.deepEqual(right, { state: "changed", messages: ["gained", "lost"] });
});

test("it holds where the model held wherever something can be said", () => {
  assert.equal(verdict(result([pair("held"), pair("failed")]), "operand-swap").state, "held");
});

test("where nothing can be said nothing is said but the reason", () => {
  const reasons = (found: ReturnType<typeof verdict>) => [found.state, ...found.messages];
  const not_asked = [
    { mutation: "operand-swap", reason: "refused: it has an effect" },
    { mutation: "loop-unroll", reason: "no loop" },
  ];
  assert.deepEqual(reasons(verdict(result([], { not_asked }), "operand-swap")), [
    "nothing",
    "refused: it has an effect",
  ]);
  assert.deepEqual(reasons(verdict(result([pair("failed")]), "operand-swap")), ["nothing", "failed"]);
  const unjudged = result([pair("not judged")], { why_not_judged: "it has no tests" });
  assert.deepEqual(reasons(verdict(unjudged, "operand-swap")), ["nothing", "it has no tests"]);
});

test("where the verdict changes with nothing, too, a change that decided says nothing", () => {
  const found = verdict(
    result([pair("lost"), pair("held")], { noise: "it changes with nothing" }),
    "operand-swap",
  );
  assert.deepEqual(found, { state: "nothing", messages: ["it changes with nothing"] });
});

test("a change that rounding may explain is no finding, and its sentence says so", () => {
  const unstable = { ...pair("lost"), unstable: true, sentence: "Unstable" };
  assert.deepEqual(verdict(result([unstable]), "operand-swap"), { state: "nothing", messages: ["Unstable"] });
  const besides = verdict(result([unstable, pair("lost")]), "operand-swap");
  assert.deepEqual(besides, { state: "changed", messages: ["lost"] });
});

test("a probe that did not come to its end is an error", () => {
  const failed = result([], { ok: false, error: "no model" });
  assert.deepEqual(verdict(failed, "operand-swap"), { state: "errored", messages: ["no model"] });
});
