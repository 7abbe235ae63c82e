// Makes the README's pictures, media/editor.png and media/probe.png, from a real editor and the real model:
//   node tests/e2e/pictures.mjs
import { copyFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/paths.mjs";
import { sleep } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";

const FILE = "parity.py";
const HOVER = { word: "if", line: "if n % 2 == 0" };
const FUNCTION = "parity";

const session = await Session.start("pictures", {
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
  copyFileSync(await session.screenshot(name), path.join(root, "media", `${name}.png`));
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
} finally {
  await session.stop();
}
