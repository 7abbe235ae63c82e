// The pages for browsers, in a real one. The page of a run requests nothing, does not run the content that it shows,
// and has a filter. axe-core checks the pages of all kinds.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium as playwright } from "playwright-core";
import { root, venvPython } from "../../scripts/paths.mjs";
import { chromium } from "../../scripts/setup/debian.mjs";
import { seriousViolations } from "./driver/axe.mjs";
import { skip } from "./driver/requirements.mjs";
import { shortModel } from "./driver/short-model.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "counterlens-pages-"));
const runPage = path.join(folder, "run.html");
const scoredPage = path.join(folder, "area.html");
let browser;

// The probed code is ours; the developer's cached answers are not used. The cache of a run of all tests knows how the
// model decodes here.
const cache = process.env.COUNTERLENS_TESTS_CACHE ?? path.join(folder, "cache");
const env = { ...process.env, COUNTERLENS_TRUST: "1", XDG_CACHE_HOME: cache };
const python = (...args) => execFileSync(venvPython, ["-m", ...args], { cwd: root, env, maxBuffer: 2 ** 26 });

before(async () => {
  if (skip) return;
  writeFileSync(runPage, python("tests.reports.runs"));
  browser = await playwright.launch({
    executablePath: chromium(),
    args: ["--no-sandbox", "--disable-gpu"],
  });
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the page of a run", { skip }, () => {
  const asked = [];
  const troubles = [];
  let page;

  before(async () => {
    const context = await browser.newContext({ colorScheme: "dark", viewport: { width: 1200, height: 900 } });
    page = await context.newPage();
    page.on("request", (request) => asked.push(request.url()));
    page.on("console", (message) => troubles.push(message.text()));
    page.on("pageerror", (error) => troubles.push(error.message));
    page.on("dialog", (dialog) => troubles.push(dialog.message()));
    await page.goto(pathToFileURL(runPage).href);
    await page.locator(".plot svg").nth(4).waitFor();
  });

  test("requests only itself", () => {
    assert.equal(asked.length, 1);
    assert.deepEqual(troubles, []);
  });

  test("pairs are filtered and opened by keyboard", async () => {
    const all = await page.locator(".pair:visible").count();
    await page.locator("#filter").getByLabel("outcome").focus();
    await page.keyboard.type("right only on the original");
    const lost = page.locator(".pair:visible");
    assert.equal(await page.getByRole("status").textContent(), `${await lost.count()} pairs`);
    assert.ok((await lost.count()) > 0 && (await lost.count()) < all);
    await page.locator(".pair:visible > summary").first().focus();
    await page.keyboard.press("Enter");
    await page
      .getByText("After the counterfactual the model wrote")
      .locator("visible=true")
      .first()
      .waitFor();
    assert.match(await lost.first().innerText(), /<\/script><script>alert\(1\)/);
    assert.deepEqual(troubles, []);
  });

  test("a mark of a plot has its figures as a title", async () => {
    assert.match(await page.locator(".plot svg g title").first().textContent(), /\d+%/);
  });

  test("in print there is no filter, and the background is white", async () => {
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("#filter").isVisible(), false);
    const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(colour, "rgb(255, 255, 255)");
  });
});

describe("the page of a scored file", { skip }, () => {
  let page;

  before(async () => {
    const source = path.join(folder, "area.py");
    writeFileSync(source, "def area(r):\n    if r < 0:\n        return 0)\n    return 3 * r ** 2\n");
    python("counterlens", "score", source, "--model", await shortModel(), "--html", scoredPage); // any has scores
    page = await browser.newPage();
    await page.goto(pathToFileURL(scoredPage).href);
  });

  test("a concept links to its nodes, the least certain first", async () => {
    const link = page.getByRole("button", { name: "operators" });
    await link.focus();
    await page.keyboard.press("Enter");
    const told = page.locator("#followed");
    assert.match(await told.textContent(), /^operators: 1 of \d+$/);
    const first = await page.locator("#details").innerText();
    assert.match(first, /operators/);
    assert.ok((await page.locator(".marked").count()) > 0);
    await page.keyboard.press("Enter");
    assert.match(await told.textContent(), /^operators: 2 of \d+$/);
    assert.notEqual(await page.locator("#details").innerText(), first);
  });

  test("code that does not parse stands out, and has a link", async () => {
    await page.getByRole("button", { name: "does not parse" }).click();
    const chosen = page.getByRole("treeitem", { selected: true });
    assert.match(await chosen.innerText(), /⚠ ERROR/);
    assert.match(await page.locator("#details").innerText(), /ERROR/);
  });
});

describe("the pages have no serious accessibility violations", { skip }, () => {
  /** Makes a page of a command, with any model. */
  async function page(name, ...args) {
    const file = path.join(folder, `${name}.html`);
    python("counterlens", name, ...args, "--model", await shortModel(), "--html", file);
    return file;
  }
  const flip = ["--mutation", "if-else-flip"];
  const PAGES = {
    score: () => scoredPage,
    probe: () => page("probe", "examples/parity.py::parity", ...flip, "--max-tokens", "24"),
    complete: () => page("complete", "examples/parity.py:9", ...flip),
    run: () => runPage,
  };
  for (const [name, make] of Object.entries(PAGES)) {
    test(`the page of a ${name}, light and dark`, async () => {
      const file = await make();
      for (const colorScheme of ["light", "dark"]) {
        const shown = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 900 } });
        await shown.goto(pathToFileURL(file).href);
        assert.deepEqual(await seriousViolations(shown), [], colorScheme);
        await shown.close();
      }
    });
  }
});
