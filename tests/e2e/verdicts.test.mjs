// Verdicts of tests on what the model finds: doubts, which are found within seconds of the edit and verified; a Java
// method, with the tests beside it; and the Test Explorer.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { skip } from "./driver/requirements.mjs";
import { throughout, until } from "./driver/retry.mjs";
import { EMBEDDED, Session } from "./driver/session.mjs";

const SCORED = { timeout: 120_000 };
const MODEL = { timeout: 300_000 };
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

const PARITY = `class Parity {
    /** Whether n is even. */
    static String parity(int n) {
        int rest = n % 2;
        if (rest == 0) {
            return "even";
        } else {
            return "odd";
        }
    }
}
`;
const TESTS = `class ParityTest {
    public static void main(String[] args) {
        if (!Parity.parity(4).equals("even")) throw new AssertionError("4 is even");
        if (!Parity.parity(7).equals("odd")) throw new AssertionError("7 is odd");
    }
}
`;

describe("verdicts of tests", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("verdicts", {
      model: EMBEDDED,
      open: "report.py",
      example: "larger.py",
      files: { "report.py": SOURCE, "names.py": NAMES, "Parity.java": PARITY, "ParityTest.java": TESTS },
      viewport: { width: 1500, height: 900 },
      settings: { "editor.lightbulb.enabled": "off", "counterlens.testExplorer.enabled": true },
      machine: { "counterlens.probe.maxTokens": 24 },
    });
    vscode = session.workbench;
    await vscode.statusItem(/: ready/).waitFor(SCORED);
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  /** Leaves what was open, and opens another file of the workspace. */
  async function goOnWith(file) {
    await vscode.settle("File: Save All Files");
    await vscode.command("View: Close All Editors");
    await vscode.clearNotifications();
    await vscode.quickOpen(file);
  }

  describe("doubts in the editor", () => {
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
      await until(async () => assert.ok(await vscode.markedAt("total", { line: WRONG.trim() })));
      console.log(`# marked after ${Date.now() - began} ms`);
      await session.screenshot("marked");
    });

    step("the function's own test verifies the doubt, and the message says so", async () => {
      await vscode.command("Problems: Focus on Problems View");
      const row = vscode.problems("tests fail now and pass with it").first();
      await row.waitFor();
      assert.match(await row.innerText(), /did you mean `total \/ len\(values\)`\?/);
      await session.screenshot("settled");
      await vscode.command("View: Hide Panel");
    });

    step("a quick fix corrects it", async () => {
      const widget = vscode.page.locator(".action-widget .monaco-list-row");
      await until(async () => {
        await vscode.page.keyboard.press("Escape");
        await vscode.click("total", { line: WRONG.trim() });
        await vscode.page.keyboard.press("Control+.");
        await widget.filter({ hasText: "Change to" }).first().waitFor({ timeout: 2_000 });
      });
      await session.screenshot("fixes");
      await vscode.page.keyboard.press("Enter");
      await vscode.line(RIGHT.trim()).waitFor();
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
      await row.waitFor();
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
      await until(async () => assert.ok(await vscode.markedAt("sort", wrong)));
      await session.screenshot("method");
      await vscode.quickOpen("report.py");
    });

    step("all uncertainty can be shown, and hidden again", async () => {
      // By default nothing is coloured.
      const coloured = async () =>
        (await vscode.decorationsAt("average", { line: "def average(values):" })).filter(({ classes }) =>
          /\bced-/.test(classes),
        ).length;
      assert.equal(await coloured(), 0);
      await vscode.command("Counterlens: Show All Uncertainty");
      await until(async () => assert.ok((await coloured()) > 0));
      await session.screenshot("everything");
      await vscode.command("Counterlens: Show All Uncertainty");
      await until(async () => assert.equal(await coloured(), 0));
      assert.ok(
        !existsSync(path.join(session.workspace, ".vscode")),
        "nothing is written into the repository",
      );
    });
  });

  describe("a Java method", () => {
    before(async () => {
      await goOnWith("Parity.java");
      await vscode.command("View: Toggle Primary Side Bar Visibility");
    });

    step("the code lens probes it, judged by the tests in the file beside it", async () => {
      await until(() => vscode.codeLens("Probe counterfactually").first().click({ timeout: 2_000 }), {
        ms: 120_000,
      });
      const report = await vscode.probed("Parity.parity", MODEL);
      const text = await report.locator("main").innerText();
      assert.match(text, /judged by 1 test/);
      assert.match(text, /if \(rest != 0\)/);
      assert.match(text, /passed/);
      assert.equal(await vscode.notification("parity").count(), 0);
      await session.screenshot("probe");
    });

    step("its counterfactuals open as diffs in Java", async () => {
      await vscode.quickOpen("Parity.java");
      await vscode.click("rest", { line: "if (rest == 0)" });
      await vscode.command("Counterlens: Show Counterfactual…");
      const flip = vscode.choice("if-else-flip");
      await flip.waitFor();
      await session.screenshot("choices");
      await flip.click();
      await vscode.tab("Parity.parity: if-else-flip, line 5 (original ↔ counterfactual)").waitFor();
      await until(async () => {
        const { changed, language } = await vscode.difference("modified");
        assert.ok(changed.includes("        if (rest != 0) {"), JSON.stringify(changed));
        assert.equal(language, "java");
      });
      await vscode.command("View: Close Editor");
    });

    step("pointing at an operator shows the model's probabilities", async () => {
      await until(
        async () => {
          await vscode.hover("==", { line: "if (rest == 0)" });
          const hover = vscode.page.locator(".monaco-hover:not(.hidden)");
          assert.match(await hover.innerText({ timeout: 2_000 }), /`?==`?[\s\S]*%/);
        },
        { ms: 120_000 },
      );
      await session.screenshot("operator");
    });
  });

  describe("test explorer: a mutation that did not hold is not a failed test", () => {
    before(() => goOnWith("larger.py"));

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
      await row("larger.py").waitFor();
      assert.equal(await row("if-else-flip").count(), 0);
      await open(row("larger.py"));
      await row(/^larger$/).waitFor();
      await open(row(/^larger$/));
      await row("if-else-flip · control flow").waitFor();
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
        await vscode.tab("Probe of larger").waitFor();
        assert.match(
          await vscode.panel("Probe of larger").locator("main").innerText(),
          /With the branches flipped/,
        );
        await vscode.command("Problems: Focus on Problems View");
        await vscode.page.locator(".markers-panel").waitFor();
        assert.equal(await vscode.problems(/counterfactual|informative/).count(), 0);
        await vscode.command("View: Hide Panel");
      },
    );

    step("after an edit, new functions are listed", async () => {
      await vscode.quickOpen("larger.py");
      await vscode.page.keyboard.press("Control+End");
      await vscode.page.keyboard.type("\ndef added(a):\nreturn a\n");
      await row(/^added$/).waitFor();
    });

    step("the refresh command lists the workspace's other Python files, without reading them", async () => {
      await vscode.command("Test: Refresh Tests");
      await row("grades.py").waitFor();
      assert.equal(await row("longest_run").count(), 0);
      await session.screenshot("refreshed");
    });
  });
});
