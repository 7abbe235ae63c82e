// npm run editor: VS Code on examples/ with the extension running, as the desktop application or in the browser.
import { mkdirSync, writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { packageExtension } from "./package.mjs";
import { client, examples, venvPython, vscodeTest } from "./paths.mjs";
import { codeServerEntry, setUpEndToEnd } from "./setup/code-server.mjs";
import { onPath } from "./setup/debian.mjs";
import { setUpNode } from "./setup/node.mjs";
import { setUpPython } from "./setup/python.mjs";
import { ask, main, Problem, run, say } from "./terminal.mjs";

const SETTINGS = { "counterlens.interpreter": venvPython };

await main(async () => {
  await setUpPython();
  await setUpNode();
  const desktop = hasDisplay() && onPath("code");
  return desktop ? openDesktop(desktop) : openInBrowser();
});

function hasDisplay() {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  return process.platform !== "linux" || Boolean(DISPLAY || WAYLAND_DISPLAY);
}

/** The settings are in a workspace file, so that the user's own settings do not change. */
async function openDesktop(code) {
  const { buildExtension } = await import("../client/build.mjs");
  await buildExtension();
  mkdirSync(vscodeTest, { recursive: true });
  const workspace = path.join(vscodeTest, "examples.code-workspace");
  writeFileSync(workspace, JSON.stringify({ folders: [{ path: examples }], settings: SETTINGS }, null, 2));
  say(`Opening VS Code on ${examples} (when asked, trust the folder: probes run its tests).`);
  return run(code, ["--new-window", `--extensionDevelopmentPath=${client}`, workspace]);
}

async function openInBrowser() {
  const reason = await setUpEndToEnd();
  if (reason)
    throw new Problem(`There is no desktop VS Code, and the one in the browser cannot run: ${reason}.`);
  const home = path.join(vscodeTest, "editor");
  const machine = path.join(home, "user-data/Machine");
  mkdirSync(machine, { recursive: true });
  writeFileSync(path.join(machine, "settings.json"), JSON.stringify(SETTINGS, null, 2));
  writeFileSync(path.join(home, "config.yaml"), "auth: none\n");
  const where = [
    ...["--config", path.join(home, "config.yaml")],
    ...["--user-data-dir", path.join(home, "user-data"), "--extensions-dir", path.join(home, "extensions")],
  ];
  const installed = await ask(process.execPath, [
    ...[codeServerEntry, ...where],
    ...["--install-extension", await packageExtension(), "--force"],
  ]);
  if (installed === undefined) throw new Problem("code-server refused to install the extension.");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/?folder=${encodeURIComponent(examples)}`;
  say(`\nVS Code is at ${url}\nIt has no password, since only this machine can reach it. Ctrl-C ends it.`);
  if (hasDisplay() && onPath("xdg-open")) void ask("xdg-open", [url]);
  return run(
    process.execPath,
    [
      ...[codeServerEntry, ...where, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`],
      ...["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"],
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
