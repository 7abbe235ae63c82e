// "Show Counterfactual…": from the hover, the code action and the cursor to the diff beside the original. The views of
// the Counterlens container: the function at the cursor, its counterfactuals, runs; by mouse and keyboard.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";

const MODEL = { timeout: 120_000 };

describe("a function in the editor", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("counterfactual", {
      open: "parity.py",
      example: "parity.py",
      viewport: { width: 1500, height: 1000 },
      machine: { "counterlens.probe.maxTokens": 24 },
    });
    vscode = session.workbench;
    await vscode.command("View: Toggle Primary Side Bar Visibility");
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  describe("its counterfactuals", () => {
    step("the hover of the name offers them, with their changes and the reasons for refusals", async () => {
      await vscode.clickOffer("Show counterfactual…", "parity", { line: "def parity" });
      const flip = vscode.choice("if-else-flip");
      await flip.waitFor({ timeout: 10_000 });
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
      await vscode
        .tab("parity: if-else-flip, line 9 (original ↔ counterfactual)")
        .waitFor({ timeout: 10_000 });
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
      await vscode.page
        .locator("p", { hasText: "Cannot edit in read-only editor" })
        .waitFor({ timeout: 5_000 });
      assert.deepEqual((await vscode.difference("modified")).lines, before.lines);
      await keyboard.press("Escape");
      await vscode.command("View: Close Editor");
    });

    step("the code action offers them at the cursor; a refusal gives the reason", async () => {
      await vscode.click("n % 2", { line: "if n % 2 == 0" });
      await vscode.command("Refactor...");
      await vscode.page.locator(".action-widget .focused", { hasText: "Show counterfactual…" }).waitFor();
      await vscode.page.keyboard.press("Enter");
      await vscode.choice("if-else-flip").waitFor({ timeout: 10_000 });
      await vscode.page.locator(".quick-input-widget input.input").fill("remove-conditional");
      await vscode.choice("remove-conditional").click();
      const message = vscode.notification("No counterfactual");
      await message.waitFor({ timeout: 10_000 });
      assert.match(await message.innerText(), /remove-conditional, line 9\): There is another branch\./);
      await vscode.clearNotifications();
    });

    step("the command offers them at the cursor, and uses unsaved edits", async () => {
      await vscode.click("even", { line: 'return "even"' });
      await vscode.page.keyboard.press("End");
      await vscode.page.keyboard.type("  # no remainder");
      await vscode.command("Counterlens: Show Counterfactual…");
      await vscode.choice("operand-swap").click();
      await vscode.tab("parity: operand-swap, line 9").waitFor({ timeout: 10_000 });
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
      await message.waitFor({ timeout: 10_000 });
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
      await pane("Runs").getByText("No evaluation run was found").waitFor({ timeout: 20_000 });
      await vscode.quickOpen("grades.py");
      await pane("Function").getByText("The cursor is not in a function").waitFor({ timeout: 30_000 });
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
        await vscode.statusItem(/Ln \d+, Col \d+ \(\d+ selected\)/).waitFor({ timeout: 5_000 });
      },
    );

    step("counterfactuals are listed before they are probed, and Enter opens the diff", async () => {
      const flip = row("Counterfactuals", "if-else-flip");
      await flip.waitFor({ timeout: 20_000 });
      assert.match(await flip.innerText(), /line 9 · not probed/);
      await session.screenshot("function");
      await flip.click();
      await vscode
        .tab("parity: if-else-flip, line 9 (original ↔ counterfactual)")
        .waitFor({ timeout: 10_000 });
      const swap = row("Counterfactuals", "operand-swap");
      await vscode.command("Counterlens: Focus on Counterfactuals View");
      await until(async () => {
        await vscode.page.keyboard.press("ArrowDown");
        assert.match((await swap.getAttribute("class")) ?? "", /focused/);
      });
      await vscode.page.keyboard.press("Enter");
      await vscode
        .tab("parity: operand-swap, line 9 (original ↔ counterfactual)")
        .waitFor({ timeout: 10_000 });
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
        await row("Function", "completion").waitFor({ timeout: 10_000 });
        await session.screenshot("probed");
      },
    );

    step(
      "asking about a repository shows the plan first, then the run, and then its report beside the code",
      async () => {
        execFileSync("git", ["init", "-q", session.workspace]); // else it is an ignored folder of this repository
        const decided = 'tasks = ["likelihood"]\npaths = ["parity.py"]\n';
        writeFileSync(path.join(session.workspace, "counterlens.toml"), decided);
        await vscode.command("View: Close All Editors");
        await vscode.quickOpen("parity.py");
        await vscode.command("Counterlens: Ask About This Repository…");
        const start = vscode.choice("Ask about 1 function");
        await start.waitFor(MODEL);
        assert.match(await start.innerText(), /about \d+ s[\s\S]*smollm2-135m/i);
        await vscode.choice("Settings: counterlens.toml").waitFor({ timeout: 5_000 });
        await session.screenshot("plan");
        await start.click();
        const run = row("Runs", "runs/20");
        await run.waitFor(MODEL);
        await vscode.tab(/Run runs\/20/).waitFor(MODEL);
        await until(async () => assert.match(await run.innerText(), /likelihood · 1 done/), { ms: 10_000 });
        await vscode.tab("parity.py").waitFor({ timeout: 5_000 });
        const page = vscode.page
          .locator("iframe.webview.ready")
          .contentFrame()
          .locator("iframe#active-frame")
          .contentFrame();
        await page.getByRole("heading", { level: 1 }).waitFor({ timeout: 20_000 });
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
        const folder = path.join(session.workspace, ".vscode"); // changes of user settings are not picked up live
        mkdirSync(folder, { recursive: true });
        const chosen = { "workbench.colorTheme": theme };
        writeFileSync(path.join(folder, "settings.json"), JSON.stringify(chosen));
        await vscode.page.locator(`.monaco-workbench${shown}`).waitFor({ timeout: 20_000 });
        await row("Runs", "runs/20").waitFor();
        await session.screenshot(name.replace(" ", "-"));
      });
    }
  });
});
