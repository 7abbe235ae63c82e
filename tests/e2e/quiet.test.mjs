// Things that must not happen: nothing starts before it is needed, and nothing is sent to the network.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { cannotWatch, watchNetwork } from "./driver/network-watch.mjs";
import { extensionHosts, languageServers } from "./driver/processes.mjs";
import { skip } from "./driver/requirements.mjs";
import { throughout, until } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";

const GO = "package main\n\nfunc main() {\n\tprintln(1)\n}\n";
const PYTHON = `def sign(x):
    """The sign of x.

    >>> sign(3), sign(-2)
    (1, -1)
    """
    if x < 0:
        return -1
    else:
        return 1
`;

describe("things that must not happen", { skip: skip || cannotWatch }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;
  let watch;

  before(async () => {
    session = await Session.start("quiet", {
      files: { "main.go": GO, "sign.py": PYTHON },
      open: "main.go",
      machine: { "counterlens.probe.maxTokens": 16 },
    });
    vscode = session.workbench;
  });
  after(async () => {
    await watch?.stop();
    await session?.stop();
  });

  const step = (name, body) => test(name, () => session.witness(name, body));

  step("a file of a language that is not enabled starts nothing", async () => {
    await vscode.statusItem("Counterlens: idle").waitFor({ timeout: 30_000 });
    await throughout(() => assert.deepEqual(languageServers(session.server), []));
    await session.screenshot("idle");
  });

  step("the first Python file starts the server", async () => {
    const [host, ...more] = extensionHosts(session.server);
    assert.ok(host && more.length === 0, "one extension host runs");
    watch = await watchNetwork(host, path.join(session.home.folder, "strace.log"));
    await vscode.quickOpen("sign.py");
    await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor({ timeout: 180_000 });
    assert.equal(languageServers(session.server).length, 1);
    assert.match(session.log(), /Starting the language server: a file of python is open/);
  });

  step("scores, a hover and a probe with a local model reach no address", async () => {
    await until(async () => {
      assert.match(await vscode.hover("else", { line: "else:" }), /: confidence/);
    });
    await vscode.leave();
    await until(() => vscode.codeLens("Probe counterfactually").first().click({ timeout: 2_000 }), {
      ms: 30_000,
    });
    await vscode.tab("Probe of sign").waitFor({ timeout: 300_000 });
    const seen = watch.lines();
    assert.ok(seen.filter((line) => line.includes("+++ exited with")).length > 3, "its children are watched");
    assert.deepEqual(
      seen.filter((line) => line.includes("AF_INET")),
      [],
    );
  });
});

test("the network watch records a connection", { skip: skip || cannotWatch }, async (context) => {
  const log = path.join(mkdtempSync(path.join(tmpdir(), "watch-")), "strace.log");
  const program = `process.stdin.once("data", () => {
    require("child_process").spawnSync(process.execPath,
      ["-e", "require('net').connect(9, '127.0.0.1').on('error', () => {})"]);
    process.exit();
  })`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "ignore", "ignore"] });
  context.after(() => child.kill());
  const watch = await watchNetwork(child.pid, log);
  child.stdin.write("go");
  await until(() => assert.ok(watch.lines().some((line) => /AF_INET.*htons\(9\)/.test(line))));
  await watch.stop();
});
