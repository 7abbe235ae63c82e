// The summary of `npm test`: what is counted, and that nothing that failed can be missing from it.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { runAll } from "../../scripts/checks.mjs";
import { total } from "../../scripts/results.mjs";
import { Problem, run } from "../../scripts/terminal.mjs";

const folder = mkdtempSync(path.join(os.tmpdir(), "counterlens-test-"));
after(() => rmSync(folder, { recursive: true }));

function junit(...cases) {
  const file = path.join(folder, `${Math.random()}.xml`);
  writeFileSync(file, `<testsuites><testsuite>${cases.join("")}</testsuite></testsuites>`);
  return file;
}

const PASSED = '<testcase name="a"/>';
const FAILED = '<testcase name="b"><failure message="1 &lt;failure"></failure></testcase>';
const BROKEN = '<testcase name="c"><error message="in a fixture"></error></testcase>';
const SKIPPED = '<testcase name="d"><skipped message="no model"/></testcase>';

test("tests are counted over all steps, a check as one", () => {
  const steps = [
    { code: 0 },
    { code: 0, junit: junit(PASSED, PASSED, SKIPPED) },
    { code: 1, junit: junit(PASSED, FAILED, BROKEN) },
  ];
  assert.deepEqual(total(steps), { passed: 4, failed: 2, skipped: 1 });
});

test("a run that failed is counted, also when no test of it did", () => {
  assert.deepEqual(total([{ code: 1 }]), { passed: 0, failed: 1, skipped: 0 });
  assert.deepEqual(total([{ code: 2, junit: path.join(folder, "absent") }]), {
    passed: 0,
    failed: 1,
    skipped: 0,
  });
  assert.equal(total([{ code: 3, junit: junit(PASSED) }]).failed, 1);
});

test("a failed test counts whatever the exit code says", () => {
  assert.equal(total([{ code: 0, junit: junit(FAILED) }]).failed, 1);
});

test("every step runs, whatever fails before it, and one failure fails the whole", async (t) => {
  const lines = [];
  t.mock.method(console, "log", (line) => lines.push(line));
  const exit = (code) => () => run(process.execPath, ["-e", `process.exit(${code})`]);
  const crash = () => {
    throw new Error("cannot begin");
  };
  assert.equal(
    await runAll([
      { name: "fails", run: exit(3) },
      { name: "crashes", run: crash },
      { name: "passes", run: exit(0) },
    ]),
    1,
  );
  const summary = lines.slice(lines.findIndex((line) => line.includes("summary")) + 1);
  assert.match(summary[0], /^FAILED {2}fails/);
  assert.match(summary[1], /^FAILED {2}crashes/);
  assert.match(summary[2], /^passed {2}passes/);
  assert.equal(summary[3], "1 passed, 2 failed");
  assert.equal(await runAll([{ name: "passes", run: exit(0) }]), 0);
});

test("a step that cannot be set up says what to do", async (t) => {
  const said = [];
  t.mock.method(console, "log", () => {});
  t.mock.method(process.stderr, "write", (text) => said.push(String(text)));
  const refuse = () => {
    throw new Problem("no compiler", "Install one");
  };
  assert.equal(await runAll([{ name: "refuses", run: refuse }]), 1);
  assert.equal(said.join(""), "\nerror: no compiler\nhint:  Install one\n");
});

test("steps run at once, each says all it has to say in its place, and each one's failure counts", async (t) => {
  const lines = [];
  t.mock.method(console, "log", (line) => lines.push(line));
  t.mock.method(process.stdout, "write", (text) => lines.push(String(text)));
  // Each waits for what the other writes: they end only when they run at once.
  const meet = (mine, other) => {
    const program = `const { existsSync, writeFileSync } = require("node:fs");
      writeFileSync(${JSON.stringify(path.join(folder, mine))}, "");
      const wait = () => existsSync(${JSON.stringify(path.join(folder, other))})
        ? (console.log(${JSON.stringify(`met ${other}`)}), process.exit(3)) : setTimeout(wait, 10);
      wait();`;
    return (options) =>
      run(process.execPath, ["-e", program], options.stdio === "inherit" ? { stdio: "ignore" } : options);
  };
  const steps = [
    { name: "one", run: meet("one", "other") },
    { name: "other", run: meet("other", "one") },
    { name: "last", run: () => 0 },
  ];
  assert.equal(await runAll(steps), 1);
  const said = lines.join("\n");
  assert.match(said, /── one\n[\s\S]*── other\nmet one\n[\s\S]*── last\n[\s\S]*1 passed, 2 failed$/);
});
