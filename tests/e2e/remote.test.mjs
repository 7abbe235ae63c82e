// A remote model, selected in the settings, behind a real server that requires a key: the key gets from the command to
// the request, and is stored nowhere on the way.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { e2e } from "../../scripts/paths.mjs";
import { startModelServer } from "./driver/model-server.mjs";
import { environmentOf, languageServers } from "./driver/processes.mjs";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";

const KEY = "sk-e2e-4f1c0ffee5";
const MODEL = "house-model";

describe("a remote model", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;
  let models;
  let report = "";

  before(async () => {
    const folder = path.join(e2e, "run/remote-server");
    mkdirSync(folder, { recursive: true });
    models = await startModelServer({ folder, key: KEY, model: MODEL });
    session = await Session.start("remote", { open: "parity.py", example: "parity.py" });
    vscode = session.workbench;
  });
  after(async () => {
    models?.stop();
    await session?.stop();
  });

  const step = (name, body) => test(name, () => session.witness(name, body));

  async function probe() {
    await vscode.clearNotifications();
    await until(() => vscode.codeLens("Probe counterfactually").click({ timeout: 2_000 }), { ms: 30_000 });
  }

  /** Enters a key into the input box. Returns the process id of the server that is then started. */
  async function giveKey(key) {
    const [before] = languageServers(session.server);
    const box = await vscode.quickInput();
    assert.equal(await box.getAttribute("type"), "password");
    await box.fill(key);
    await vscode.page.keyboard.press("Enter");
    return until(
      () => {
        const running = languageServers(session.server);
        assert.ok(running.length === 1 && running[0] !== before, "not started again yet");
        return running[0];
      },
      { ms: 30_000 },
    );
  }

  step(
    "is shown in the status bar once the settings name it, even while the server is starting",
    async () => {
      session.home.writeMachineSettings({
        "counterlens.interpreter": session.interpreter,
        "counterlens.model": "remote",
        "counterlens.remote.baseUrl": models.baseUrl,
        "counterlens.remote.model": MODEL,
        "counterlens.probe.maxTokens": 24,
      });
      await vscode.statusItem(`${MODEL}:`).waitFor({ timeout: 60_000 });
      await session.screenshot("named");
    },
  );

  step("without its key a probe says what is missing", async () => {
    const [server] = languageServers(session.server);
    assert.equal(environmentOf(server).COUNTERLENS_API_KEY, undefined);
    await probe();
    const message = vscode.notification("No key was sent");
    await message.waitFor({ timeout: 60_000 });
    assert.match(await message.innerText(), /401[\s\S]*Set API Key/);
    await session.screenshot("no-key");
    await message.getByRole("button", { name: "Set API Key…" }).click();
  });

  step("the key that the user enters reaches the server, and a function is probed", async () => {
    const server = await giveKey(KEY);
    assert.equal(environmentOf(server).COUNTERLENS_API_KEY, KEY);
    await probe();
    await vscode.tab("Probe of parity").waitFor({ timeout: 300_000 });
    const panel = vscode.panel("Probe of parity");
    await panel.getByRole("heading", { level: 1, name: "parity" }).waitFor({ timeout: 20_000 });
    report = await panel.locator("main").innerText();
    assert.match(report, /parity\.py:1-12 with house-model \(/);
    assert.match(report, /if-else-flip/);
    assert.match(models.log(), /^POST \/v1\/completions 200$/m);
    await vscode.statusItem(`${MODEL}:`).waitFor();
    await session.screenshot("probed");
  });

  step("the key is in no setting, no log, no report, and no process list", () => {
    assert.ok(!report.includes(KEY));
    const leaks = files(session.home.userData)
      .concat(files(session.workspace))
      .filter((file) => readFileSync(file).includes(KEY));
    assert.deepEqual(leaks, []);
    assert.match(session.log(), /the API key changed/);
    const [server] = languageServers(session.server);
    assert.ok(!readFileSync(`/proc/${server}/cmdline`, "utf8").includes(KEY));
  });

  step("an empty input removes the key", async () => {
    await vscode.command("Counterlens: Set API Key for the Remote Model…");
    const server = await giveKey("");
    assert.equal(environmentOf(server).COUNTERLENS_API_KEY, undefined);
  });
});

function files(folder) {
  const entries = readdirSync(folder, { recursive: true }).map((name) => path.join(folder, name));
  return entries.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}
