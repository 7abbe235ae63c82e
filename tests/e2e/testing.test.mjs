// Test Explorer: listed if enabled, resolved on demand, run by function; a mutation that did not hold is not a failed
// test.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { EMBEDDED, Session } from "./driver/session.mjs";

const MODEL = { timeout: 180_000 };

describe("test explorer", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("testing", {
      model: EMBEDDED,
      open: "larger.py",
      example: "larger.py",
      viewport: { width: 1500, height: 900 },
      settings: { "counterlens.testExplorer.enabled": true },
      machine: { "counterlens.probe.maxTokens": 24 },
    });
    vscode = session.workbench;
    await vscode.statusItem(/: ready/).waitFor(MODEL);
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));
  const rows = () => vscode.page.locator(".test-explorer .monaco-list-row");
  const row = (text) => rows().filter({ hasText: text });
  /** The text of each row for a screen reader. */
  const spoken = () => rows().evaluateAll((found) => found.map((one) => one.getAttribute("aria-label")));
  const open = async (item) => {
    await item.click();
    await vscode.page.mouse.move(900, 300); // the row's hover would cover the row below
    await vscode.page.keyboard.press("ArrowRight");
  };

  step("open files are listed; functions and mutations are resolved when they are expanded", async () => {
    await vscode.command("Testing: Focus on Test Explorer View");
    await row("larger.py").waitFor({ timeout: 15_000 });
    assert.equal(await row("if-else-flip").count(), 0);
    await open(row("larger.py"));
    await row(/^larger$/).waitFor({ timeout: 15_000 });
    await open(row(/^larger$/));
    await row("if-else-flip · control flow").waitFor({ timeout: 15_000 });
    await row("annotate-strip · not applicable: ").waitFor();
    await session.screenshot("found");
  });

  step("running a function gives each of its mutations a result, also for screen readers", async () => {
    await row(/^larger$/).hover();
    await row(/^larger$/)
      .getByRole("button", { name: /Run Test/ })
      .click();
    await until(
      async () => {
        const said = (await spoken()).join("\n");
        assert.match(said, /^if-else-flip · did not hold · control flow \(Skipped\)/m);
        assert.match(said, /^operand-swap · held · data flow \(Passed\)/m);
        assert.match(said, /^annotate-strip · not applicable: .+ \(Skipped\)/m);
      },
      { ms: 180_000, every: 500 },
    );
    assert.doesNotMatch((await spoken()).join("\n"), /Failed|Errored/);
    await session.screenshot("run");
  });

  step(
    "the result of a function that was run alone opens beside it, and is not listed as a problem",
    async () => {
      await vscode.tab("Probe of larger").waitFor({ timeout: 10_000 });
      assert.match(
        await vscode.panel("Probe of larger").locator("main").innerText(),
        /With the branches flipped/,
      );
      await vscode.command("Problems: Focus on Problems View");
      await vscode.page.locator(".markers-panel").waitFor({ timeout: 10_000 });
      assert.equal(await vscode.problems(/counterfactual|informative/).count(), 0);
      await vscode.command("View: Hide Panel");
    },
  );

  step("after an edit, new functions are listed", async () => {
    await vscode.quickOpen("larger.py");
    await vscode.page.keyboard.press("Control+End");
    await vscode.page.keyboard.type("\ndef added(a):\nreturn a\n");
    await row(/^added$/).waitFor({ timeout: 15_000 });
  });

  step("the refresh command lists the workspace's other Python files, without reading them", async () => {
    await vscode.command("Test: Refresh Tests");
    await row("grades.py").waitFor({ timeout: 15_000 });
    assert.equal(await row("longest_run").count(), 0);
    await session.screenshot("refreshed");
  });
});
