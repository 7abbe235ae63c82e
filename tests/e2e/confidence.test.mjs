// Confidence in the editor: a surprising place with its quick fixes, the chain of nodes in the hover, the granularity,
// the tree view, and a file in another language.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { EMBEDDED, Session, UNCERTAINTY } from "./driver/session.mjs";

const SCORED = { timeout: 120_000 };
const ODD = "    return zxqvkj or best";

const SOURCE = `"""Longest of all."""


def longest(words):
    """The longest of some words."""
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
${ODD}
`;

describe("confidence in the editor", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("confidence", {
      model: EMBEDDED,
      open: "grades.py",
      settings: { "editor.lightbulb.enabled": "off", ...UNCERTAINTY },
    });
    vscode = session.workbench;
    writeFileSync(path.join(session.workspace, "longest.py"), SOURCE);
    writeFileSync(
      path.join(session.workspace, "longest.js"),
      "function longest(words) {\n  return words.length > zxqvkj;\n}\n",
    );
    await vscode.statusItem(/: ready/).waitFor(SCORED);
    await until(() => vscode.quickOpen("longest.py"), { ms: 20_000 });
    await vscode.line("zxqvkj").waitFor({ timeout: 10_000 });
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  /** Chooses a quick fix with the keyboard, since the widget ignores clicks before the mouse has moved. */
  async function fix(title) {
    const widget = vscode.page.locator(".action-widget .monaco-list-row");
    await until(
      async () => {
        await vscode.page.keyboard.press("Escape");
        await vscode.click("zxqvkj", { line: ODD.trim() });
        await vscode.page.keyboard.press("Control+.");
        await widget.filter({ hasText: title }).first().waitFor({ timeout: 2_000 });
      },
      { ms: 20_000 },
    );
    const focused = vscode.page.locator(".action-widget .monaco-list-row.focused");
    for (let i = 0; i < 10 && !(await focused.first().innerText()).includes(title); i++) {
      await vscode.page.keyboard.press("ArrowDown");
    }
    assert.ok((await focused.first().innerText()).includes(title), `no ${title}`);
    await vscode.page.keyboard.press("Enter");
  }

  step("unexpected code is marked, with what the model expected", async () => {
    await until(async () => assert.ok(await vscode.markedAt("zxqvkj", { line: ODD.trim() })), { ms: 60_000 });
    await vscode.command("Problems: Focus on Problems View");
    const row = vscode.problems("did not expect").filter({ hasText: "zxqvkj" });
    await row.first().waitFor({ timeout: 10_000 });
    assert.match(await row.first().innerText(), /it expected `\S+` \d+/);
    assert.equal(await row.count(), 1);
    await vscode.command("View: Hide Panel");
  });

  step("the hover shows the chain of nodes, innermost first", async () => {
    await until(async () => {
      const text = await vscode.more("zxqvkj", { line: ODD.trim() });
      assert.match(text, /confidence\s+least certain/);
      assert.match(
        text,
        /identifier[\s\S]+boolean_operator[\s\S]+return_statement[\s\S]+function_definition/,
      );
      assert.match(text, /t expected: .+%/);
      assert.match(text, /not calibrated/);
    });
    await session.screenshot("hover");
    await vscode.leave();
  });

  step("a replacement is shown as a diff, and made if the user confirms", async () => {
    await fix("Replace with");
    const question = vscode.notification("in line 10?");
    await question.waitFor({ timeout: 10_000 });
    await until(async () => {
      assert.deepEqual((await vscode.difference("original")).changed, [ODD]);
      const [changed, ...more] = (await vscode.difference("modified")).changed;
      assert.match(changed, /^ {4}return \w+ or best$/);
      assert.doesNotMatch(changed, /zxqvkj/);
      assert.equal(more.length, 0);
    });
    await session.screenshot("replacement");
    await question.getByRole("button", { name: "Keep" }).click();
    await vscode.line(ODD.trim()).waitFor({ timeout: 10_000 });

    await fix("Replace with");
    await question.getByRole("button", { name: "Replace", exact: true }).click();
    await until(async () => {
      const text = await vscode.text();
      assert.ok(!text.includes("zxqvkj"), text);
      assert.match(text, /return \w+ or best/);
    });
    await until(() => vscode.click("best", { line: "or best" }));
    await vscode.page.keyboard.press("Control+z");
    await vscode.line(ODD.trim()).waitFor({ timeout: 10_000 });
  });

  step("a comment suppresses the mark", async () => {
    await until(async () => assert.ok(await vscode.markedAt("zxqvkj", { line: ODD.trim() })), { ms: 60_000 });
    await fix("here");
    await vscode.line("# counterlens: ignore[").waitFor({ timeout: 10_000 });
    await until(async () => assert.ok(!(await vscode.markedAt("zxqvkj", { line: ODD.trim() }))));
    await session.screenshot("ignored");
    await vscode.page.keyboard.press("Control+z");
    await until(async () => assert.ok(await vscode.markedAt("zxqvkj", { line: ODD.trim() })), { ms: 30_000 });
  });

  step("the overlay's granularity can be made coarser", async () => {
    const settings = path.join(session.workspace, ".vscode/settings.json");
    const classes = async (text) => {
      const drawn = await vscode.decorationsAt(text, { line: ODD.trim() });
      return drawn.flatMap(({ classes }) => classes.match(/ced-\S+/g) ?? []).join(" ");
    };
    const before = await classes("or");
    await vscode.command("Counterlens: Set Overlay Granularity…");
    await vscode.choice("Statement").click();
    await until(async () => {
      assert.equal(
        JSON.parse(readFileSync(settings, "utf8"))["counterlens.overlay.granularity"],
        "statement",
      );
      assert.notEqual(await classes("or"), before); // it is now part of an unexpected statement
      assert.equal(await classes("or"), await classes("return"));
    });
    await session.screenshot("statement");
  });

  step("the tree view: a click shows a node in the code, and the cursor selects its node", async () => {
    await vscode.command("Counterlens: Focus on Confidence by Syntax View");
    const rows = vscode.page
      .locator(".pane", { hasText: "Confidence by Syntax" })
      .locator(".monaco-list-row");
    const loop = rows.filter({ hasText: "for_statement" });
    await vscode.click("word", { line: "for word in words" });
    await loop.first().waitFor({ timeout: 15_000 });
    assert.match(await loop.first().innerText(), /\d+ %/);
    await until(async () =>
      assert.equal(await rows.locator("xpath=self::*[contains(@class,'selected')]").count(), 1),
    );
    await session.screenshot("tree");
    await loop.first().click();
    await vscode
      .statusItem(/selected\)/)
      .first()
      .waitFor({ timeout: 10_000 });
  });

  step("a concept is ignored in the settings of the workspace", async () => {
    await fix("in this workspace");
    await vscode.notification("are no longer marked").waitFor({ timeout: 10_000 });
    const settings = readFileSync(path.join(session.workspace, ".vscode/settings.json"), "utf8");
    assert.equal(JSON.parse(settings)["counterlens.diagnostics.ignoredConcepts"].length, 1);
    await until(async () => assert.ok(!(await vscode.markedAt("zxqvkj", { line: ODD.trim() }))));
    await vscode.clearNotifications();
  });

  step("JavaScript is scored too, without an offer to probe", async () => {
    await vscode.quickOpen("longest.js");
    await until(
      async () => assert.match(await vscode.more("words", { line: "return words" }), /member_expression/),
      { ms: 60_000 },
    );
    await session.screenshot("javascript");
    await vscode.leave();
    assert.equal(await vscode.codeLens("Probe counterfactually").count(), 0);
  });
});
