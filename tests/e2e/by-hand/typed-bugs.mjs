// By hand, since it needs a quiet machine: node tests/e2e/by-hand/typed-bugs.mjs [MODEL [FILE]]
// Types the functions of FILE, each of which has a plain bug, one after another into a new file, and says after how many
// seconds each one is marked at its name, if it is within a minute, and with which message. A picture of each mark is in
// tests/e2e/shots/typed-*.png.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { main, say } from "../../../scripts/terminal.mjs";
import { sleep } from "../driver/retry.mjs";
import { Session } from "../driver/session.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const [model = "qwen2.5-coder-0.5b", file = path.join(HERE, "typed-bugs.py.txt")] = process.argv.slice(2);
const PATIENCE = 60_000;

/** The first lines of the file, and each of its functions. */
function parts() {
  const [head, ...functions] = readFileSync(file, "utf8").split(/\n{3}(?=def )/);
  return { head, functions: functions.map((text) => text.trimEnd()) };
}

/** The seconds until a function is marked at its name; nothing if it is not within the patience. */
async function secondsToMark(vscode, name) {
  const began = Date.now();
  while (Date.now() - began < PATIENCE) {
    if (await vscode.markedAt(name, { line: `def ${name}` })) return (Date.now() - began) / 1000;
    await sleep(200);
  }
  return undefined;
}

await main(async () => {
  const { head, functions } = parts();
  const session = await Session.start("typed", {
    model,
    open: "helpers.py",
    files: { "helpers.py": `${head}\n` },
    settings: { "editor.autoIndent": "none", "editor.autoClosingBrackets": "never" },
    machine: { "counterlens.threads": 2 },
  });
  const { workbench: vscode, page } = session;
  let marked = 0;
  try {
    await vscode.statusItem(/: ready/).waitFor({ timeout: 120_000 });
    for (const text of functions) {
      const name = /def (\w+)/.exec(text)[1];
      await vscode.editor.locator(".view-lines").click();
      await page.keyboard.press("Control+End");
      await page.keyboard.insertText(`\n\n${text}\n`);
      const seconds = await secondsToMark(vscode, name);
      if (seconds === undefined) {
        say(`${name}: not marked`);
        continue;
      }
      marked += 1;
      const hover = await vscode.hover(name, { line: `def ${name}` });
      const message = hover.split("\n").find((line) => line.includes("disagree")) ?? hover;
      say(`${name}: ${seconds.toFixed(1)} s: ${message}`);
      await session.screenshot(name);
      await vscode.leave();
    }
  } finally {
    say(`${marked} of ${functions.length} marked`);
    await session.stop();
  }
});
