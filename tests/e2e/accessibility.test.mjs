// Runs axe-core on the pages for browsers.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium as playwright } from "playwright-core";
import { root, venvPython } from "../../scripts/paths.mjs";
import { chromium } from "../../scripts/setup/debian.mjs";
import { seriousViolations } from "./driver/axe.mjs";
import { skip } from "./driver/requirements.mjs";

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
