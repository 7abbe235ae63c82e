// axe-core on the panels and views, in the editor's themes. "Probe Function…" and operators: the list, the growing panel,
// stopping, hover, mark and quick fix.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { seriousViolations } from "./driver/axe.mjs";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { EMBEDDED, Session, UNCERTAINTY } from "./driver/session.mjs";

const MODEL = { timeout: 600_000 };
const MODEL_MS = { ms: MODEL.timeout };
const FIX = /Replace `!=` with `==` \(\d+ %\)/;

const THEMES = {
  light: "Default Light Modern",
  dark: "Default Dark Modern",
  "high-contrast": "Default High Contrast",
  "high-contrast-light": "Default High Contrast Light",
};

/** The status text of a panel. */
const status = (panel) => panel.locator("#status").innerText();

describe("the panels of a function", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("tasks", {
      open: "parity.py",
      example: "parity.py",
      viewport: { width: 1500, height: 900 },
      machine: { "counterlens.probe.maxTokens": 16 },
    });
    vscode = session.workbench;
    await vscode.command("View: Toggle Primary Side Bar Visibility");
    await vscode.statusItem(/: ready/).waitFor(MODEL);
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  /** Writes settings of the workspace, since changes of user settings are not picked up live. */
  function choose(settings) {
    const folder = path.join(session.workspace, ".vscode");
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "settings.json"), JSON.stringify(settings));
  }

  describe("no serious accessibility violations", () => {
    /** Checks a panel in all themes, one after the other, since axe checks the visible colours. */
    async function inAllThemes(title) {
      const frame = await (await vscode.panel(title).owner().elementHandle()).contentFrame();
      const found = {};
      for (const [kind, theme] of Object.entries(THEMES)) {
        choose({ ...UNCERTAINTY, "workbench.colorTheme": theme });
        await frame.locator(`body[data-vscode-theme-kind="vscode-${kind}"]`).waitFor({ timeout: 20_000 });
        const violations = await seriousViolations(frame);
        if (violations.length > 0) found[kind] = violations;
        await session.screenshot(`${title.split(" ")[0]}-${kind}`);
      }
      assert.deepEqual(found, {});
    }

    step("the report of a probe", async () => {
      await until(() => vscode.codeLens("Probe counterfactually").first().click({ timeout: 2_000 }), {
        ms: 30_000,
      });
      await vscode.tab("Probe of parity").waitFor(MODEL);
      await vscode.panel("Probe of parity").getByRole("heading", { level: 1 }).waitFor();
      await inAllThemes("Probe of parity");
    });

    step("the dependences of a function", async () => {
      await vscode.click("parity", { line: "def parity" });
      await vscode.command("Counterlens: Show Dependences");
      const view = vscode.panel("Dependences of parity");
      await view
        .locator("g.found, g.missed, g.invented")
        .first()
        .waitFor({ state: "attached", ...MODEL });
      await inAllThemes("Dependences of parity");
    });

    step("the syntax tree diagram", async () => {
      await vscode.click("parity", { line: "def parity" });
      await vscode.command("Counterlens: Show Syntax Tree Diagram");
      await vscode.panel("Syntax").getByRole("treeitem", { name: "if_statement" }).waitFor(MODEL);
      await inAllThemes("Syntax");
    });

    step("the results of a task", async () => {
      await vscode.click("parity", { line: "def parity" });
      await vscode.command("Counterlens: Probe Function…");
      await (await vscode.quickInput()).fill("operator");
      await vscode.choice("operator").first().click();
      const panel = vscode.panel("Probes of parity");
      await panel.getByRole("heading", { level: 2 }).first().waitFor(MODEL);
      await inAllThemes("Probes of parity");
    });

    step("the views of the container", async () => {
      await vscode.command("View: Show Counterlens");
      await vscode.click("parity", { line: "def parity" });
      const views = ".part.sidebar .pane-body";
      await vscode.page.locator(`${views} .monaco-list-row`, { hasText: "operators" }).first().waitFor(MODEL);
      // The editor's rows have no space between texts that are separated visually, so that no accessible name contains
      // both.
      const without = ["label-content-name-mismatch"];
      assert.deepEqual(await seriousViolations(vscode.page, { within: views, without }), []);
      await session.screenshot("views");
    });
  });

  describe("tasks and operators", () => {
    before(async () => {
      choose({});
      await vscode.page.locator(".monaco-workbench.vs-dark").waitFor({ timeout: 20_000 });
      await vscode.command("View: Close All Editors");
      await vscode.quickOpen("parity.py");
      await vscode.command("View: Toggle Primary Side Bar Visibility");
    });

    step("the list shows every task with its purpose, and why some are not available", async () => {
      await vscode.click("parity", { line: "def parity" });
      await vscode.command("Counterlens: Probe Function…");
      // The rows of the palette, which closes meanwhile, are filled again: for a moment two have a text.
      const operators = vscode.choice("does it know which operator belongs where?").first();
      await operators.waitFor({ timeout: 60_000 });
      assert.match(await operators.textContent(), /operator/);
      await session.screenshot("list");
      const box = await vscode.quickInput();
      for (const name of ["all", "completion", "likelihood", "execution", "summary", "Whole file"]) {
        await box.fill(name); // only visible rows are in the page
        const title = vscode.choice(name).locator(".label-name");
        await title.filter({ hasText: new RegExp(`^\\W*${name}$`) }).waitFor({ timeout: 5_000 });
      }
      await box.fill("memorisation");
      await vscode.choice("counterlens.probe.corpus").waitFor({ timeout: 5_000 });
      await box.fill("");
    });

    step("results are added to one panel, and the rest can be stopped", async () => {
      await vscode.choice("all").first().click();
      const panel = vscode.panel("Probes of parity");
      await panel.getByRole("heading", { level: 1, name: "Probes of parity" }).waitFor(MODEL);
      const stop = panel.getByRole("button", { name: "Stop" });
      assert.ok(await stop.isEnabled());
      await panel.getByRole("heading", { level: 2, name: "completion" }).waitFor(MODEL);
      await session.screenshot("running");
      await stop.click();
      await until(async () => assert.match(await status(panel), /^Finished: .*cancelled/), { ms: 60_000 });
      assert.ok(await stop.isDisabled());
      await session.screenshot("stopped");
    });

    step("probing again shows the result of every task, or why it was not run", async () => {
      const panel = vscode.panel("Probes of parity");
      await panel.getByRole("button", { name: "Probe Again…" }).click();
      await vscode.choice("all").first().click({ timeout: 30_000 });
      await until(
        async () => assert.match(await status(panel), /^Finished: \d+ done, \d+ not run$/),
        MODEL_MS,
      );
      const overview = await panel.locator("#overview").innerText();
      assert.match(overview, /completion\s+done/);
      assert.match(overview, /repair\s+not run\s+.*passes its own tests/);
      const told = (task) => panel.locator(`#task-${task}`).innerText();
      assert.match(await told("completion"), /Checked before any figure: .+ own tests/);
      assert.match(await told("operator"), /The model would have written \d of 2 operators/);
      const order = await panel
        .locator("main > section[id^=task]")
        .evaluateAll((all) => all.map(({ id }) => id));
      assert.deepEqual(order.slice(0, 3), ["task-completion", "task-repair", "task-likelihood"]);
    });

    step("the page has a live region, headings and links to them, and runs only its own script", async () => {
      const panel = vscode.panel("Probes of parity");
      assert.equal(await panel.locator("#status").getAttribute("role"), "status");
      const labelled = await panel
        .locator("main > section[id^=task]")
        .evaluateAll((sections) =>
          sections.map((one) => document.getElementById(one.getAttribute("aria-labelledby"))?.tagName),
        );
      assert.ok(labelled.length >= 4);
      assert.deepEqual(new Set(labelled), new Set(["H2"]));
      const policy = await panel.locator("meta[http-equiv]").getAttribute("content");
      assert.match(policy, /^default-src 'none'; style-src [^;]+; script-src 'nonce-[^']+';/);
      assert.equal(await panel.locator("main [style], main [onclick], main [src], main script").count(), 0);
      await panel.getByRole("button", { name: "operator" }).focus();
      await vscode.page.keyboard.press("Enter");
      await until(async () =>
        assert.equal(
          await panel.locator(":focus").innerText(),
          "operator: does it know which operator belongs where?",
        ),
      );
      await session.screenshot("operator");
    });

    step("pointing at an operator shows which operators the model finds likely", async () => {
      await session.changeModel(EMBEDDED);
      await vscode.command("View: Close All Editors");
      await vscode.quickOpen("evenness.py");
      await vscode.statusItem(/: ready/).waitFor(MODEL);
      await until(
        async () => {
          const said = await vscode.hover("!=", { line: "return n % 2 != 0" });
          assert.match(said, /Which operator fits n % 2 != 0\?/);
          assert.match(said, / with == instead\. == \d+ % · != \d+(\.\d+)? %/);
        },
        { ms: 120_000, every: 1_000 },
      );
      const said = await vscode.more("!=", { line: "return n % 2 != 0" });
      assert.match(said, /!= \(current\)/);
      await session.screenshot("hover");
    });

    step(
      "if it strongly prefers another operator, there is a mark, and a fix that shows the diff",
      async () => {
        await until(async () => assert.ok(await vscode.markedAt("!=", { line: "return n % 2 != 0" })), {
          ms: 30_000,
        });
        await vscode.leave();
        await vscode.click("!=", { line: "return n % 2 != 0" });
        const offered = vscode.page.locator(".action-widget .monaco-list-row", { hasText: FIX });
        await until(
          async () => {
            await vscode.page.keyboard.press("Escape");
            await vscode.page.keyboard.press("Control+.");
            await offered.first().waitFor({ timeout: 3_000 });
          },
          { ms: 30_000 },
        );
        const focused = vscode.page.locator(".action-widget .monaco-list-row.focused").first();
        for (let i = 0; i < 10 && !FIX.test(await focused.innerText()); i++) {
          await vscode.page.keyboard.press("ArrowDown");
        }
        await vscode.page.keyboard.press("Enter");
        await vscode.notification("Replace `!=` → `==` in line 6?").waitFor({ timeout: 10_000 });
        await session.screenshot("fix");
        await vscode.notification("Replace `!=`").getByRole("button", { name: "Replace" }).click();
        await until(async () => assert.match(await vscode.text(), /return n % 2 == 0/), { ms: 10_000 });
        await until(async () => assert.ok(!(await vscode.markedAt("==", { line: "return n % 2 == 0" }))), {
          ms: 20_000,
        });
      },
    );

    step("in a light theme the panel keeps its contrast", async () => {
      choose({ "workbench.colorTheme": "Default Light Modern" });
      await vscode.page.locator(".monaco-workbench.vs").waitFor({ timeout: 20_000 });
      await vscode.click("is_even", { line: "def is_even" });
      await vscode.command("Counterlens: Probe File…");
      await vscode.choice("likelihood").first().click();
      const panel = vscode.panel("Probes of evenness.py");
      await until(async () => assert.match(await status(panel), /^Finished: /), {
        ms: 180_000,
      });
      await session.screenshot("light");
    });
  });
});
