// Selecting a model, testing it, connecting to a server; the texts of the status item; the legend and the overlay's
// look. A remote model behind a real server that requires a key: the key gets from the command to the request, and is
// stored nowhere on the way.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { e2e, root, venvPython } from "../../scripts/paths.mjs";
import { ask } from "../../scripts/terminal.mjs";
import { startHub } from "./driver/hub-server.mjs";
import { startModelServer } from "./driver/model-server.mjs";
import { environmentOf, languageServers } from "./driver/processes.mjs";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { EMBEDDED, Session, UNCERTAINTY } from "./driver/session.mjs";
import { shortModel } from "./driver/short-model.mjs";

const KEY = "sk-e2e-models";
const SCORED = { timeout: 120_000 };
const SOON = { timeout: 30_000 };
// The hash of its official file is not known, so another file may take its place.
const CODER = "TheBloke/deepseek-coder-1.3b-base-GGUF/deepseek-coder-1.3b-base.Q4_K_M.gguf";

/** Two exports of small transformers: a causal one and a masked one. */
const EXPORTS = `
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.models.onnx.exporting import export
export(Path(sys.argv[2], "reads-forward"), past=True, hidden=True)
export(Path(sys.argv[2], "masks"), causal=False)`;

/** Class of the workbench, and theme. */
const THEMES = {
  vs: "Default Light Modern",
  "hc-black": "Default High Contrast",
  "hc-light": "Default High Contrast Light",
};

