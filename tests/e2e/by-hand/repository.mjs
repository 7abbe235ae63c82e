// By hand, since it needs a quiet machine: node tests/e2e/by-hand/repository.mjs FOLDER [FUNCTIONS]
// Measures the waiting time of a user who opens a repository for the first time and probes one function after the
// other, with the command of the code lens: seconds until the report opens, until it no longer changes, and its
// headline. The functions are those of `benchmarks/editor_probes.py FOLDER`. Pictures are in
// tests/e2e/shots/repository-*.png.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { root, venvPython } from "../../../scripts/paths.mjs";
import { main, say } from "../../../scripts/terminal.mjs";
import { prepare } from "../driver/installed.mjs";
import { until } from "../driver/retry.mjs";
import { EMBEDDED, Session } from "../driver/session.mjs";

const DRAWN =
  "import json, sys; from pathlib import Path; from judges import drawn; root = Path(sys.argv[1]).resolve(); " +
  "print(json.dumps([[str(d.path.relative_to(root)), f.start_line, f.qualname] " +
  "for d, f in drawn(root, 1)[: int(sys.argv[2])]]))";
const LONG = 400_000;

await main(async () => {
  const [folder, count = "10"] = process.argv.slice(2);
  const cwd = path.join(root, "benchmarks");
  const said = execFileSync(venvPython, ["-c", DRAWN, path.resolve(folder), count], {
    cwd,
    encoding: "utf8",
  });
  const functions = JSON.parse(said);
  Object.assign(process.env, await prepare());
  const session = await Session.start("repository", {
    model: EMBEDDED,
    open: functions[0][0],
    folder: path.resolve(folder),
    viewport: { width: 1500, height: 1000 },
  });
  try {
    for (const [number, [file, line, name]] of functions.entries()) {
      const { opened, settled, headline } = await probed(session, file, line, name);
      await session.screenshot(`${number}`);
      say(`${opened.padStart(6)} ${settled.padStart(6)}  ${file}:${line} ${name}: ${headline}`);
      await session.workbench.command("View: Close All Editors");
      await session.workbench.clearNotifications();
    }
    say(
      `load ${os
        .loadavg()
        .map((each) => each.toFixed(1))
        .join(" ")}`,
    );
  } catch (error) {
    await session.screenshot("FAILED");
    throw error;
  } finally {
    await session.stop();
    rmSync(session.workspace, { recursive: true, force: true }); // its tests must not count as tests of this repository
  }
});

/** Probes the function on a line of a file, and waits for the result. */
async function probed(session, file, line, name) {
  const { workbench: vscode, page } = session;
  await page.keyboard.press("Control+P");
  await (await vscode.quickInput()).fill(file);
  await page
    .locator(`.quick-input-list .monaco-list-row[aria-label^="${path.basename(file)}"]`)
    .first()
    .click();
  await vscode.tab(path.basename(file)).waitFor();
  await page.keyboard.press("Control+G");
  await (await vscode.quickInput()).fill(`:${line}`);
  await page.keyboard.press("Enter");
  await vscode.statusItem(`Ln ${line},`).waitFor();
  await vscode
    .codeLens("Probe counterfactually")
    .filter({ visible: true })
    .first()
    .waitFor({ timeout: 60_000 });
  const began = Date.now();
  const seconds = () => ((Date.now() - began) / 1000).toFixed(1);
  await vscode.command("Counterlens: Probe Function Counterfactually");
  const report = vscode.tab(`Probe of ${name}`);
  const refused = page.locator(
    ".notification-toast .notification-list-item .codicon-error, .notification-toast .codicon-warning",
  );
  await report.or(refused.first()).first().waitFor({ timeout: LONG });
  const opened = seconds();
  if (!(await report.isVisible())) {
    const why = await page.locator(".notification-toast").allInnerTexts();
    return { opened, settled: opened, headline: why.join(" ").replace(/\s+/g, " ").slice(0, 160) };
  }
  const main = vscode.panel(`Probe of ${name}`).locator("main");
  await main.waitFor();
  // Progress is shown until the result is complete.
  await until(
    async () => {
      if (await page.locator(".notification-toast, .statusbar-item", { hasText: "Probing" }).count())
        throw new Error("in work");
    },
    { ms: LONG, every: 100 },
  );
  const headline = (await main.innerText()).replace(/\s+/g, " ").slice(0, 200);
  return { opened, settled: seconds(), headline };
}
