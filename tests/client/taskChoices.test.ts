import assert from "node:assert/strict";
import { test } from "node:test";
import type { TaskListing } from "../../client/src/protocol";
import { taskChoices } from "../../client/src/taskChoices";

const found: TaskListing = {
  ok: true,
  function: "parity",
  functions: 2,
  model: "m",
  tasks: [
    { id: "operator", title: "which operator?", available: true, reason: "" },
    { id: "repair", title: "does it mend?", available: false, reason: "not trusted" },
  ],
};

test("what can be run comes first, with all of it on top; the rest last, with the reason", () => {
  const { title, choices } = taskChoices(found, "function", "parity.py", "all");
  assert.equal(title, "Probe parity");
  assert.deepEqual(
    choices.map(({ kind, label }) => [kind, label]),
    [
      ["task", "all"],
      ["task", "operator"],
      ["heading", "Something else"],
      ["scope", "Whole file"],
      ["heading", "Not available here"],
      ["unavailable", "repair"],
    ],
  );
  assert.deepEqual(choices[5], { kind: "unavailable", label: "repair", detail: "not trusted" });
});

test("the whole file can be probed instead, and outside of a function nothing else can", () => {
  const file = taskChoices(found, "file", "parity.py", "all");
  assert.equal(file.title, "Probe parity.py, 2 functions");
  assert.ok(file.choices.some((choice) => choice.kind === "scope" && choice.label === "parity"));
  const outside = taskChoices({ ...found, function: "", functions: 1 }, "function", "parity.py", "all");
  assert.equal(outside.title, "Probe parity.py, 1 function");
  assert.ok(outside.choices.every((choice) => choice.kind !== "scope"));
  assert.ok(outside.choices.every((choice) => choice.kind !== "task" || choice.scope === "file"));
});

test("a task that was measured says about how long it takes, for all functions of a file too", () => {
  const tasks = found.tasks.map((task) => ({ ...task, seconds: 52 }));
  const detail = (scope: "function" | "file") =>
    taskChoices({ ...found, tasks }, scope, "parity.py", "all").choices.flatMap((choice) =>
      choice.kind === "task" && choice.label === "operator" ? [choice.detail] : [],
    );
  assert.deepEqual(detail("function"), ["which operator? · about 50 s"]);
  assert.deepEqual(detail("file"), ["which operator? · about 2 min"]);
});

test("where nothing can be run, all of it cannot be chosen either", () => {
  const tasks = found.tasks.map((task) => ({ ...task, available: false }));
  const { choices } = taskChoices({ ...found, tasks }, "function", "parity.py", "all");
  assert.ok(choices.every(({ kind }) => kind !== "task"));
});