describe("models, status and look", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;
  let models;
  let hub;
  let report = "";

  before(async () => {
    const folder = path.join(e2e, "run/models-server");
    mkdirSync(folder, { recursive: true });
    const file = await shortModel();
    hub = await startHub({ [CODER]: file });
    [models, session] = await Promise.all([
      startModelServer({ folder, key: KEY, model: "house-model" }),
      Session.start("models", {
        model: EMBEDDED,
        open: "grades.py",
        example: "parity.py",
        settings: UNCERTAINTY,
        environment: { HF_ENDPOINT: hub.url },
      }),
    ]);
    vscode = session.workbench;
    mkdirSync(path.join(session.workspace, "weights"));
    symlinkSync(file, path.join(session.workspace, "weights/found-here.gguf"));
  });
  after(async () => {
    models?.stop();
    hub?.stop();
    await session?.stop();
  });

  const step = (name, body) => test(name, () => session.witness(name, body));

  step("the status item's tooltip shows the state, with actions", async () => {
    await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
    await vscode.statusItem(/SmolLM2-135M/).hover();
    const tooltip = vscode.page.locator(".monaco-hover", { hasText: "is scored" });
    await tooltip.waitFor(SOON);
    await session.screenshot("tooltip");
    await tooltip.getByRole("link", { name: "Legend" }).click();
    await vscode.choice("below 1 %").waitFor(SOON);
    assert.match(await vscode.choice("below 1 %").innerText(), /strong orange, double underline/);
    await session.screenshot("legend");
  });

  step(
    "the walkthrough has ticked steps that were done before it was opened: the server, and colours",
    async () => {
      await vscode.page.keyboard.press("Escape");
      await vscode.command("Welcome: Open Walkthrough");
      await vscode.choice("Get Started with Counterlens").click(SOON);
      for (const step of ["setUp", "confidence"]) {
        const ticked = `.getting-started-step[data-step-id$="#${step}"] [aria-checked="true"]`;
        await vscode.page.locator(ticked).waitFor(SOON);
      }
      await session.screenshot("walkthrough");
      await vscode.command("View: Close Editor");
      await vscode.command("Counterlens: Show Legend");
      await vscode.choice("below 1 %").waitFor(SOON);
    },
  );

  step("choosing a level of the legend goes to its next place", async () => {
    await vscode.choice("below 1 %").click();
    await until(async () => {
      const text = await vscode.page
        .locator(".part.statusbar .statusbar-item", { hasText: "selected)" })
        .innerText();
      assert.match(text, /Ln \d+, Col \d+ \(\d+ selected\)/);
    });
  });

  step("the keyboard changes the overlay's granularity", async () => {
    await vscode.click("best", { line: "return best" });
    const pieces = () => vscode.decorationsAt("return", { line: "return best" });
    const said = await vscode.statusNoted(); // each is shown for four seconds
    await vscode.page.keyboard.press("Control+Alt+Shift+J");
    await said("Each statement");
    await vscode.page.keyboard.press("Control+Alt+Shift+U");
    await said("Each word");
    await pieces();
  });

  /** Writes settings of the workspace. */
  function wear(settings) {
    const folder = path.join(session.workspace, ".vscode");
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "settings.json"), JSON.stringify(settings));
  }

  step("the levels are distinguishable in other kinds of theme", async () => {
    for (const [kind, theme] of Object.entries(THEMES)) {
      wear({ "workbench.colorTheme": theme });
      await until(async () => {
        const classes = await vscode.page.locator(".monaco-workbench").first().getAttribute("class");
        assert.ok(classes.split(" ").includes(kind), classes);
      });
      await session.screenshot(`theme-${kind}`);
    }
    wear({ "counterlens.overlay.opacity": 200, "counterlens.overlay.underline": false });
    await until(async () => {
      const drawn = await vscode.decorationsAt("previous", { line: "previous = None" });
      assert.ok(
        drawn.some(({ backgroundColor }) => /^rgba\(245, 121, 58, 0\.(4[5-9]|[5-8])/.test(backgroundColor)),
        JSON.stringify(drawn),
      );
      assert.ok(drawn.every(({ textDecorationStyle }) => textDecorationStyle !== "double"));
    });
    wear({});
  });

  step("the reason for an excluded file is shown", async () => {
    const generated = "# Code generated by a tool. DO NOT EDIT.\nvalue = 1\n";
    writeFileSync(path.join(session.workspace, "made_pb2.py"), generated);
    await until(() => vscode.quickOpen("made_pb2.py"));
    await vscode.statusItem(/file not scored: .*generated/).waitFor(SOON);
    await session.screenshot("excluded");
    await vscode.quickOpen("grades.py");
    await vscode.statusItem(/: ready/).waitFor(SOON);
  });

  step("a model file that was found can be selected and tested", async () => {
    await vscode.command("Counterlens: Select Model…");
    const row = vscode.choice("found-here");
    await row.waitFor(SOON);
    await session.screenshot("select");
    assert.match(await vscode.choice("Embedded").innerText(), /chosen/);
    await row.click();
    await vscode.statusItem(/found-here: ready/).waitFor(SCORED);
    await vscode.command("Counterlens: Test Connection");
    await vscode.choice("Token probabilities").waitFor(SCORED);
    await session.screenshot("tested");
    await vscode.page.keyboard.press("Escape");
  });

  step("a code model is downloaded by its name, after showing its licence and expected speed", async () => {
    await vscode.command("Counterlens: Select Model…");
    const row = vscode.choice("DeepSeek Coder 1.3B Base");
    await row.waitFor(SOON);
    assert.match(await row.innerText(), /DeepSeek Licence · about 870 MB/);
    await until(async () => assert.match(await row.innerText(), /tokens\/s here/));
    await session.screenshot("code-models");
    await row.click();
    await vscode.statusItem(/DeepSeek Coder 1\.3B Base Q4_K_M: ready/).waitFor(SCORED);
    await vscode.command("Counterlens: Select Model…");
    await until(async () => assert.match(await row.innerText(), /chosen[\s\S]*On this machine/));
    await vscode.page.keyboard.press("Escape");
  });

  step("exported models, a causal one and a masked one, are found, score code, and are probed", async () => {
    await ask(venvPython, ["-c", EXPORTS, root, path.join(session.workspace, "exports")]);
    writeFileSync(path.join(session.workspace, "short.py"), "def half(n):\n    return n / 2\n");
    for (const name of ["reads-forward", "masks"]) {
      await vscode.command("View: Close All Editors");
      await until(() => vscode.quickOpen("short.py"));
      await vscode.command("Counterlens: Select Model…");
      const row = vscode.choice(name);
      await row.waitFor(SOON);
      if (name === "masks") await session.screenshot("exports");
      await row.click();
      await vscode.statusItem(new RegExp(`${name}: ready`)).waitFor(SCORED);
      await until(async () => assert.ok((await vscode.decorationsAt("half", { line: "def half" })).length));
      await vscode.click("half", { line: "def half" });
      await vscode.command("Counterlens: Probe Function…");
      await vscode.choice("does it know which operator belongs where?").click(SCORED);
      const panel = vscode.panel("Probes of half");
      await panel.getByText(`short.py, asked of ${name} (local)`).waitFor(SCORED);
      await panel
        .getByText(/^The model would have written \d of 1 operator/)
        .first()
        .waitFor(SCORED);
      await session.screenshot(`probed-${name}`);
    }
  });

  async function probe() {
    await vscode.clearNotifications();
    await until(() => vscode.codeLens("Probe counterfactually").click({ timeout: 2_000 }));
  }

  /** Enters a key into the input box. Returns the process id of the server that is then started. */
  async function giveKey(key) {
    const [before] = languageServers(session.server);
    const box = await vscode.quickInput();
    assert.equal(await box.getAttribute("type"), "password");
    await box.fill(key);
    await vscode.page.keyboard.press("Enter");
    return until(() => {
      const running = languageServers(session.server);
      assert.ok(running.length === 1 && running[0] !== before, "not started again yet");
      return running[0];
    });
  }

  step(
    "a remote model is shown in the status bar once the settings name it, even while the server is starting",
    async () => {
      await vscode.command("View: Close All Editors");
      await until(() => vscode.quickOpen("parity.py"));
      await vscode.command("Counterlens: Restart Server");
      session.home.writeMachineSettings({
        "counterlens.interpreter": session.interpreter,
        "counterlens.model": "remote",
        "counterlens.remote.baseUrl": models.baseUrl,
        "counterlens.remote.model": "house-model",
        "counterlens.probe.maxTokens": 24,
      });
      await vscode.statusItem("house-model:").waitFor();
      await session.screenshot("named");
    },
  );

  step("without its key a probe says what is missing", async () => {
    const server = await until(() => {
      const [running] = languageServers(session.server);
      assert.ok(running, "not started again yet");
      return running;
    });
    assert.equal(environmentOf(server).COUNTERLENS_API_KEY, undefined);
    await probe();
    const message = vscode.notification("No key was sent");
    await message.waitFor();
    assert.match(await message.innerText(), /401[\s\S]*Set API Key/);
    await session.screenshot("no-key");
    await message.getByRole("button", { name: "Set API Key…" }).click();
  });

  step("the key that the user enters reaches the server, and a function is probed", async () => {
    const server = await giveKey(KEY);
    assert.equal(environmentOf(server).COUNTERLENS_API_KEY, KEY);
    const release = models.hold('"max_tokens": 24');
    await probe();
    await probe(); // what was already asked is not asked again, and no sentence stands twice
    await vscode.tab("Probe of parity").waitFor({ timeout: 300_000 });
    const panel = vscode.panel("Probe of parity");
    await panel.getByRole("status").filter({ hasText: "known so far" }).waitFor();
    await panel
      .getByRole("listitem")
      .filter({ hasText: /\d+ pairs? at \d+ cuts?/ })
      .waitFor();
    const facts = await panel.getByRole("listitem").allInnerTexts();
    assert.equal(facts.length, 3); // no pair is judged before the server answers
    assert.match(facts[0], /^\d+ places? to rewrite/);
    assert.match(facts[1], /^judged by/);
    assert.ok(await panel.getByRole("button", { name: "Ask Again" }).isDisabled());
    await session.screenshot("known-so-far");
    release();
    await vscode.probed("parity");
    assert.ok(await panel.getByRole("button", { name: "Ask Again" }).isEnabled());
    report = await panel.locator("main").innerText();
    assert.match(report, /parity\.py:1-12 with house-model \(/);
    assert.match(report, /if-else-flip/);
    assert.match(models.log(), /^POST \/v1\/completions 200$/m);
    await vscode.statusItem("house-model:").waitFor();
    await session.screenshot("probed-remote");
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

  step("a server asks for its key and lists its models", async () => {
    await session.changeModel(await shortModel());
    const before = session.log().length;
    // Detecting a server's capabilities is slow, and so is scoring: a short file suffices.
    writeFileSync(path.join(session.workspace, "short.py"), "value = 1\n");
    await vscode.command("View: Close All Editors");
    await until(() => vscode.quickOpen("short.py"));
    await vscode.command("Counterlens: Select Model…");
    await vscode.choice("Qwen2.5-Coder 0.5B Instruct").waitFor(SOON); // from now on the rows do not move
    await (await vscode.quickInput()).fill("Connect to"); // the list only shows as many rows as fit
    await vscode.choice("Connect to a Server…").click();
    await vscode.page.locator(".quick-input-title", { hasText: "Server Address" }).waitFor(SOON);
    await (await vscode.quickInput()).fill(models.baseUrl);
    await vscode.page.keyboard.press("Enter");
    await vscode.page.locator(".quick-input-title", { hasText: "API Key" }).waitFor(SOON);
    await session.screenshot("key");
    const box = await vscode.quickInput();
    assert.equal(await box.getAttribute("type"), "password");
    await box.fill(KEY);
    await vscode.page.keyboard.press("Enter");
    await vscode.choice("house-model").waitFor(SOON);
    await session.screenshot("listed");
    await vscode.choice("house-model").click();
    const connected = vscode.notification("Counterlens now uses house-model");
    await connected.getByRole("button", { name: "Test Connection" }).waitFor(SOON);
    await until(() => {
      assert.match(session.log().slice(before), /API key changed[\s\S]*The language server is running/);
    });
    await vscode.statusItem(/house-model:/).waitFor(SOON); // shown even before its capabilities are known
    assert.ok(!session.log().includes(KEY));
  });

  step("when the server is down, the status item says so, and the test says what to do", async () => {
    models.stop();
    await vscode.clearNotifications();
    await vscode.command("Counterlens: Test Connection");
    const message = vscode.notification("refused the connection");
    await message.waitFor();
    assert.match(await message.innerText(), /server is running/);
    await vscode.statusItem(/house-model: offline: connection refused/).waitFor(SOON);
    await session.screenshot("offline");
  });
});

function files(folder) {
  const entries = readdirSync(folder, { recursive: true }).map((name) => path.join(folder, name));
  return entries.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}
