// The main features in the editor with the real model: scores, hover, diagnostics, overlay. Confidence: a surprising
// place with its quick fixes, the chain of nodes in the hover, the granularity, the tree view, JavaScript. A probe.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { whileModelWaits } from "./driver/processes.mjs";
import { skip } from "./driver/requirements.mjs";
import { throughout, until } from "./driver/retry.mjs";
import { EMBEDDED, Session, UNCERTAINTY } from "./driver/session.mjs";
import { shortModel } from "./driver/short-model.mjs";

const SCORED = { timeout: 120_000 };
const PROBED = { timeout: 300_000 };
const ORANGE = /^rgba?\(245, 121, 58/;
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
const JAVASCRIPT = "function longest(words) {\n  return words.length > zxqvkj;\n}\n";

describe("the main features", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("editor", {
      model: EMBEDDED,
      open: "grades.py",
      files: { "longest.py": SOURCE, "longest.js": JAVASCRIPT },
      settings: { "editor.lightbulb.enabled": "off", ...UNCERTAINTY },
      machine: { "counterlens.probe.maxTokens": 24 },
    });
    vscode = session.workbench;
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  describe("a Python file in the editor", () => {
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
          drawn.some(
            ({ classes, backgroundColor }) => /\bced-/.test(classes) && ORANGE.test(backgroundColor),
          ),
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
        await vscode.clickOffer("Show counterfactual…", "longest_run", { line: "def longest_run" });
        await vscode.choice("if-else-flip").first().waitFor();
        await vscode.page.keyboard.press("Escape");
        await vscode.click("longest_run", { line: "def longest_run" });
        await vscode.page.keyboard.press("Shift+F10");
        const entries = vscode.page.locator(".monaco-menu .action-item", { hasText: "Counterlens" });
        await entries.first().waitFor();
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
      await row.first().waitFor();
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
        await vscode.statusItem(/scoring/).waitFor();
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

  describe("confidence in the editor", () => {
    before(async () => {
      await vscode.settle("File: Revert File");
      await vscode.command("View: Close All Editors");
      await vscode.clearNotifications();
      await vscode.quickOpen("longest.py");
      await vscode.line("zxqvkj").waitFor();
    });

    /** Chooses a quick fix with the keyboard, since the widget ignores clicks before the mouse has moved. */
    async function fix(title) {
      const widget = vscode.page.locator(".action-widget .monaco-list-row");
      await until(async () => {
        await vscode.page.keyboard.press("Escape");
        await vscode.click("zxqvkj", { line: ODD.trim() });
        await vscode.page.keyboard.press("Control+.");
        await widget.filter({ hasText: title }).first().waitFor({ timeout: 2_000 });
      });
      const focused = vscode.page.locator(".action-widget .monaco-list-row.focused");
      for (let i = 0; i < 10 && !(await focused.first().innerText()).includes(title); i++) {
        await vscode.page.keyboard.press("ArrowDown");
      }
      assert.ok((await focused.first().innerText()).includes(title), `no ${title}`);
      await vscode.page.keyboard.press("Enter");
    }

    step("unexpected code is marked, with what the model expected", async () => {
      await until(async () => assert.ok(await vscode.markedAt("zxqvkj", { line: ODD.trim() })));
      await vscode.command("Problems: Focus on Problems View");
      const row = vscode.problems("did not expect").filter({ hasText: "zxqvkj" });
      await row.first().waitFor();
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
      await question.waitFor();
      await until(async () => {
        assert.deepEqual((await vscode.difference("original")).changed, [ODD]);
        const [changed, ...more] = (await vscode.difference("modified")).changed;
        assert.match(changed, /^ {4}return \w+ or best$/);
        assert.doesNotMatch(changed, /zxqvkj/);
        assert.equal(more.length, 0);
      });
      await session.screenshot("replacement");
      await question.getByRole("button", { name: "Keep" }).click();
      await vscode.line(ODD.trim()).waitFor();

      await fix("Replace with");
      await question.getByRole("button", { name: "Replace", exact: true }).click();
      await until(async () => {
        const text = await vscode.text();
        assert.ok(!text.includes("zxqvkj"), text);
        assert.match(text, /return \w+ or best/);
      });
      await until(() => vscode.click("best", { line: "or best" }));
      await vscode.page.keyboard.press("Control+z");
      await vscode.line(ODD.trim()).waitFor();
    });

    step("a comment suppresses the mark", async () => {
      await until(async () => assert.ok(await vscode.markedAt("zxqvkj", { line: ODD.trim() })));
      await fix("here");
      await vscode.line("# counterlens: ignore[").waitFor();
      await until(async () => assert.ok(!(await vscode.markedAt("zxqvkj", { line: ODD.trim() }))));
      await session.screenshot("ignored");
      await vscode.page.keyboard.press("Control+z");
      await until(async () => assert.ok(await vscode.markedAt("zxqvkj", { line: ODD.trim() })));
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
        assert.notEqual(await classes("or"), before); // it is now part of an unexpected statement
        assert.equal(await classes("or"), await classes("return"));
      });
      assert.ok(!existsSync(settings), "a look around writes nothing into the repository");
      await session.screenshot("statement");
    });

    step("the tree view: a click shows a node in the code, and the cursor selects its node", async () => {
      await vscode.command("Counterlens: Focus on Confidence by Syntax View");
      const rows = vscode.page
        .locator(".pane", { hasText: "Confidence by Syntax" })
        .locator(".monaco-list-row");
      const loop = rows.filter({ hasText: "for_statement" });
      await vscode.click("word", { line: "for word in words" });
      await loop.first().waitFor();
      assert.match(await loop.first().innerText(), /\d+ %/);
      await until(async () =>
        assert.equal(await rows.locator("xpath=self::*[contains(@class,'selected')]").count(), 1),
      );
      await session.screenshot("tree");
      await loop.first().click();
      await vscode
        .statusItem(/selected\)/)
        .first()
        .waitFor();
    });

    step("a concept is ignored in the settings of the workspace", async () => {
      await fix("in this workspace");
      await vscode.notification("are no longer marked").waitFor();
      const settings = readFileSync(path.join(session.workspace, ".vscode/settings.json"), "utf8");
      assert.equal(JSON.parse(settings)["counterlens.diagnostics.ignoredConcepts"].length, 1);
      await until(async () => assert.ok(!(await vscode.markedAt("zxqvkj", { line: ODD.trim() }))));
      await vscode.clearNotifications();
    });

    step("JavaScript is scored too, without an offer to probe", async () => {
      await vscode.quickOpen("longest.js");
      // Before the file is scored, no hover appears.
      await until(async () => {
        const drawn = await vscode.decorationsAt("words", { line: "return words" });
        assert.ok(
          drawn.some(({ classes }) => /\bced-/.test(classes)),
          JSON.stringify(drawn),
        );
      });
      await until(async () =>
        assert.match(await vscode.more("words", { line: "return words" }), /member_expression/),
      );
      await session.screenshot("javascript");
      await vscode.leave();
      assert.equal(await vscode.codeLens("Probe counterfactually").count(), 0);
    });
  });

  describe("a probe", () => {
    before(async () => {
      await vscode.command("View: Close All Editors");
      await vscode.clearNotifications();
      await vscode.quickOpen("grades.py");
      writeFileSync(path.join(session.workspace, ".vscode/settings.json"), "{}"); // nothing is ignored any more
      await session.changeModel(await shortModel()); // any model has verdicts
    });

    step("the code lens probes the function, with progress and a report, and adds no problems", async () => {
      await whileModelWaits(session.server, async () => {
        await vscode.codeLens("Probe counterfactually").nth(1).click();
        await vscode.statusItem("Probing grade").waitFor();
      });
      const panel = await vscode.probed("grade", PROBED);
      await session.screenshot("probed");
      await vscode.command("Problems: Focus on Problems View");
      await vscode.problems("surprising").first().waitFor();
      assert.equal(await vscode.problems("counterfactual").count(), 0);
      await session.screenshot("probe");
      await vscode.command("View: Hide Panel");
      await panel.getByRole("heading", { name: "if-else-flip" }).waitFor();
      const draw = panel.getByRole("button", { name: "Sample 20 Completions" });
      await until(async () => assert.ok(await draw.isEnabled()), { ms: PROBED.timeout }); // near ties are followed first
      await draw.focus();
      await vscode.page.keyboard.press("Enter");
      await panel.getByText(/Sampling completions: \d+ of at most 20 per side/).waitFor();
      assert.ok(await draw.isDisabled());
      await panel
        .getByText(/sampled at temperature 0.8/)
        .first()
        .waitFor({ timeout: 120_000 });
      await session.screenshot("refining");
      await panel.getByRole("button", { name: "Show as Text" }).click();
      await vscode.tab("Counterlens Report").waitFor();
      const lines = vscode.page.locator(".part.editor .view-line", { hasText: "if-else-flip" });
      await lines.first().waitFor();
      await session.screenshot("report");
    });
  });
});
