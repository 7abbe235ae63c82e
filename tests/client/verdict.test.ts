import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProbedPair, ProbeResult } from "../../client/src/protocol";
import { excerpt } from "../../client/src/testing/excerpt";
import { verdict } from "../../client/src/testing/verdict";

const text = (body: string) =>
  `import os\n\ndef other():\n    pass\n\ndef f(n):\n    """Doc."""\n${body}\n\n\nx = 1\n`;

function pair(shows: ProbedPair["shows"], mutation = "operand-swap", line = 7): ProbedPair {
  const wrote = [text("    return n"), text("    return -n")];
  return { title: "", counterfactual: text("    return +n"), wrote, mutation, line, shows, sentence: shows };
}

function result(pairs: ProbedPair[], more: Partial<ProbeResult> = {}): ProbeResult {
  const nothing = { summary: "", report: "", markdown: "", html: "", version: 1, not_asked: [] };
  const source = text("    return 0 + n");
  const base = { ok: true, ...nothing, function: "f", source, why_not_judged: "", wavering: "" };
  return { ...base, pairs, ...more };
}

test("one place where the change decided fails the test, with what was due and what was written", () => {
  const found = verdict(result([pair("held"), pair("lost"), pair("lost", "loop-unroll")]), "operand-swap");
  assert.equal(found.state, "failed");
  assert.deepEqual(found.messages, [
    {
      text: "lost",
      line: 7,
      expected: 'def f(n):\n    """Doc."""\n    return +n',
      actual: 'def f(n):\n    """Doc."""\n    return -n',
    },
  ]);
});

test("right only on the counterfactual fails too, by what it wrote after the original", () => {
  const [message] = verdict(result([pair("gained")]), "operand-swap").messages;
  assert.match(message?.expected ?? "", /return 0 \+ n$/);
  assert.match(message?.actual ?? "", /return n$/);
});

test("it passes where the model held wherever something can be said", () => {
  assert.equal(verdict(result([pair("held"), pair("failed")]), "operand-swap").state, "passed");
});

test("where nothing can be said it is skipped, with the reason", () => {
  const reasons = (found: ReturnType<typeof verdict>) => [
    found.state,
    ...found.messages.map(({ text }) => text),
  ];
  const not_asked = [
    { mutation: "operand-swap", reason: "refused: it has an effect" },
    { mutation: "loop-unroll", reason: "no loop" },
  ];
  assert.deepEqual(reasons(verdict(result([], { not_asked }), "operand-swap")), [
    "skipped",
    "refused: it has an effect",
  ]);
  assert.deepEqual(reasons(verdict(result([pair("failed")]), "operand-swap")), ["skipped", "failed"]);
  const unjudged = result([pair("not judged")], { why_not_judged: "it has no tests" });
  assert.deepEqual(reasons(verdict(unjudged, "operand-swap")), ["skipped", "it has no tests"]);
});

test("where the verdict changes with nothing, too, a change that decided says nothing", () => {
  const found = verdict(
    result([pair("lost"), pair("held")], { wavering: "it changes with nothing" }),
    "operand-swap",
  );
  assert.deepEqual(found, { state: "skipped", messages: [{ text: "it changes with nothing" }] });
});

test("a probe that did not come to its end is an error", () => {
  const failed = result([], { ok: false, error: "no model" });
  assert.deepEqual(verdict(failed, "operand-swap"), { state: "errored", messages: [{ text: "no model" }] });
});

test("the excerpt is the function, its header over several lines too, and all where there is none", () => {
  const wide = (sign: string) =>
    `class A:\n    def g(\n        self, ${sign}\n    ):\n        return 1\n\n    def h(self):\n        pass\n`;
  assert.deepEqual(excerpt("A.g", wide("a, b"), wide("b, a")), {
    expected: "    def g(\n        self, a, b\n    ):\n        return 1",
    actual: "    def g(\n        self, b, a\n    ):\n        return 1",
  });
  assert.deepEqual(excerpt("g", "x = 1", "x = 2"), { expected: "x = 1", actual: "x = 2" });
});
