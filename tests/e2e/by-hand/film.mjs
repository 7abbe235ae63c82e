// By hand, since it needs a quiet machine: node tests/e2e/by-hand/film.mjs FOLDER FILE::FUNCTION… [-- MODEL]
// Probes functions of a copy of FOLDER in the editor, and says what a user sees, with the seconds since the command:
// notifications, our texts in the status bar, and the first lines of the panel, whenever one of them changes. Pictures
// are in tests/e2e/shots/film-*.png.
import { readFileSync } from "node:fs";
import path from "node:path";
import { main, say } from "../../../scripts/terminal.mjs";
import { sleep } from "../driver/retry.mjs";
import { Session } from "../driver/session.mjs";

const [folder, ...rest] = process.argv.slice(2);
const end = rest.indexOf("--");
const functions = end < 0 ? rest : rest.slice(0, end);
const model = end < 0 ? "qwen2.5-coder-0.5b" : rest[end + 1];
const LONGEST = 150_000;
let opened = functions[0].split("::")[0];

/** What is to be seen now, by its place. */
async function seen(page, panel) {
  const all = async (locator) => (await locator.allInnerTexts().catch(() => [])).join(" | ");
  const body = panel.locator("body");
  const shown = (await body.count().catch(() => 0))
    ? await body.innerText({ timeout: 500 }).catch(() => "")
    : "";
  return {
    notification: await all(page.locator(".notification-toast .notification-list-item-message")),
    status: await all(page.locator(".part.statusbar .statusbar-item", { hasText: /Counterlens|Qwen|Smol/ })),
    panel: shown.split("\n").filter(Boolean).slice(0, 14).join(" / "),
  };
}

/** Probes a function, and says what changes until the panel shows the end. */
async function film(session, file, name) {
  const { workbench: vscode, page } = session;
  if (file !== opened) await vscode.quickOpen(file.split("/").at(-1));
  opened = file;
  const lines = readFileSync(path.join(folder, file), "utf8").split("\n");
  await vscode.editor.locator(".view-lines").click();
  await page.keyboard.press("Control+G");
  await sleep(1_000);
  await page.keyboard.type(`${lines.findIndex((line) => line.startsWith(`def ${name}(`)) + 1}`);
  await page.keyboard.press("Enter");
  say(`\n${file}::${name}`);
  await vscode.command("Counterlens: Probe Function Counterfactually");
  const began = Date.now();
  const last = {};
  let pictures = 0;
  while (Date.now() - began < LONGEST) {
    for (const [place, text] of Object.entries(await seen(page, vscode.panel(`Probe of ${name}`)))) {
      if (!text || text === last[place]) continue;
      last[place] = text;
      say(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} ${place}: ${text.slice(0, 400)}`);
      if (place === "panel" && pictures < 3) await session.screenshot(`${name}-${++pictures}`);
    }
    if (
      /\bdone\b|budget allowed|Completion probe of/.test(last.panel ?? "") &&
      !/%/.test(last.notification ?? "")
    )
      break;
    await sleep(300);
  }
  await session.screenshot(`${name}-end`);
}

await main(async () => {
  const session = await Session.start("film", {
    model,
    folder,
    open: functions[0].split("::")[0],
    machine: { "counterlens.threads": 2, "counterlens.probe.budget": 60 },
  });
  try {
    await session.workbench.statusItem(/: ready/).waitFor({ timeout: 120_000 });
    for (const each of functions) await film(session, ...each.split("::"));
  } finally {
    await session.stop();
  }
});
