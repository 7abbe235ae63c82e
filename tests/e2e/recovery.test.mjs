// Failures: the server dies, or the interpreter is the wrong one.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { languageServers } from "./driver/processes.mjs";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";

const SCORED = { timeout: 120_000 };

describe("when something goes wrong", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("recovery", { open: "grades.py" });
    vscode = session.workbench;
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  step("a killed server is restarted, and scores the open file again", async () => {
    await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
    const [first, ...more] = languageServers(session.server);
    assert.ok(first && more.length === 0, "one language server runs");
    const said = await vscode.statusNoted();
    process.kill(first, "SIGKILL");
    await said("Counterlens: loading");
    const second = await until(
      () => {
        const [pid] = languageServers(session.server);
        assert.ok(pid && pid !== first, "not started again yet");
        return pid;
      },
      { ms: 30_000 },
    );
    await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
    assert.deepEqual(languageServers(session.server), [second]);
    await until(async () => {
      assert.match(await vscode.hover("current", { line: "if current > best" }), /: confidence/);
    });
    await vscode.leave();
    assert.match(session.log(), /stopped unexpectedly; starting it again/);
  });

  step("a command during the start of the server waits for it", async () => {
    await vscode.click("current", { line: "if current > best" });
    await vscode.command("Counterlens: Restart Server");
    await vscode.command("Counterlens: Show Dependences");
    await vscode.tab("Dependences of").waitFor({ timeout: 30_000 });
    assert.equal(await vscode.notification("Counterlens is not running").count(), 0);
    await vscode.tab("Dependences of").click();
    await vscode.command("View: Close Editor");
    await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
  });

  step("an interpreter without the package gives one clear message with a way out", async () => {
    session.home.writeMachineSettings({ "counterlens.interpreter": "/usr/bin/env" });
    const message = vscode.notification("Counterlens cannot start");
    await message.waitFor({ timeout: 30_000 });
    assert.equal(await message.count(), 1);
    const text = await message.innerText();
    assert.match(text, /\/usr\/bin\/env/);
    assert.match(text, /Choose Interpreter…/);
    assert.match(text, /Show Logs/);
    await vscode.statusItem("Counterlens: no Python has it").waitFor();
    await until(() => assert.deepEqual(languageServers(session.server), []), { ms: 5_000 }); // it takes time to exit
    await session.screenshot("no-interpreter");
  });

  step(
    "an invalid setting gives a message and the default; the right interpreter restores everything",
    async () => {
      await vscode.clearNotifications();
      session.home.writeMachineSettings({
        "counterlens.interpreter": session.interpreter,
        "counterlens.threads": -3,
      });
      await vscode
        .notification("counterlens.threads is -3, but must be a whole number")
        .waitFor({ timeout: 30_000 });
      await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
    },
  );
});
