// Which of several Pythons the set-up takes.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { venvPython } from "../../scripts/paths.mjs";
import { findPython, quickest } from "../../scripts/setup/interpreter.mjs";

describe("of several interpreters of a name", () => {
  const failed = Number.POSITIVE_INFINITY;
  for (const { what, seconds, wanted } of [
    { what: "the first is taken if they are about equally quick", seconds: [1, 0.9, 1.1], wanted: 0 },
    { what: "one that is clearly quicker is taken", seconds: [1, 1.1, 0.6], wanted: 2 },
    { what: "one that cannot be timed is not taken", seconds: [1, failed], wanted: 0 },
    { what: "another one is taken if the first cannot be timed", seconds: [failed, 3], wanted: 1 },
  ]) {
    test(what, async () => {
      const pythons = seconds.map((_, index) => `python${index}`);
      assert.equal(await quickest(pythons, async () => seconds), pythons[wanted]);
    });
  }
});

describe("the search on PATH", () => {
  const kept = { PATH: process.env.PATH, COUNTERLENS_PYTHON: process.env.COUNTERLENS_PYTHON };
  let folder;

  /** A folder of PATH with a `python3.11`. */
  function place(name, script) {
    const where = path.join(folder, name);
    mkdirSync(where);
    const file = path.join(where, "python3.11");
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  before(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), "counterlens-interpreters-"));
    delete process.env.COUNTERLENS_PYTHON;
  });

  after(() => {
    Object.assign(process.env, kept);
    if (kept.COUNTERLENS_PYTHON === undefined) delete process.env.COUNTERLENS_PYTHON;
    rmSync(folder, { recursive: true, force: true });
  });

  test("passes over one that is too old, one that makes no environments, and one that is slow", async () => {
    const real = realpathSync(venvPython);
    const old = place("old", "echo 3 10");
    const bare = place("bare", `case "$2" in *ensurepip*) exit 1;; esac; exec ${real} "$@"`);
    const slow = place("slow", `case "$2" in *process_time*) echo 9;; *) exec ${real} "$@";; esac`);
    const good = place("good", `exec ${real} "$@"`);
    const again = path.join(folder, "again");
    symlinkSync(path.dirname(good), again);
    process.env.PATH = [...[old, bare, slow, good].map(path.dirname), again].join(path.delimiter);
    assert.equal(await findPython(), good);
  });

  test("takes the one that is named, also if it is slow", async () => {
    const slow = place("named", `exec ${realpathSync(venvPython)} "$@"`);
    process.env.COUNTERLENS_PYTHON = slow;
    assert.equal(await findPython(), slow);
    delete process.env.COUNTERLENS_PYTHON;
  });
});
