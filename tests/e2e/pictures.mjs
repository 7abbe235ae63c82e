// Makes the README's pictures in media/, or only the named ones, from a real editor and the real model:
// node tests/e2e/pictures.mjs [editor] [probe] [picture]
import { copyFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/paths.mjs";
import { sleep } from "./driver/retry.mjs";
import { EMBEDDED, Session } from "./driver/session.mjs";

const FILE = "parity.py";
const HOVER = { word: "if", line: "if n % 2 == 0" };
const FUNCTION = "parity";
const wanted = process.argv.slice(2);

const session = await Session.start("pictures", {
  model: EMBEDDED,
  open: FILE,
  example: FILE,
  viewport: { width: 1120, height: 640 },
  settings: {
    "breadcrumbs.enabled": false,
    "editor.hover.above": false,
    "editor.occurrencesHighlight": "off",
    "editor.renderLineHighlight": "none",
    "editor.stickyScroll.enabled": false,
    "workbench.layoutControl.enabled": false,
  },
});
const { workbench: vscode, page } = session;

async function picture(name) {
  await sleep(500);
  const shot = await session.screenshot(name);
  if (wanted.length === 0 || wanted.includes(name))
    copyFileSync(shot, path.join(root, "media", `${name}.png`));
}

try {
  await vscode.statusItem(/: ready/).waitFor({ timeout: 120_000 });
  await vscode.command("View: Toggle Primary Side Bar Visibility");
  await vscode.codeLens("Probe counterfactually").first().waitFor();
  await page.setViewportSize({ width: 1120, height: 510 });
  await vscode.hover(HOVER.word, HOVER);
  await picture("editor");

  await vscode.leave();
  await vscode.click(FUNCTION, { line: `def ${FUNCTION}` });
  await vscode.command("Counterlens: Probe Function Counterfactually");
  const report = await vscode.probed(FUNCTION, { timeout: 300_000 });
  await page.setViewportSize({ width: 1120, height: 640 });
  const heading = report.getByRole("heading", { name: "if-else-flip" });
  await heading.evaluate((element) => element.scrollIntoView());
  await vscode.leave();
  await picture("probe");

  await vscode.tab(`Probe of ${FUNCTION}`).click();
  await vscode.command("View: Close Editor");
  await page.setViewportSize({ width: 1400, height: 860 });
  await vscode.click(FUNCTION, { line: `def ${FUNCTION}` });
  await vscode.command("Counterlens: Show Syntax Tree Diagram");
  await vscode.tab(`Syntax of ${FUNCTION}`).click();
  const syntax = vscode.panel("Syntax");
  await syntax.getByRole("treeitem").first().waitFor();
  await vscode.command("View: Move Editor Group Down");
  await syntax.getByRole("radio", { name: "Complete" }).focus();
  await page.keyboard.press("Space");
  await syntax
    .getByRole("treeitem", { name: /^identifier/ })
    .first()
    .waitFor();
  await vscode.click("n", { line: `def ${FUNCTION}(n` });
  await page.mouse.move(5, 5);
  await picture("picture");
} finally {
  await session.stop();
}
