// Makes the README's pictures in media/, or those that are named, from a real editor and the real model:
//   node tests/e2e/pictures.mjs [editor] [probe] [picture]
import { copyFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/paths.mjs";
import { sleep } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";

const FILE = "parity.py";
const HOVER = { word: "if", line: "if n % 2 == 0" };
const FUNCTION = "parity";
const LARGER = "binary_search.py";
const wanted = process.argv.slice(2);

const session = await Session.start("pictures", {
  open: FILE,
  example: FILE,
  files: { [LARGER]: readFileSync(path.join(root, "examples", LARGER), "utf8") },
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
  await vscode.tab(`Probe of ${FUNCTION}`).waitFor({ timeout: 300_000 });
  await page.setViewportSize({ width: 1120, height: 640 });
  const heading = vscode.panel(`Probe of ${FUNCTION}`).getByRole("heading", { name: "if-else-flip" });
  await heading.evaluate((element) => element.scrollIntoView());
  await vscode.leave();
  await picture("probe");

  await vscode.command("View: Close All Editors");
  await page.setViewportSize({ width: 1400, height: 720 });
  await vscode.quickOpen(LARGER);
  await vscode.click("items", { line: "def binary_search" });
  await vscode.command("Counterlens: Show Syntax Picture");
  const complete = vscode.panel("Syntax").getByRole("radio", { name: "Complete" });
  await complete.focus();
  await page.keyboard.press("Space");
  await vscode
    .panel("Syntax")
    .getByRole("treeitem", { name: /^identifier .+ wanted/, selected: false })
    .first()
    .waitFor();
  await vscode.click("items", { line: "def binary_search" });
  await vscode.panel("Syntax").locator('[aria-selected="true"][aria-label^="identifier"]').waitFor();
  await page.mouse.move(5, 5);
  await picture("picture");
} finally {
  await session.stop();
}
