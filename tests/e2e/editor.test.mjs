// The main features in the editor with the real model: scores, hover, diagnostics, overlay, probe.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { whileModelWaits } from "./driver/processes.mjs";
import { skip } from "./driver/requirements.mjs";
import { throughout, until } from "./driver/retry.mjs";
import { EMBEDDED, Session, UNCERTAINTY } from "./driver/session.mjs";
import { shortModel } from "./driver/short-model.mjs";

const SCORED = { timeout: 120_000 };
const PROBED = { timeout: 300_000 };
const ORANGE = /^rgba?\(245, 121, 58/;

describe("a Python file in the editor", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("editor", {
      model: EMBEDDED,
      open: "grades.py",
      settings: UNCERTAINTY,
      machine: { "counterlens.probe.maxTokens": 24 },
    });
    vscode = session.workbench;
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  step("the status bar shows the model and when it is ready", async () => {
    await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
  });

  step("one code lens above each function offers the probe, with its expected cost", async () => {
    await until(async () => {
      const lenses = await vscode.codeLens("Probe counterfactually").allInnerTexts();
      assert.equal(lenses.length, 2);
      for (const lens of lenses) assert.match(lens, /· (about \d+ (s|min)|\d+ prompts)/);
      assert.equal(await vscode.codeLens(/./).count(), 2);
    });
  });

  step("the overlay colours and underlines unexpected code, and nothing else", async () => {
    await until(async () => {
      const drawn = await vscode.decorationsAt("previous", { line: "previous = None" });
      assert.ok(
        drawn.some(({ classes, backgroundColor }) => /\bced-/.test(classes) && ORANGE.test(backgroundColor)),
        JSON.stringify(drawn),
      );
      assert.ok(
        drawn.some((each) => ["double", "dashed"].includes(each.textDecorationStyle)),
        JSON.stringify(drawn),
      );
    });
    const drawn = await vscode.decorationsAt("return", { line: "return best" });
    assert.ok(!drawn.some(({ backgroundColor }) => ORANGE.test(backgroundColor)), JSON.stringify(drawn));
  });

  step("unexpected code is marked", async () => {
    await until(async () => {
      assert.ok(await vscode.markedAt("letter", { line: 'letter = "A"' }), "no squiggle at letter");
    });
    await session.screenshot("overlay");
  });

  step("the hover shows kind, category, confidence and what the model expected", async () => {
    await until(async () => {
      const text = await vscode.hover("current", { line: "if current > best" });
      assert.match(
        text,
        /identifier natural language: confidence \d+(\.\d+)? %\s+(It|As) expected: .+%\s+more$/,
      );
    });
    await session.screenshot("hover");
    await until(async () => {
      const text = await vscode.more("current", { line: "if current > best" });
      assert.match(text, /confidence\s+least certain/);
      assert.match(text, /identifier natural language\s+\d+(\.\d+)? %\s+current \d+/);
      assert.match(text, /comparison_operator operators/);
    });
    await session.screenshot("more");
    await vscode.leave();
  });

  step(
    "the hover of a function's name offers actions, and the context menu has one entry for Counterlens",
    async () => {
      await until(async () => {
        await vscode.hover("longest_run", { line: "def longest_run" });
        const offered = vscode.page.locator(".monaco-hover:not(.hidden)").getByRole("link");
        await offered.filter({ hasText: "Show counterfactual…" }).click({ timeout: 2_000 });
        await vscode.choice("if-else-flip").first().waitFor({ timeout: 5_000 });
      });
      await vscode.page.keyboard.press("Escape");
      await vscode.click("longest_run", { line: "def longest_run" });
      await vscode.page.keyboard.press("Shift+F10");
      const entries = vscode.page.locator(".monaco-menu .action-item", { hasText: "Counterlens" });
      await entries.first().waitFor({ timeout: 5_000 });
      assert.equal(await entries.count(), 1);
      await entries.first().hover();
      await vscode.page.locator(".monaco-menu .action-item", { hasText: /^Show Dependences$/ }).waitFor();
      await session.screenshot("menu");
      await vscode.page.keyboard.press("Escape");
      await vscode.page.keyboard.press("Escape");
    },
  );

  step("the marks are listed among the problems, with their source and reason", async () => {
    await vscode.command("Problems: Focus on Problems View");
    const row = vscode.problems("letter").filter({ hasText: "surprising" });
    await row.first().waitFor({ timeout: 10_000 });
    assert.match(await row.first().innerText(), /did not expect[\s\S]*counterlens/);
    await vscode.command("View: Hide Panel");
  });

  step("the overlay can be switched off and on again", async () => {
    const colours = async () => {
      const drawn = await vscode.decorationsAt("previous", { line: "previous = None" });
      return drawn.filter(({ backgroundColor }) => ORANGE.test(backgroundColor)).length;
    };
    assert.ok((await colours()) > 0);
    await vscode.command("Counterlens: Toggle Overlay");
    await until(async () => assert.equal(await colours(), 0));
    await vscode.click("previous", { line: "previous = None" });
    await vscode.page.keyboard.press("Control+Alt+U");
    await until(async () => assert.ok((await colours()) > 0));
  });

  step("an edit while the model is scoring leaves no stale marks behind", async () => {
    const { keyboard } = vscode.page;
    await vscode.command("Problems: Focus on Problems View");
    await vscode.click("best", { line: "return best" });
    await keyboard.press("End");
    await whileModelWaits(session.server, async () => {
      await keyboard.type("\nqwzjx = vbnmkl", { delay: 20 });
      await vscode.statusItem(/scoring/).waitFor({ timeout: 20_000 });
      await keyboard.press("Control+Shift+K");
      await until(async () => assert.doesNotMatch(await vscode.text(), /qwzjx/));
    });
    await vscode.statusItem(/ready/).waitFor(SCORED);
    await throughout(async () => assert.equal(await vscode.problems("qwzjx").count(), 0));
    await vscode.problems("letter").first().waitFor();
    await vscode.command("View: Hide Panel");
    await vscode.click("best", { line: "return best" });
    await keyboard.press("Control+Home");
    await until(async () => {
      assert.ok(await vscode.markedAt("letter", { line: 'letter = "A"' }), "no squiggle after the edit");
      const elsewhere = await vscode.markedAt("best", { line: "return best" });
      assert.ok(!elsewhere, "a squiggle where none belongs");
    });
  });

  step("the code lens probes the function, with progress and a report, and adds no problems", async () => {
    await session.changeModel(await shortModel()); // any model has verdicts
    await vscode.clearNotifications();
    await whileModelWaits(session.server, async () => {
      await vscode.codeLens("Probe counterfactually").nth(1).click();
      await vscode.statusItem("Probing grade").waitFor({ timeout: 20_000 });
    });
    await vscode.tab("Probe of grade").waitFor(PROBED);
    await session.screenshot("probed");
    await vscode.command("Problems: Focus on Problems View");
    await vscode.problems("surprising").first().waitFor({ timeout: 10_000 });
    assert.equal(await vscode.problems("counterfactual").count(), 0);
    await session.screenshot("probe");
    await vscode.command("View: Hide Panel");
    const panel = vscode.panel("Probe of grade");
    await panel.getByRole("heading", { name: "if-else-flip" }).waitFor({ timeout: 10_000 });
    const draw = panel.getByRole("button", { name: "Sample 20 Completions" });
    await until(async () => assert.ok(await draw.isEnabled()), { ms: PROBED.timeout }); // near ties are followed first
    await draw.focus();
    await vscode.page.keyboard.press("Enter");
    await panel.getByText(/Sampling completions: \d+ of at most 20 per side/).waitFor({ timeout: 60_000 });
    assert.ok(await draw.isDisabled());
    await panel
      .getByText(/sampled at temperature 0.8/)
      .first()
      .waitFor({ timeout: 120_000 });
    await session.screenshot("refining");
    await panel.getByRole("button", { name: "Show as Text" }).click();
    await vscode.tab("Counterlens Report").waitFor({ timeout: 10_000 });
    const lines = vscode.page.locator(".part.editor .view-line", { hasText: "if-else-flip" });
    await lines.first().waitFor({ timeout: 10_000 });
    await session.screenshot("report");
  });

  step("the palette has all commands", async () => {
    await vscode.quickOpen("grades.py");
    for (const title of [
      "Probe Function Counterfactually",
      "Show Counterfactual…",
      "Show Dependences",
      "Toggle Overlay",
      "Show All Uncertainty",
      "Set Overlay Granularity…",
      "Choose the Syntax Tree View…",
      "Restart Server",
      "Show Logs",
      "Set API Key for the Remote Model…",
    ]) {
      // The list only shows as many as fit, so each command is searched for separately.
      const titles = await vscode.commandsFor(`Counterlens: ${title}`);
      assert.ok(
        titles.some((each) => each.includes(`Counterlens: ${title}`)),
        `${title} among ${titles.join(" | ")}`,
      );
    }
  });
});
