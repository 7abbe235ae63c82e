// A Java method in the editor: the code lens, the probe with the tests beside it, counterfactuals and operators.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { EMBEDDED, Session } from "./driver/session.mjs";

const MODEL = { timeout: 300_000 };
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

describe("a Java method", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("java", {
      model: EMBEDDED,
      open: "Parity.java",
      files: { "Parity.java": PARITY, "ParityTest.java": TESTS },
      viewport: { width: 1500, height: 900 },
      machine: { "counterlens.probe.maxTokens": 24 },
    });
    vscode = session.workbench;
    await vscode.command("View: Toggle Primary Side Bar Visibility");
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  step("the code lens probes it, judged by the tests in the file beside it", async () => {
    await until(() => vscode.codeLens("Probe counterfactually").first().click({ timeout: 2_000 }), {
      ms: 120_000,
    });
    await vscode.tab("Probe of Parity.parity").waitFor(MODEL);
    const report = vscode.panel("Probe of Parity.parity");
    await report.getByRole("heading", { level: 1, name: "Parity.parity" }).waitFor({ timeout: 20_000 });
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
    await flip.waitFor({ timeout: 20_000 });
    await session.screenshot("choices");
    await flip.click();
    await vscode
      .tab("Parity.parity: if-else-flip, line 5 (original ↔ counterfactual)")
      .waitFor({ timeout: 20_000 });
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
