// Runs axe-core on the panels, in the editor's themes, and on the pages for browsers.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium as playwright } from "playwright-core";
import { root, venvPython } from "../../scripts/paths.mjs";
import { chromium } from "../../scripts/setup/debian.mjs";
import { seriousViolations } from "./driver/axe.mjs";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { Session, UNCERTAINTY } from "./driver/session.mjs";

const MODEL = { timeout: 180_000 };
const THEMES = {
  light: "Default Light Modern",
  dark: "Default Dark Modern",
  "high-contrast": "Default High Contrast",
  "high-contrast-light": "Default High Contrast Light",
};

describe("the panels have no serious accessibility violations", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("accessibility", {
      open: "parity.py",
      example: "parity.py",
      viewport: { width: 1500, height: 900 },
      settings: UNCERTAINTY,
      machine: { "counterlens.probe.maxTokens": 24 },
    });
    vscode = session.workbench;
    await vscode.command("View: Toggle Primary Side Bar Visibility");
    await vscode.statusItem(/: ready/).waitFor(MODEL);
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  /** Checks a panel in all themes, one after the other, since axe checks the visible colours. */
  async function inAllThemes(title) {
    const frame = await (await vscode.panel(title).owner().elementHandle()).contentFrame();
    const found = {};
    for (const [kind, theme] of Object.entries(THEMES)) {
      wear(theme);
      await frame.locator(`body[data-vscode-theme-kind="vscode-${kind}"]`).waitFor({ timeout: 20_000 });
      const violations = await seriousViolations(frame);
      if (violations.length > 0) found[kind] = violations;
      await session.screenshot(`${title.split(" ")[0]}-${kind}`);
    }
    assert.deepEqual(found, {});
  }

  function wear(theme) {
    const folder = path.join(session.workspace, ".vscode");
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "settings.json"), JSON.stringify({ "workbench.colorTheme": theme }));
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

describe("the pages have no serious accessibility violations", { skip }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "counterlens-pages-"));
  let browser;

  before(async () => {
    browser = await playwright.launch({
      executablePath: chromium(),
      args: ["--no-sandbox", "--disable-gpu"],
    });
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const env = { ...process.env, COUNTERLENS_TRUST: "1" }; // the probed code is ours
  const python = (...args) =>
    execFileSync(venvPython, ["-m", ...args], { cwd: root, env, maxBuffer: 2 ** 26 });
  const PAGES = {
    score: (file) => python("counterlens", "score", "examples/parity.py", "--html", file),
    probe: (file) => {
      const limits = ["--mutation", "if-else-flip", "--max-tokens", "24"];
      python("counterlens", "probe", "examples/parity.py::parity", ...limits, "--html", file);
    },
    complete: (file) =>
      python("counterlens", "complete", "examples/parity.py:9", "--mutation", "if-else-flip", "--html", file),
    run: (file) => writeFileSync(file, python("tests.reports.runs")),
  };
  for (const [name, make] of Object.entries(PAGES)) {
    test(`the page of a ${name}, light and dark`, async () => {
      const file = path.join(folder, `${name}.html`);
      make(file);
      for (const colorScheme of ["light", "dark"]) {
        const page = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 900 } });
        await page.goto(`file://${file}`);
        if (name === "run") await page.locator("[data-plot] .vega-embed svg").nth(4).waitFor();
        assert.deepEqual(await seriousViolations(page), [], colorScheme);
        await page.close();
      }
    });
  }
});
