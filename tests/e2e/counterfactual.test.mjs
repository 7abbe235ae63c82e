// "Show Counterfactual…": from the hover, the code action and the cursor to the diff beside the original.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";

describe("the counterfactuals of a function", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("counterfactual", { open: "parity.py", example: "parity.py" });
    vscode = session.workbench;
    await vscode.command("View: Toggle Primary Side Bar Visibility");
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  step("the hover of the name offers them, with their changes and the reasons for refusals", async () => {
    await until(
      async () => {
        await vscode.hover("parity", { line: "def parity" });
        const offered = vscode.page.locator(".monaco-hover:not(.hidden)").getByRole("link");
        await offered.filter({ hasText: "Show counterfactual…" }).click({ timeout: 2_000 });
      },
      { ms: 60_000 },
    );
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
    await vscode.tab("parity: if-else-flip, line 9 (original ↔ counterfactual)").waitFor({ timeout: 10_000 });
    await until(async () => {
      const [original, modified] = [await vscode.difference("original"), await vscode.difference("modified")];
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
