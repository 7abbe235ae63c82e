// The panels: completions, the syntax tree diagram, a probe's report and a function's dependences, with a real model, the
// mouse and the keyboard.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { skip } from "./driver/requirements.mjs";
import { throughout, until } from "./driver/retry.mjs";
import { EMBEDDED, Session } from "./driver/session.mjs";
import { shortModel } from "./driver/short-model.mjs";

const MODEL = { timeout: 120_000 };

describe("the panels", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("panels", {
      model: EMBEDDED,
      open: "parity.py",
      example: "parity.py",
      viewport: { width: 1500, height: 900 },
      machine: { "counterlens.probe.maxTokens": 24 },
    });
    vscode = session.workbench;
    await vscode.command("View: Toggle Primary Side Bar Visibility");
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  async function assertStrict(page) {
    const policy = await page.locator("meta[http-equiv]").getAttribute("content");
    assert.match(policy, /^default-src 'none'; style-src [^;]+; script-src 'nonce-[^']+';/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(await page.locator("body script").count(), 1);
    assert.equal(await page.locator("main [onclick], main [src], main [href]").count(), 0);
  }

  step("the completion at the cursor is a suggestion, explained in one syntax tree", async () => {
    await vscode.click('"odd"', { line: 'return "odd"' });
    await vscode.page.keyboard.press("End");
    for (const line of ["", "def smaller(a, b):", "    if a < b:", "        return "]) {
      await vscode.page.keyboard.press("Enter");
      // The editor indents only once the rules of the language are loaded, so nothing rests on it.
      for (let level = 0; level < 3; level++) await vscode.page.keyboard.press("Shift+Tab");
      await vscode.page.keyboard.type(line);
    }
    await vscode.command("Counterlens: Complete and Explain");
    const view = vscode.panel("Completion of smaller");
    await view.locator("svg.syntax").first().waitFor(MODEL);
    assert.ok((await view.locator("svg.syntax .written").count()) > 0);
    assert.equal(await view.locator("main [style]").count(), 0);
    await vscode.page.locator(".ghost-text-decoration, .ghost-text").first().waitFor();
    await session.screenshot("suggested");
    await vscode.page.keyboard.press("Tab");
    await vscode.line("return a").waitFor();
    await vscode.command("File: Revert File");
    await until(async () => assert.equal(await vscode.line("def smaller(a, b):").count(), 0));
  });

  step("both sides of a counterfactual show where the completion departs", async () => {
    await vscode.click('"even"', { line: 'return "even"' });
    await vscode.page.keyboard.press("Home");
    await vscode.command("Counterlens: Complete and Explain");
    const view = vscode.panel("Completion of parity");
    await view.getByText("It wrote the existing code").waitFor(MODEL);
    await view.getByRole("button", { name: "Compare with a Counterfactual…" }).click();
    await vscode.choice("if-else-flip").click();
    await view.getByText("departs from the code only after the change").waitFor(MODEL);
    assert.equal(await view.locator("svg.syntax").count(), 2);
    assert.match(await view.locator("svg.syntax .departs").textContent(), /even.*here the code has odd/);
    await session.screenshot("explained");
    assert.ok(await view.getByRole("button", { name: "Show in Place" }).isDisabled());
    await vscode.command("View: Close All Editors");
    await vscode.quickOpen("parity.py");
  });

  const picture = () => vscode.panel("Syntax");
  const node = (name) => picture().getByRole("treeitem", { name });
  const ODD = /^return_statement \d+ % return "odd"/;

  step("the diagram shows the syntax tree of the function at the cursor, with confidence", async () => {
    await vscode.click("%", { line: "if n % 2" });
    await vscode.command("Counterlens: Show Syntax Tree Diagram");
    await vscode.tab("Syntax of parity").waitFor(MODEL);
    await node(/^function_definition \d+ %/).waitFor();
    await until(async () =>
      assert.equal(await node(/^binary_operator/).getAttribute("aria-selected"), "true"),
    );
    assert.equal(await node(/^if_statement/).getAttribute("aria-level"), "3");
    assert.equal(await picture().locator("#legend li").count(), 6);
    assert.equal(await picture().locator("#status").innerText(), "");
    assert.match(await picture().locator("#details").innerText(), /Concept\s+operators[\s\S]+Surprisal\s+\d/);
    await assertStrict(picture());
    await session.screenshot("picture");
  });

  step("the diagram is not drawn again when it gets the focus", async () => {
    await vscode.page.keyboard.press("Control+1");
    await node(ODD).evaluate((drawn) => drawn.setAttribute("id", "drawn"));
    await picture().locator("#details").click();
    await throughout(async () => assert.equal(await picture().locator("#drawn").count(), 1));
  });

  step("a click on a node selects its code, and the cursor marks its node", async () => {
    await node(ODD).click();
    await until(async () => assert.equal(await node(ODD).getAttribute("aria-selected"), "true"));
    await vscode.page.keyboard.press("Control+1"); // the status bar shows the position only with the focus here
    await vscode.statusItem(/Ln 12, Col 21 \(12 selected\)/).waitFor();
    await vscode.click("even", { line: 'return "even"' });
    await until(async () => {
      const marked = picture().locator('[aria-selected="true"]');
      assert.match(await marked.getAttribute("aria-label"), /^string \d+ % "even"/);
      assert.equal(await marked.getAttribute("tabindex"), "0"); // it is the tab stop
    });
  });

  step("the keyboard moves through the diagram, folds rows, and chooses the view and the scope", async () => {
    const { keyboard } = vscode.page;
    await picture().locator('[role=treeitem][tabindex="0"]').focus();
    await keyboard.press("Home");
    await keyboard.press("ArrowLeft");
    await until(async () =>
      assert.equal(await node(/^function_definition/).getAttribute("aria-expanded"), "false"),
    );
    const isFolded = async () => assert.equal(await picture().getByRole("treeitem").count(), 1);
    await until(isFolded);
    await keyboard.press("Control+1"); // the editor tells where the cursor is, which has not moved
    await throughout(isFolded);
    await picture().locator('[role=treeitem][tabindex="0"]').focus();
    await keyboard.press("ArrowRight");
    await keyboard.press("End");
    await keyboard.press("ArrowUp");
    await keyboard.press("Control+Enter"); // also moves the focus to the editor
    await vscode.statusItem(/Ln 12, Col 21 \(12 selected\)/).waitFor();
    await picture().getByRole("radio", { name: "Partial" }).focus();
    await keyboard.press("ArrowRight");
    await node(/^identifier \S+ % parity/).waitFor();
    await until(async () => assert.equal(await node(ODD).getAttribute("aria-selected"), "true"));
    await session.screenshot("picture-complete");
    await keyboard.press("ArrowRight");
    const token = picture().getByRole("option", { name: /^return \d+ %/ });
    await token.nth(1).waitFor();
    assert.equal(await token.nth(1).getAttribute("aria-selected"), "true");
    await session.screenshot("picture-sequence");
    await keyboard.press("ArrowLeft");
    await keyboard.press("ArrowLeft");
    await picture().getByRole("radio", { name: "Function" }).focus();
    await keyboard.press("ArrowRight");
    await node(/^module/).waitFor();
    await keyboard.press("ArrowLeft");
  });

  step(
    "after an edit the diagram says that the code has changed, until the diagram is drawn again",
    async () => {
      const status = picture().locator("#status");
      await status.evaluate((element) => {
        window.said = [];
        new MutationObserver(() => window.said.push(element.textContent)).observe(element, {
          childList: true,
        });
      });
      await vscode.click('"odd"', { line: 'return "odd"' });
      await vscode.page.keyboard.press("End");
      await vscode.page.keyboard.type(" + zxqvkj");
      await node(/^binary_operator \S+ % "odd" \+ zxqvkj/).waitFor(MODEL);
      const said = await status.evaluate(() => window.said);
      assert.match(said[0], /^The code has changed since/);
      assert.equal(said.at(-1), "");
      for (let i = 0; i < 9; i++) await vscode.page.keyboard.press("Backspace");
      await node(ODD).waitFor(MODEL);
    },
  );

  step("a probe opens its report beside the code: sentence, verdicts, evidence, completions", async () => {
    await vscode.settle("File: Revert File");
    await vscode.command("View: Close All Editors");
    await vscode.quickOpen("parity.py");
    await until(() => vscode.codeLens("Probe counterfactually").first().click({ timeout: 2_000 }));
    const report = await vscode.probed("parity", MODEL);
    const text = await report.locator("main").innerText();
    assert.match(text, /With the branches flipped, the model/);
    assert.match(text, /After the counterfactual the model wrote/);
    assert.match(
      text,
      /Doctest, \d+ cases?; agrees with the original on \d+ inputs? like those of the tests(, and on \d+ others \([^)]+\))?; the tests (fail for|pass) \d+ of \d+ cheats/,
    );
    assert.equal(await vscode.notification("parity").count(), 0);
    await session.screenshot("probe");
  });

  step("the page may run and load only its own script and style", async () => {
    const report = vscode.panel("Probe of parity");
    await assertStrict(report);
    assert.equal(await report.locator("main [style]").count(), 0);
  });

  step("its buttons open the diff of a pair, and of the model's completions", async () => {
    const report = vscode.panel("Probe of parity");
    // At the end of the probe, which follows near ties after the verdicts, its report comes to the front.
    const draw = report.getByRole("button", { name: "Sample 20 Completions" });
    await until(async () => assert.ok(await draw.isEnabled()), { ms: MODEL.timeout });
    await report.getByRole("button", { name: "Open Difference: if-else-flip" }).click();
    await vscode.tab("parity: if-else-flip, line 9 (original ↔ counterfactual)").waitFor();
    await until(async () => {
      const { changed } = await vscode.difference("modified");
      assert.ok(changed.includes("    if n % 2 != 0:"), JSON.stringify(changed));
    });
    await session.screenshot("difference");
    await vscode.tab("Probe of parity").click();
    const wrote = report.getByRole("button", { name: "Compare What It Wrote: if-else-flip" });
    await wrote.focus();
    await vscode.page.keyboard.press("Enter");
    await vscode.tab("parity: written after the original").waitFor();
    await vscode.command("View: Close All Editors");
    await vscode.quickOpen("parity.py");
  });

  step("dependences are drawn with the model's inferences, and summarised for the function", async () => {
    await session.changeModel(await shortModel()); // any model has inferences
    await vscode.click("parity", { line: "def parity" });
    await vscode.command("Counterlens: Show Dependences");
    const view = vscode.panel("Dependences of parity");
    await view.getByRole("heading", { level: 1 }).waitFor();
    await until(async () => assert.equal(await view.locator("#status").innerText(), ""), {
      ms: MODEL.timeout,
    });
    const inferred = view.locator("g.found, g.missed, g.invented, g.beyond");
    await inferred.first().waitFor({ state: "attached" });
    assert.equal(await view.locator("g.true").count(), 0);
    assert.match(await view.locator("main").innerText(), /shows \d+ of \d+, and \d+ that do(es)? not exist/);
    await session.screenshot("dependences");
  });

  step("each kind of edge has its own line style besides its colour", async () => {
    const view = vscode.panel("Dependences of parity");
    const drawn = await view.locator(".arcs g").evaluateAll((arcs) =>
      arcs.map((arc) => {
        const { stroke, strokeDasharray } = getComputedStyle(arc.querySelector("path"));
        return [arc.classList[0], `${stroke} ${strokeDasharray}`];
      }),
    );
    const styles = new Map(drawn);
    assert.equal(new Set(styles.values()).size, styles.size, JSON.stringify(drawn));
    const dashes = [...styles.values()].map((style) => style.replace(/^rgba?\([^)]*\) /, ""));
    assert.equal(new Set(dashes).size, styles.size, JSON.stringify(drawn));
  });

  step(
    "the keyboard moves between lines, which are announced with their dependences and shown in the code",
    async () => {
      const view = vscode.panel("Dependences of parity");
      const lines = view.locator(".listing button");
      await lines.first().focus();
      await vscode.page.keyboard.press("End");
      const last = lines.last();
      await until(async () => assert.ok(await last.evaluate((line) => line === document.activeElement)));
      const told = await last.evaluate((line) =>
        line
          .getAttribute("aria-describedby")
          .split(" ")
          .map((id) => document.getElementById(id).textContent)
          .join(" "),
      );
      assert.match(told, /decided by line 9/);
      assert.ok((await view.locator(".arcs g.faint").count()) > 0);
      await session.screenshot("line");
      await vscode.page.keyboard.press("Enter");
      await vscode.statusItem(/Ln 12, Col 1/).waitFor();
    },
  );

  step("the model is prompted pair by pair, or about indirect dependences, as the page says", async () => {
    const view = vscode.panel("Dependences of parity");
    const asked = {
      "Ask Pair by Pair": /one pair at a time\./,
      "Ask about Indirect Dependences": /CoRe's question/,
    };
    for (const [name, told] of Object.entries(asked)) {
      await view.getByRole("button", { name }).focus();
      await vscode.page.keyboard.press("Enter");
      await until(async () => assert.match(await view.locator("main").innerText(), told), {
        ms: MODEL.timeout,
      });
      assert.equal(await view.locator("#status").innerText(), "");
      assert.ok((await view.locator(".arcs g").count()) >= 3);
      await session.screenshot(name.split(" ")[1].toLowerCase().replace(/\W/g, ""));
    }
  });

  step("a Java method is analysed, with the model's inferences", async () => {
    const text = ["class Most {", "    int most(int[] values) {", "        int most = 0;"];
    text.push(
      "        for (int value : values)",
      "            if (value > most)",
      "                most = value;",
    );
    text.push("        return most;", "    }", "}", "");
    writeFileSync(path.join(session.workspace, "Most.java"), text.join("\n"));
    await vscode.page.keyboard.press("Control+1");
    await until(() => vscode.quickOpen("Most.java"));
    await vscode.click("value", { line: "if (value > most)" });
    await vscode.command("Counterlens: Show Dependences");
    const view = vscode.panel("Dependences of Most.most");
    await view.getByRole("heading", { level: 1, name: "Most.most" }).waitFor();
    assert.match(await view.locator("main").innerText(), /decided by line 5/);
    await until(async () => assert.equal(await view.locator("#status").innerText(), ""), {
      ms: MODEL.timeout,
    });
    const inferred = view.locator("g.found, g.missed, g.invented, g.beyond");
    await inferred.first().waitFor({ state: "attached" });
  });

  step("outside all functions, the module's own statements are analysed", async () => {
    const text = 'limit = 3\nif limit > 2:\n    name = "many"\nelse:\n    name = "few"\nprint(name)\n';
    writeFileSync(path.join(session.workspace, "amount.py"), text);
    await vscode.page.keyboard.press("Control+1"); // the editor group beside the panel's
    await until(() => vscode.quickOpen("amount.py"));
    await vscode.click("limit", { line: "if limit > 2" });
    await vscode.command("Counterlens: Show Dependences");
    const view = vscode.panel("Dependences of <module>");
    await view.getByRole("heading", { level: 1, name: "module" }).waitFor(); // set after the title
    await until(async () => assert.equal(await view.locator("#status").innerText(), ""), {
      ms: MODEL.timeout,
    });
    assert.match(await view.locator("main").innerText(), /decided by line 2/);
    await session.screenshot("module");
    await vscode.page.keyboard.press("Control+1");
    await vscode.quickOpen("parity.py");
    await vscode.click("parity", { line: "def parity" });
    await vscode.command("Counterlens: Show Dependences");
    const again = vscode.panel("Dependences of parity");
    await again.getByRole("heading", { level: 1, name: "parity" }).waitFor();
    await until(async () => assert.equal(await again.locator("#status").innerText(), ""), {
      ms: MODEL.timeout,
    });
  });

  step("after an edit the panel says that the file has changed since", async () => {
    await vscode.click("even", { line: 'return "even"' });
    await vscode.page.keyboard.press("End");
    await vscode.page.keyboard.type("  # so");
    const status = vscode.panel("Dependences of parity").locator("#status");
    await until(async () => assert.equal(await status.innerText(), "The file has changed since."));
  });

  step("without a model the true dependences are shown, with the reason why there is no more", async () => {
    await vscode.command("Counterlens: Show Syntax Tree Diagram");
    await picture().getByRole("treeitem").first().waitFor(MODEL);
    const model = path.join(session.workspace, "missing.gguf");
    session.home.writeMachineSettings({
      "counterlens.interpreter": session.interpreter,
      "counterlens.model": model,
    });
    const view = vscode.panel("Dependences of parity");
    await until(async () => {
      await vscode.click("parity", { line: "def parity" });
      await vscode.command("Counterlens: Show Dependences");
      await until(async () => assert.match(await view.locator("#status").innerText(), /missing\.gguf/), {
        ms: 3_000,
      });
    });
    assert.equal(await view.locator("g.true").count(), 3);
    assert.equal(await view.locator("g.found, g.missed, g.invented").count(), 0);
    await session.screenshot("no-model");
    await vscode.tab("Syntax of parity").click();
    await until(async () => assert.match(await picture().locator("#status").innerText(), /^No confidence: /));
    assert.equal(await picture().getByRole("treeitem").count(), 0);
  });
});
