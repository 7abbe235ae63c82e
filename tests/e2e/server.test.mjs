// The language server of an editor: nothing starts before it is needed, nothing is sent to the network, and a server
// that dies or cannot start is handled. A workspace that the user has not trusted is scored, but its code is not run
// until it is trusted.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { callsIn, cannotWatch, watching } from "./driver/network-watch.mjs";
import { extensionHosts, languageServers } from "./driver/processes.mjs";
import { skip } from "./driver/requirements.mjs";
import { throughout, until } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";

const SCORED = { timeout: 120_000 };
const GO = "package main\n\nfunc main() {\n\tprintln(1)\n}\n";

describe("the language server", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("server", {
      files: { "main.go": GO },
      open: "main.go",
      trustDialogs: true,
      watched: !cannotWatch,
      settings: {
        "security.workspace.trust.enabled": true,
        "security.workspace.trust.startupPrompt": "never",
        "security.workspace.trust.banner": "never",
      },
      machine: { "counterlens.probe.maxTokens": 16 },
    });
    vscode = session.workbench;
  });
  after(() => session?.stop());

  const step = (name, body, options = {}) => test(name, options, () => session.witness(name, body));

  describe("in a workspace that the user has not trusted yet", () => {
    step("a file of a language that is not enabled starts nothing", async () => {
      await vscode.statusItem("Restricted Mode").waitFor();
      await vscode.statusItem("Counterlens: idle").waitFor();
      await throughout(() => assert.deepEqual(languageServers(session.server), []));
      await session.screenshot("idle");
    });

    step("the first Python file starts the server", async () => {
      // A process that the host is starting looks like it for a moment.
      await until(() => assert.equal(extensionHosts(session.server).length, 1, "one extension host runs"));
      await vscode.quickOpen("grades.py");
      await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor({ timeout: 180_000 });
      assert.equal(languageServers(session.server).length, 1);
      assert.match(session.log(), /Starting the language server: a file of python is open/);
    });

    step("the file is scored like any other", async () => {
      await vscode.statusItem("Restricted Mode").waitFor();
      await until(async () => {
        assert.match(await vscode.hover("current", { line: "if current > best" }), /: confidence/);
      });
      await vscode.leave();
    });

    step("a probe is refused with a clear message", async () => {
      await vscode.codeLens("Probe counterfactually").nth(1).click();
      const message = vscode.notification("untrusted workspace");
      await message.waitFor();
      assert.match(await message.innerText(), /trust the workspace/i);
      await session.screenshot("refused");
      await vscode.clearNotifications();
    });

    step("once it is trusted, the probe runs", async () => {
      await vscode.command("Workspaces: Manage Workspace Trust");
      await vscode.page
        .locator(".workspace-trust-editor")
        .getByRole("button", { name: "Trust", exact: true })
        .click();
      await vscode.statusItem("Restricted Mode").waitFor({ state: "detached" });
      await vscode.quickOpen("grades.py");
      await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
      await until(async () => vscode.codeLens("Probe counterfactually").nth(1).click({ timeout: 2_000 }));
      await vscode.probed("grade", { timeout: 300_000 });
      assert.match(session.log(), /workspace is now trusted; the language server goes on/);
    });

    step(
      "a command that is given while the server restarts is carried out, and its result stays",
      async () => {
        await vscode.tab("Probe of grade").click();
        await vscode.command("View: Close Editor");
        await vscode.quickOpen("grades.py");
        await vscode.command("Counterlens: Restart Server");
        await vscode.click("grade", { line: "def grade" });
        await vscode.command("Counterlens: Probe Function Counterfactually");
        const report = await vscode.probed("grade", { timeout: 300_000 });
        await report.getByText("from an earlier session").waitFor({ timeout: 60_000 });
        await session.screenshot("kept");
      },
    );

    step(
      "scores, a hover and a probe with a local model have reached no address",
      () => {
        const seen = callsIn(session.home.calls);
        assert.ok(
          seen.filter((line) => line.includes("+++ exited with")).length > 3,
          "its children are watched",
        );
        // The sandbox tries its own loopback when it checks its claims; nothing there leaves the machine.
        const reached = seen.filter((line) => line.includes("AF_INET") && !line.includes('inet_addr("127.'));
        assert.deepEqual(reached, []);
      },
      { skip: cannotWatch },
    );
  });

  describe("when something goes wrong", () => {
    before(async () => {
      await vscode.command("View: Close All Editors");
      await vscode.quickOpen("grades.py");
    });

    step("a killed server is restarted, and scores the open file again", async () => {
      await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
      const [first, ...more] = languageServers(session.server);
      assert.ok(first && more.length === 0, "one language server runs");
      const said = await vscode.statusNoted();
      process.kill(first, "SIGKILL");
      await said("Counterlens: loading");
      const second = await until(() => {
        const [pid] = languageServers(session.server);
        assert.ok(pid && pid !== first, "not started again yet");
        return pid;
      });
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
      await vscode.tab("Dependences of").waitFor();
      assert.equal(await vscode.notification("Counterlens is not running").count(), 0);
      await vscode.tab("Dependences of").click();
      await vscode.command("View: Close Editor");
      await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
    });

    step("an interpreter without the package gives one clear message with a way out", async () => {
      session.home.writeMachineSettings({ "counterlens.interpreter": "/usr/bin/env" });
      const message = vscode.notification("Counterlens cannot start");
      await message.waitFor();
      assert.equal(await message.count(), 1);
      const text = await message.innerText();
      assert.match(text, /\/usr\/bin\/env/);
      assert.match(text, /Choose Interpreter…/);
      assert.match(text, /Show Logs/);
      await vscode.statusItem("Counterlens: no Python has counterlens: “Choose Interpreter…”").waitFor();
      await until(() => assert.deepEqual(languageServers(session.server), [])); // it takes time to exit
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
        await vscode.notification("counterlens.threads is -3, but must be an integer").waitFor();
        await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
      },
    );
  });
});

test("the network watch records a connection", { skip: skip || cannotWatch }, (context) => {
  const folder = mkdtempSync(path.join(tmpdir(), "watch-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const log = path.join(folder, "strace.log");
  const inner = "require('net').connect(9, '127.0.0.1').on('error', () => {})";
  const program = `require("child_process").spawnSync(process.execPath, ["-e", ${JSON.stringify(inner)}])`;
  const [command, ...args] = [...watching(log), process.execPath, "-e", program];
  assert.equal(spawnSync(command, args).status, 0);
  assert.ok(callsIn(log).some((line) => /AF_INET.*htons\(9\)/.test(line)));
});
