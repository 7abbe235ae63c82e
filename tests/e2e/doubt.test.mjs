// Doubts with the default settings: a bug is found within seconds of the edit, verified by its test, and fixed.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { skip } from "./driver/requirements.mjs";
import { throughout, until } from "./driver/retry.mjs";
import { EMBEDDED, Session } from "./driver/session.mjs";

const SCORED = { timeout: 120_000 };
const RIGHT = "    return total / len(values)";
const WRONG = "    return len(values) / total";

const SOURCE = `"""Report on measured values."""


def average(values):
    """The average of some values.

    >>> average([2, 4])
    3.0
    >>> average([1, 1, 4])
    2.0
    """
    total = 0
    for value in values:
        total += value
${RIGHT}


def largest(values):
    """The largest of some values."""
    best = values[0]
    for value in values:
        if value > best:
            best = value
    return best
`;

const NAMES = `"""Names and words."""


def words_of(text):
    """The words of a text, in lower case."""
    found = []
    for word in text.split():
        found.append(word.lower())
    found.sort()
    return found


def upper_words(text):
    """The words of a text, in upper case."""
    found = []
    for word in text.split():
        found.append(word.upper())
    return found
`;

describe("doubts in the editor", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("doubt", {
      model: EMBEDDED,
      open: "report.py",
      files: { "report.py": SOURCE, "names.py": NAMES },
      settings: { "editor.lightbulb.enabled": "off" },
    });
    vscode = session.workbench;
    await vscode.statusItem(/: ready/).waitFor(SCORED);
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  step("correct code has no mark", async () => {
    await vscode.command("Problems: Focus on Problems View");
    await throughout(async () => assert.equal(await vscode.problems("did you mean").count(), 0));
    assert.equal(await vscode.problems("did not expect").count(), 0);
    await vscode.command("View: Hide Panel");
    await session.screenshot("clean");
  });

  step("swapped operands are marked within seconds of the edit", async () => {
    const { keyboard } = vscode.page;
    await vscode.click("total", { line: RIGHT.trim() });
    await keyboard.press("Home");
    await keyboard.press("Shift+End");
    await keyboard.insertText(WRONG.trim());
    const began = Date.now();
    await until(async () => assert.ok(await vscode.markedAt("total", { line: WRONG.trim() })), {
      ms: 60_000,
    });
    console.log(`# marked after ${Date.now() - began} ms`);
    await session.screenshot("marked");
  });

  step("the function's own test verifies the doubt, and the message says so", async () => {
    await vscode.command("Problems: Focus on Problems View");
    const row = vscode.problems("tests fail now and pass with it").first();
    await row.waitFor({ timeout: 60_000 });
    assert.match(await row.innerText(), /did you mean `total \/ len\(values\)`\?/);
    await session.screenshot("settled");
    await vscode.command("View: Hide Panel");
  });

  step("a quick fix corrects it", async () => {
    const widget = vscode.page.locator(".action-widget .monaco-list-row");
    await until(
      async () => {
        await vscode.page.keyboard.press("Escape");
        await vscode.click("total", { line: WRONG.trim() });
        await vscode.page.keyboard.press("Control+.");
        await widget.filter({ hasText: "Change to" }).first().waitFor({ timeout: 2_000 });
      },
      { ms: 20_000 },
    );
    await session.screenshot("fixes");
    await vscode.page.keyboard.press("Enter");
    await vscode.line(RIGHT.trim()).waitFor({ timeout: 10_000 });
    await until(async () => assert.ok(!(await vscode.markedAt("total", { line: RIGHT.trim() }))));
  });

  step("a bug of a silent kind is found by the function's own test", async () => {
    const { keyboard } = vscode.page;
    await vscode.click("total", { line: "total += value" });
    await keyboard.press("Home");
    await keyboard.press("Shift+End");
    await keyboard.insertText("total -= value");
    await vscode.command("Problems: Focus on Problems View");
    const row = vscode.problems("tests fail now and pass with it").first();
    await row.waitFor({ timeout: 60_000 });
    assert.match(await row.innerText(), /did you mean/);
    await session.screenshot("silent-kind");
    await vscode.command("View: Hide Panel");
  });

  step("another method of the same receiver is marked", async () => {
    await vscode.quickOpen("names.py");
    await vscode.click("append", { line: "found.append(word.upper())" });
    await vscode.page.keyboard.press("Home");
    await vscode.page.keyboard.press("Shift+End");
    await vscode.page.keyboard.insertText("found.sort(word.upper())");
    const wrong = { line: "found.sort(word.upper())" };
    await until(async () => assert.ok(await vscode.markedAt("sort", wrong)), { ms: 60_000 });
    await session.screenshot("method");
    await vscode.quickOpen("report.py");
  });

  step("all uncertainty can be shown, and hidden again", async () => {
    // With the calm overlay, the name of a definition is never coloured, however late the overlay is drawn.
    const coloured = async () =>
      (await vscode.decorationsAt("average", { line: "def average(values):" })).filter(({ classes }) =>
        /\bced-/.test(classes),
      ).length;
    assert.equal(await coloured(), 0);
    await vscode.command("Counterlens: Show All Uncertainty");
    await until(async () => assert.ok((await coloured()) > 0), { ms: 30_000 });
    await session.screenshot("everything");
    await vscode.command("Counterlens: Show All Uncertainty");
    await until(async () => assert.equal(await coloured(), 0), { ms: 30_000 });
  });
});
