import assert from "node:assert/strict";
import { test } from "node:test";
import manifest from "../../client/package.json";
import { subject } from "../../client/src/assistant/input";

test("what an assistant asks about is checked, in words that it can act on", () => {
  assert.deepEqual(subject({ path: "a.py", function: "f" }, { needsFunction: true }), {
    path: "a.py",
    function: "f",
  });
  assert.deepEqual(subject({ path: "a.py", function: "" }, { needsFunction: false }), { path: "a.py" });
  assert.throws(() => subject({ path: "a.py" }, { needsFunction: true }), /qualified name/);
  for (const input of [undefined, {}, { path: 3 }, { path: "" }]) {
    assert.throws(() => subject(input, { needsFunction: false }), /path of a file/);
  }
});

test("each tool of the manifest says what it takes, what it finds out and what that does not mean", () => {
  const tools = manifest.contributes.languageModelTools;
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["counterlens_probe_function", "counterlens_confidence"],
  );
  for (const tool of tools) {
    assert.ok(tool.inputSchema.required.includes("path"));
    assert.ok(
      Object.values(tool.inputSchema.properties).every(({ type, description }) => type && description),
    );
    assert.match(tool.modelDescription, /not/);
  }
});
