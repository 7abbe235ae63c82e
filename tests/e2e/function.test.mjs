// "Show Counterfactual…": from the hover, the code action and the cursor to the diff beside the original. The views of
// the Counterlens container: the function at the cursor, its counterfactuals, runs; by mouse and keyboard. axe-core on the
// panels and views, in the editor's themes. "Probe Function…" and operators: the list, the growing panel, stopping,
// hover, mark and quick fix.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
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

describe("a function in the editor", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("function", {
      open: "parity.py",
      example: "parity.py",
      viewport: { width: 1500, height: 1000 },
      machine: { "counterlens.probe.maxTokens": 16 },
    });
    vscode = session.workbench;
    await vscode.command("View: Toggle Primary Side Bar Visibility");
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  /** Writes settings of the workspace, since changes of user settings are not picked up live. */
  function choose(settings) {
    const folder = path.join(session.workspace, ".vscode");
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "settings.json"), JSON.stringify(settings));
  }

  describe("its counterfactuals", () => {
    step("the hover of the name offers them, with their changes and the reasons for refusals", async () => {
      await vscode.clickOffer("Show counterfactual…", "parity", { line: "def parity" });
      const flip = vscode.choice("if-else-flip");
      await flip.waitFor();
      const text = await flip.innerText();
      assert.match(text, /line 9 · control flow · assumes eq-ne-consistent/);
      assert.match(text, /Negated the condition `n % 2 == 0` and swapped its branches\./);
      assert.match(text, /keeps the meaning/);
      assert.match(await vscode.choice("negate-condition").innerText(), /breaks the meaning/);
      assert.match(
        await vscode.choice("remove-conditional").innerText(),
        /There is another branch\.[\s\S]*refused/,
      );
      await session.screenshot("choices");
    });

    step("choosing one opens the diff, with Python on both sides and the changed lines marked", async () => {
      await vscode.choice("if-else-flip").click();
      await vscode.tab("parity: if-else-flip, line 9 (original ↔ counterfactual)").waitFor();
      await until(async () => {
        const [original, modified] = [
          await vscode.difference("original"),
          await vscode.difference("modified"),
        ];
        // VS Code considers `return "even"` unchanged.
        assert.deepEqual(original.changed, ["    if n % 2 == 0:", "    else:", '        return "odd"']);
        assert.deepEqual(modified.changed, ["    if n % 2 != 0:", '        return "odd"', "    else:"]);
        assert.equal(modified.language, "python");
        assert.ok(modified.colours >= 4, `${modified.colours} colours: highlighted as Python`);
      });
      await session.screenshot("difference");
    });

    step("the counterfactual is read-only", async () => {
      const { keyboard } = vscode.page;
      const before = await vscode.difference("modified");
      await keyboard.press("End");
      await keyboard.type("zzz");
      await vscode.page.locator("p", { hasText: "Cannot edit in read-only editor" }).waitFor();
      assert.deepEqual((await vscode.difference("modified")).lines, before.lines);
      await keyboard.press("Escape");
      await vscode.command("View: Close Editor");
    });

    step("the code action offers them at the cursor; a refusal gives the reason", async () => {
      await vscode.click("n % 2", { line: "if n % 2 == 0" });
      await vscode.command("Refactor...");
      await vscode.page.locator(".action-widget .focused", { hasText: "Show counterfactual…" }).waitFor();
      await vscode.page.keyboard.press("Enter");
      await vscode.choice("if-else-flip").waitFor();
      await vscode.page.locator(".quick-input-widget input.input").fill("remove-conditional");
      await vscode.choice("remove-conditional").click();
      const message = vscode.notification("No counterfactual");
      await message.waitFor();
      assert.match(await message.innerText(), /remove-conditional, line 9\): There is another branch\./);
      await vscode.clearNotifications();
    });

    step("the command offers them at the cursor, and uses unsaved edits", async () => {
      await vscode.click("even", { line: 'return "even"' });
      await vscode.page.keyboard.press("End");
      await vscode.page.keyboard.type("  # no remainder");
      await vscode.command("Counterlens: Show Counterfactual…");
      await vscode.choice("operand-swap").click();
      await vscode.tab("parity: operand-swap, line 9").waitFor();
      await until(async () => {
        const modified = await vscode.difference("modified");
        assert.deepEqual(modified.changed, ["    if 0 == n % 2:"]);
        assert.ok(modified.lines.includes('        return "even"  # no remainder'));
      });
      await vscode.command("View: Close Editor");
    });

    step("outside a function, one message says what to do", async () => {
      await vscode.page.keyboard.press("Control+End");
      await vscode.page.keyboard.type("\nx = 1\n");
      await vscode.command("Counterlens: Show Counterfactual…");
      const message = vscode.notification("there is no function here");
      await message.waitFor();
      assert.match(await message.innerText(), /Put the cursor into a function/);
      assert.equal(await vscode.page.locator(".notification-toast").count(), 1);
    });
  });

  describe("the views", () => {
    before(async () => {
      await vscode.clearNotifications();
      await vscode.command("File: Revert File");
    });

    const pane = (title) =>
      vscode.page.locator(".part.sidebar .pane", { has: vscode.page.locator(`.title:text-is("${title}")`) });
    const row = (view, text) => pane(view).locator(".monaco-list-row", { hasText: text });
    const spoken = (view, text) => row(view, text).first().getAttribute("aria-label");

    step("without a function or runs, the views say what they are for", async () => {
      await vscode.command("View: Show Counterlens");
      await pane("Runs").getByText("No evaluation run was found").waitFor();
      await vscode.quickOpen("grades.py");
      await pane("Function").getByText("The cursor is not in a function").waitFor();
      await session.screenshot("empty");
    });

    step(
      "the function at the cursor: confidence by concept, with links to the least certain places",
      async () => {
        await vscode.quickOpen("parity.py");
        await vscode.click("parity", { line: "def parity" });
        await row("Function", "operators").first().waitFor(MODEL);
        assert.match(
          await spoken("Function", "operators"),
          /^operators: \S+ % over \d+ nodes?; least certain: .+, line \d+/,
        );
        await row("Function", "Show what the model infers").waitFor();
        await row("Function", "decision").first().click();
        await vscode.statusItem(/Ln \d+, Col \d+ \(\d+ selected\)/).waitFor();
      },
    );

    step("counterfactuals are listed before they are probed, and Enter opens the diff", async () => {
      const flip = row("Counterfactuals", "if-else-flip");
      await flip.waitFor();
      assert.match(await flip.innerText(), /line 9 · not probed/);
      await session.screenshot("function");
      await flip.click();
      await vscode.tab("parity: if-else-flip, line 9 (original ↔ counterfactual)").waitFor();
      const swap = row("Counterfactuals", "operand-swap");
      await vscode.command("Counterlens: Focus on Counterfactuals View");
      await until(async () => {
        await vscode.page.keyboard.press("ArrowDown");
        assert.match((await swap.getAttribute("class")) ?? "", /focused/);
      });
      await vscode.page.keyboard.press("Enter");
      await vscode.tab("parity: operand-swap, line 9 (original ↔ counterfactual)").waitFor();
      await session.screenshot("difference");
      await vscode.command("View: Close Editor");
    });

    step(
      "a probe adds its verdicts to the view of counterfactuals, and its finding to that of the function",
      async () => {
        await vscode.quickOpen("parity.py");
        await vscode.click("parity", { line: "def parity" });
        await vscode.command("Counterlens: Probe Function Counterfactually");
        const flip = row("Counterfactuals", "if-else-flip");
        const verdict = /it held|right only on|same code as before|uninformative/;
        await until(async () => assert.match(await flip.innerText(), verdict), { ms: MODEL.timeout });
        assert.match(await spoken("Counterfactuals", "if-else-flip"), verdict);
        await vscode.command("Counterlens: Focus on Function View");
        await vscode.page.keyboard.press("End"); // only visible rows are in the page
        await row("Function", "completion").waitFor();
        await session.screenshot("probed");
      },
    );

    step(
      "asking about a repository shows the plan first, then the run, and then its report beside the code",
      async () => {
        execFileSync("git", ["init", "-q", session.workspace]); // else it is an ignored folder of this repository
        const decided = 'tasks = ["likelihood"]\npaths = ["parity.py", "grades.py"]\n';
        writeFileSync(path.join(session.workspace, "counterlens.toml"), decided);
        await vscode.command("View: Close All Editors");
        await vscode.quickOpen("parity.py");
        await vscode.command("Counterlens: Ask About This Repository…");
        const start = vscode.choice(/Ask about \d+ functions/);
        await start.waitFor(MODEL);
        assert.match(await start.innerText(), /time unknown[\s\S]*smollm2-135m/i);
        await vscode.choice("Settings: counterlens.toml").waitFor();
        await session.screenshot("plan");
        await vscode.choice("Fewer Functions, or Less Time…").click();
        await vscode.choice("2 minutes").waitFor();
        await session.screenshot("amount");
        await vscode.choice("Another Number of Functions…").click();
        await vscode.page.locator(".quick-input-message", { hasText: /A number from 1 to \d/ }).waitFor();
        await (await vscode.quickInput()).fill("1");
        await vscode.page.keyboard.press("Enter");
        const run = row("Runs", "runs/20");
        await run.waitFor(MODEL);
        await vscode.tab(/Run runs\/20/).waitFor(MODEL);
        await until(async () => assert.match(await run.innerText(), /likelihood · 1 done/));
        await vscode.tab("parity.py").waitFor();
        const page = vscode.page
          .locator("iframe.webview.ready")
          .contentFrame()
          .locator("iframe#active-frame")
          .contentFrame();
        await page.getByRole("heading", { level: 1 }).waitFor();
        assert.match(await page.locator("main").innerText(), /function of the plan is done/);
        const background = await page
          .locator("body")
          .evaluate((body) => getComputedStyle(body).backgroundColor);
        assert.equal(background, "rgb(22, 24, 28)");
        await session.screenshot("run");
      },
    );

    for (const [name, theme, shown] of [
      ["light", "Default Light Modern", ".vs"],
      ["high contrast", "Default High Contrast", ".hc-black"],
    ]) {
      step(`in a ${name} theme, shapes and words repeat the meaning of colours`, async () => {
        choose({ "workbench.colorTheme": theme });
        await vscode.page.locator(`.monaco-workbench${shown}`).waitFor();
        await row("Runs", "runs/20").waitFor();
        await session.screenshot(name.replace(" ", "-"));
      });
    }
  });

  describe("no serious accessibility violations", () => {
    /** Checks a panel in all themes, one after the other, since axe checks the visible colours. */
    async function inAllThemes(title) {
      const frame = await (await vscode.panel(title).owner().elementHandle()).contentFrame();
      const found = {};
      for (const [kind, theme] of Object.entries(THEMES)) {
        choose({ ...UNCERTAINTY, "workbench.colorTheme": theme });
        await frame.locator(`body[data-vscode-theme-kind="vscode-${kind}"]`).waitFor();
        const violations = await seriousViolations(frame);
        if (violations.length > 0) found[kind] = violations;
        await session.screenshot(`${title.split(" ")[0]}-${kind}`);
      }
      assert.deepEqual(found, {});
    }

    before(async () => {
      await vscode.command("View: Close All Editors");
      await vscode.quickOpen("parity.py");
      await vscode.command("View: Toggle Primary Side Bar Visibility");
    });

    step("the report of a probe", async () => {
      await vscode.click("parity", { line: "def parity" });
      await vscode.command("Counterlens: Probe Function Counterfactually");
      await vscode.probed("parity", MODEL);
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
      const order = await view.locator("body").evaluate((body) => {
        const top = (chosen) => body.querySelector(chosen)?.getBoundingClientRect().top;
        return [top("h1"), top("svg"), top("table")];
      });
      assert.ok(order[0] < order[1] && order[1] < order[2], `the drawing leads, figures follow: ${order}`);
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
      await vscode.command("Counterlens: Focus on Function View");
      await vscode.page.keyboard.press("Home"); // the editor's sticky rows of a scrolled tree are no children of it
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
      await vscode.page.locator(".monaco-workbench.vs-dark").waitFor();
      await vscode.command("View: Close All Editors");
      await vscode.quickOpen("parity.py");
      await vscode.command("View: Toggle Primary Side Bar Visibility");
    });

    step("the list shows every task with its purpose, and why some are not available", async () => {
      await vscode.click("parity", { line: "def parity" });
      await vscode.command("Counterlens: Probe Function…");
      // The rows of the palette, which closes meanwhile, are filled again: for a moment two have a text.
      const operators = vscode.choice("does it know which operator belongs where?").first();
      await operators.waitFor();
      assert.match(await operators.textContent(), /operator/);
      await session.screenshot("list");
      const box = await vscode.quickInput();
      for (const name of ["all", "completion", "likelihood", "execution", "summary", "Whole file"]) {
        await box.fill(name); // only visible rows are in the page
        const title = vscode.choice(name).locator(".label-name");
        await title.filter({ hasText: new RegExp(`^\\W*${name}$`) }).waitFor();
      }
      await box.fill("memorisation");
      await vscode.choice("counterlens.probe.corpus").waitFor();
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
      await until(async () => assert.match(await status(panel), /^Finished: .*cancelled/));
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
        await until(async () => assert.ok(await vscode.markedAt("!=", { line: "return n % 2 != 0" })));
        await vscode.leave();
        await vscode.click("!=", { line: "return n % 2 != 0" });
        const offered = vscode.page.locator(".action-widget .monaco-list-row", { hasText: FIX });
        await until(async () => {
          await vscode.page.keyboard.press("Escape");
          await vscode.page.keyboard.press("Control+.");
          await offered.first().waitFor({ timeout: 3_000 });
        });
        const focused = vscode.page.locator(".action-widget .monaco-list-row.focused").first();
        for (let i = 0; i < 10 && !FIX.test(await focused.innerText()); i++) {
          await vscode.page.keyboard.press("ArrowDown");
        }
        await vscode.page.keyboard.press("Enter");
        await vscode.notification("Replace `!=` → `==` in line 6?").waitFor();
        await session.screenshot("fix");
        await vscode.notification("Replace `!=`").getByRole("button", { name: "Replace" }).click();
        await until(async () => assert.match(await vscode.text(), /return n % 2 == 0/));
        await until(async () => assert.ok(!(await vscode.markedAt("==", { line: "return n % 2 == 0" }))));
      },
    );

    step("in a light theme the panel keeps its contrast", async () => {
      choose({ "workbench.colorTheme": "Default Light Modern" });
      await vscode.page.locator(".monaco-workbench.vs").waitFor();
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
