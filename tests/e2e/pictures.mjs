// Makes the README's pictures, media/editor.png and media/probe.png, from a real editor and the real model:
//   node tests/e2e/pictures.mjs
import { copyFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../scripts/paths.mjs";
import { sleep, until } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";

const FILE = "grades.py";
const HOVER = { word: "previous", line: "if value == previous" };
const FUNCTION = "grade";
/** The pair of the report that is shown from the top of the picture on. */
const PAIR = "rename-generic  naming";

const session = await Session.start("pictures", {
  open: FILE,
  viewport: { width: 1120, height: 730 },
  settings: {
    "breadcrumbs.enabled": false,
    "editor.hover.above": false,
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
  await vscode.hover(HOVER.word, HOVER);
  await picture("editor");

  await vscode.leave();
  await vscode.click(FUNCTION, { line: `def ${FUNCTION}` });
  await vscode.command("Counterlens: Probe Function Counterfactually");
  const message = vscode.notification("Show Report");
  await message.waitFor({ timeout: 300_000 });
  await message.getByText("Show Report").click();
  await vscode.line("What the model").or(vscode.line("confidence")).first().waitFor();
  await page.mouse.move(600, 400);
  await until(
    async () => {
      const heading = await vscode.boxNow(PAIR, PAIR);
      if (heading && heading.y < 60) return;
      await page.mouse.wheel(0, heading ? heading.y - 45 : 300);
      throw new Error(`${PAIR} is not at the top yet`);
    },
    { every: 250 },
  );
  await picture("probe");
} finally {
  await session.stop();
}
