// By hand, since it takes some minutes: node --test tests/e2e/by-hand/kinds.test.mjs
// A bug of each kind is put into an open file, and found and fixed with the function's own examples.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { root, venvPython } from "../../../scripts/paths.mjs";
import { skip } from "../driver/requirements.mjs";
import { until } from "../driver/retry.mjs";
import { Session } from "../driver/session.mjs";

const PRINT =
  "import json; from tests.doubt.planted import PLANTED; " +
  "print(json.dumps({k: [p.right, p.wrong, p.now] for k, p in PLANTED.items()}))";
const PLANTED = JSON.parse(execFileSync(venvPython, ["-c", PRINT], { cwd: root, encoding: "utf8" }));

describe("a bug of each kind", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("../driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    const files = Object.entries(PLANTED).map(([kind, [right]]) => [`${kind}.py`, right]);
    session = await Session.start("kinds", {
      open: "comparison.py",
      files: Object.fromEntries(files),
    });
    vscode = session.workbench;
    await vscode.statusItem(/: ready/).waitFor({ timeout: 120_000 });
    await vscode.command("Problems: Focus on Problems View");
  });
  after(() => session?.stop());

  for (const [kind, [right, wrong]] of Object.entries(PLANTED))
    test(kind, () =>
      session.witness(kind, async () => {
        await vscode.quickOpen(`${kind}.py`);
        // A file that already contains the bug when it is opened is not edited, so its tests are not run automatically.
        await until(async () => assert.equal((await vscode.text()).trim(), right.trim()), { ms: 20_000 });
        await vscode.statusItem(/: ready/).waitFor({ timeout: 120_000 });
        writeFileSync(path.join(session.workspace, `${kind}.py`), wrong);
        const began = Date.now();
        const row = vscode.problems("tests fail now and pass with it");
        await until(async () => assert.ok(await row.count()), { ms: 60_000 });
        console.log(`# ${kind}: ${Date.now() - began} ms: ${(await row.first().innerText()).split("\n")[0]}`);
        await session.screenshot(kind);
        writeFileSync(path.join(session.workspace, `${kind}.py`), PLANTED[kind][0]);
        await until(async () => assert.equal(await row.count(), 0), { ms: 60_000 });
      }),
    );
});
