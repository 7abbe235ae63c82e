// Views, walkthrough, notebooks, tools for assistants, models of the editor, runs.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { client, e2e, root } from "../../scripts/paths.mjs";
import { packed } from "./driver/extensions.mjs";
import { startModelServer } from "./driver/model-server.mjs";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { Session, UNCERTAINTY } from "./driver/session.mjs";
import { shortModel } from "./driver/short-model.mjs";

const MODEL = { timeout: 240_000 };
const MODEL_MS = { ms: MODEL.timeout, every: 500 };
const SOON = { timeout: 60_000 };
const KEY = "sk-e2e-assistant";

const { contributes } = JSON.parse(readFileSync(path.join(client, "package.json"), "utf8"));

/** A notebook with a function and a call of it. */
function notebook() {
  const parity = readFileSync(path.join(root, "examples/parity.py"), "utf8");
  const cells = [parity, "print(parity(3))\n"].map((source) => {
    return { cell_type: "code", metadata: {}, execution_count: null, outputs: [], source };
  });
  const metadata = { language_info: { name: "python" } };
  return JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 });
}

describe("around the code", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;
  let models;
  const folder = path.join(e2e, "run/assistant");

  before(async () => {
    mkdirSync(folder, { recursive: true });
    models = await startModelServer({ folder, key: KEY, model: "house-model" });
    session = await Session.start("surroundings", {
      model: await shortModel({ wide: true }), // its confidence is better than chance
      settings: UNCERTAINTY,
      open: "parity.py",
      example: "parity.py",
      files: { "notes.ipynb": notebook(), "short.py": "value = 1\n" },
      viewport: { width: 1500, height: 1000 },
      // The editor's watcher can miss changes in new folders; here it always does.
      machine: { "counterlens.probe.maxTokens": 16, "files.watcherExclude": { "**/runs/**": true } },
      extensions: [await packed("assistant", folder)],
      proposed: ["counterlens-tests.assistant"],
      environment: {
        ASSISTANT_FOLDER: folder,
        ASSISTANT_MODELS: models.baseUrl,
        ASSISTANT_KEY: KEY,
        COUNTERLENS_API_KEY: KEY,
      },
    });
    vscode = session.workbench;
  });
  after(async () => {
    models?.stop();
    await session?.stop();
  });

  const step = (name, body) => test(name, () => session.witness(name, body));
  const row = (text) => vscode.page.locator(".part.sidebar .monaco-list-row", { hasText: text });
  const quickTitle = (text) => vscode.page.locator(".quick-input-title", { hasText: text });
  const dialog = () => vscode.page.locator(".monaco-dialog-box");

  /** Reads a file that the assistant's extension wrote. */
  const told = (name) => until(() => JSON.parse(readFileSync(path.join(folder, name), "utf8")), MODEL_MS);

  step("views, status, commands, hovers and the legend", async () => {
    await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(MODEL);
    await vscode.command("View: Show Counterlens");
    await vscode.click("parity", { line: "def parity" });
    await row("Confidence by Concept").waitFor(SOON);
    await row("keeps the meaning").waitFor(SOON);
    const flip = row("if-else-flip");
    await until(async () => assert.match(await flip.innerText(), /line 9 · not probed/));
    await session.screenshot("views");
    assert.match(
      await vscode.more("parity", { line: "def parity" }),
      /Raw confidence: the mean probability of its tokens for .+, not calibrated/,
    );
    await session.screenshot("hover");
    await vscode.leave();
    await vscode.codeLens("Probe counterfactually").waitFor(SOON);
    await vscode.command("Counterlens: Show Legend");
    await vscode.choice("below 1 %").waitFor(SOON);
    assert.match(await vscode.choice("below 1 %").innerText(), /strong orange, double underline/);
    await session.screenshot("legend");
    await vscode.page.keyboard.press("Escape");
  });

  step("each step of the walkthrough shows its media, and offers commands that exist", async () => {
    const [{ title, steps }] = contributes.walkthroughs;
    rmSync(path.join(folder, "commands.json"), { force: true });
    await vscode.command("Assistant: List Commands");
    const commands = new Set(await told("commands.json"));
    await vscode.command("View: Close All Editors");
    await vscode.command("Welcome: Open Walkthrough");
    await vscode.choice(title).click(SOON);
    for (const { id, description, media } of steps) {
      const shown = vscode.page.locator(`.getting-started-step[data-step-id$="#${id}"]`);
      await shown.locator(".step-title").click(SOON);
      const page = vscode.page
        .locator(".getting-started-media iframe.webview.ready")
        .contentFrame()
        .locator("iframe#active-frame")
        .contentFrame();
      if (media.svg) await page.locator("svg[role=img]").waitFor(SOON);
      else {
        const text = readFileSync(path.join(client, media.markdown), "utf8");
        await page.getByRole("heading", { name: text.match(/^## (.+)$/m)[1] }).waitFor(SOON);
      }
      await session.screenshot(`walkthrough-${id}`);
      const links = [...description.matchAll(/\]\(command:([^?)]+)/g)].map(([, command]) => command);
      assert.equal(await shown.locator(".monaco-button").count(), links.length);
      assert.deepEqual(
        links.filter((command) => !commands.has(command)),
        [],
      );
    }
    await vscode.page.getByText("Choose the model to examine").click();
    await vscode.page.locator(".getting-started-step .monaco-button", { hasText: "Select Model…" }).click();
    await quickTitle("Counterlens: Select Model").waitFor(SOON);
    await vscode.page.keyboard.press("Escape");
  });

  step("a notebook's cells are coloured, explained, mutated, and scored again after an edit", async () => {
    const cell = (number) => vscode.page.locator(".code-cell-row").nth(number);
    const drawn = (number) => cell(number).locator(".view-overlays .cdr[class*=ced-]").count();
    await vscode.command("View: Close All Editors");
    await vscode.quickOpen("notes.ipynb");
    for (const number of [0, 1]) {
      await until(
        async () => assert.ok((await drawn(number)) > 0, `cell ${number} is not coloured`),
        MODEL_MS,
      );
    }
    const word = (number, text) => cell(number).locator(".view-line span span", { hasText: text }).first();
    const hover = vscode.page.locator(".monaco-hover:not(.hidden)", { hasText: ": confidence" });
    await word(1, "parity").hover();
    await hover.waitFor(SOON);
    await session.screenshot("notebook");
    await vscode.page.mouse.move(5, 5);
    await cell(0).locator(".codelens-decoration a", { hasText: "Probe counterfactually" }).waitFor(SOON);
    await vscode.command("View: Show Counterlens");
    await cell(0).locator(".view-line").first().click();
    await row("if-else-flip").click(SOON);
    await vscode.tab("parity: if-else-flip, line 9 (original ↔ counterfactual)").waitFor(SOON);
    await session.screenshot("notebook-difference");
    await vscode.command("View: Close Editor");
    await cell(1).locator(".view-line").first().click();
    await vscode.page.keyboard.press("Control+A");
    await vscode.page.keyboard.type("total = parity(3) + zebra");
    await until(async () => {
      await vscode.page.mouse.move(5, 5);
      await word(1, "zebra").hover();
      await hover
        .getByText(/expected/)
        .first()
        .waitFor({ timeout: 5_000 });
    }, MODEL_MS);
    await vscode.page.mouse.move(5, 5);
    await vscode.command("File: Revert File");
  });

  /** Makes the assistant use a tool. Returns the text of the confirmation dialog and the result. */
  async function use(tool, input, answer) {
    rmSync(path.join(folder, "used.json"), { force: true });
    await vscode.command("Assistant: Use a Tool");
    await vscode.choice(tool).first().click();
    await (await vscode.quickInput()).fill(JSON.stringify(input));
    await vscode.page.keyboard.press("Enter");
    await dialog().waitFor(SOON);
    const asked = await dialog().innerText();
    await session.screenshot(`tool-${tool}-${answer}`);
    await dialog().locator(".monaco-button", { hasText: answer }).click();
    return { asked, ...(await told("used.json")) };
  }

  step("assistants' tools ask for confirmation, then measure and probe", async () => {
    const refused = await use("counterlens_confidence", { path: "parity.py" }, "Cancel");
    assert.match(
      refused.asked,
      /Measure the Model's Confidence in the Code\?[\s\S]*The examined model runs on this machine/,
    );
    assert.match(refused.error, /Cancel/);
    const measured = await use("counterlens_confidence", { path: "parity.py" }, "Yes");
    assert.match(measured.text, /Confidence of SmolLM2[\s\S]*\| operators \| \d+ %/);
    const subject = { path: "parity.py", function: "parity" };
    const probed = await use("counterlens_probe_function", subject, "Yes");
    assert.match(probed.asked, /parity \(parity\.py\)[\s\S]*in a sandbox/);
    assert.match(probed.text, /^# parity[\s\S]*judged by 2 doctests[\s\S]*if-else-flip/);
    const outside = await use("counterlens_confidence", { path: "/etc/hostname" }, "Yes");
    assert.match(outside.error, /no file \/etc\/hostname in the workspace/);
  });

  step(
    "a model of the editor is used after consent, and results of the last model are discarded",
    async () => {
      await vscode.command("View: Close All Editors");
      await vscode.quickOpen("parity.py");
      await vscode.codeLens(/changed the verdict|uninformative/).waitFor(SOON);
      await vscode.command("Counterlens: Select Model…");
      await vscode.choice("House Model").click(SOON);
      await vscode.statusItem(/house-model: file not scored/).waitFor(SOON);
      const lens = vscode.codeLens("Probe counterfactually");
      const offer = /^Probe counterfactually · (\d+ prompts|about \d+ (s|min))$/;
      await until(async () => assert.match(await lens.innerText(), offer));
      await vscode.click("parity", { line: "def parity" });
      await vscode.command("Counterlens: Probe Function Counterfactually");
      await dialog().waitFor(SOON);
      assert.match(await dialog().innerText(), /Send code to House Model\?[\s\S]*\(house\)/);
      await session.screenshot("editor-model-question");
      await dialog().locator(".monaco-button", { hasText: "Send Code" }).click();
      const panel = vscode.panel("Probe of parity");
      await panel
        .getByText("with house-model (the editor, completions not exact), judged by 2 doctests")
        .waitFor(MODEL);
      await panel.getByRole("button", { name: "Show as Text" }).waitFor(SOON);
      await session.screenshot("editor-model");
      assert.match(models.log(), /^POST \/v1\/chat\/completions 200$/m);
    },
  );

  step("a server is tested, with the key from the editor's environment", async () => {
    await vscode.command("View: Close All Editors");
    await vscode.quickOpen("short.py"); // meanwhile the server scores it
    session.home.writeMachineSettings({
      "counterlens.interpreter": session.interpreter,
      "counterlens.model": "remote",
      "counterlens.remote.baseUrl": models.baseUrl,
      "counterlens.remote.model": "house-model",
    });
    await vscode.statusItem(/^(?!.*not scored).*house-model:/).waitFor(SOON);
    const where = vscode.choice("Runs at 127.0.0.1: your code is sent there");
    await until(async () => {
      await vscode.page.keyboard.press("Escape"); // of the last model's test, if the settings were not read yet
      await vscode.command("Counterlens: Test Connection");
      await vscode.choice("It answers").waitFor(MODEL);
      await where.waitFor({ timeout: 1_000 }); // all rows come at once
    }, MODEL_MS);
    await session.screenshot("tested");
    assert.match(await vscode.choice("It answers").innerText(), /\d+ tokens in \d+\.\d s: after/);
    await vscode.choice("Token probabilities").waitFor();
    await vscode.page.keyboard.press("Escape");
  });

  step("an interrupted run is resumed in the view", async () => {
    const out = path.join(session.workspace, "runs/first");
    execFileSync("git", ["init", "-q", session.workspace]); // else it is an ignored folder of this repository
    const bench = [
      "-m",
      "counterlens",
      "bench",
      "--data",
      `repo:${session.workspace}`,
      "--task",
      "likelihood",
      "--model",
      await shortModel(), // any model has likelihoods
    ];
    const running = spawn(session.interpreter, [...bench, "--out", out], {
      timeout: 120_000,
      env: session.home.environment, // the user's own run, which needs no consent
    });
    const ended = new Promise((resolve) => running.once("exit", (_code, signal) => resolve(signal)));
    let said = "";
    for (const stream of [running.stdout, running.stderr]) {
      stream.on("data", (text) => {
        said += text;
        if (said.includes("texts to score")) running.kill("SIGKILL"); // at once: the whole run takes two seconds
      });
    }
    assert.equal(await ended, "SIGKILL", said);
    await vscode.command("View: Show Counterlens");
    await vscode.command("Counterlens: Refresh Runs");
    const run = row("runs/first");
    await until(async () => assert.match(await run.innerText(), /of \d+, can be resumed/), MODEL_MS);
    await run.hover();
    await run.getByRole("button", { name: "Resume Run" }).click();
    await until(async () => assert.match(await run.innerText(), /preparing|of \d+/), MODEL_MS);
    await session.screenshot("resume");
    await until(async () => assert.match(await run.innerText(), /likelihood · \d+ done/), MODEL_MS);
    await session.screenshot("resumed");
  });
});
