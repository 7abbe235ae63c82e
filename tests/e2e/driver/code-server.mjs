// Starts and stops the VS Code server.
import { spawn } from "node:child_process";
import { openSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { watching } from "./network-watch.mjs";
import { freePort } from "./ports.mjs";
import { sleep, until } from "./retry.mjs";

/**
 * @param {{ trustDialogs?: boolean, proposed?: string[], watched?: string }} options `watched`: the file that records the
 *   network calls of its processes
 * @returns {Promise<{ url: string, pid: number, stop: () => Promise<void> }>}
 */
export async function startCodeServer(home, { trustDialogs = false, proposed = [], watched } = {}) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(path.join(home.folder, "code-server.log"), "a");
  // The name of a socket has at most 107 bytes, and a clone may be deep below its root.
  const socket = path.join(os.tmpdir(), `counterlens-code-server-${port}.sock`);
  const args = home.command(
    ...["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--session-socket", socket],
    ...["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"],
    ...["--ignore-last-opened", ...(trustDialogs ? [] : ["--disable-workspace-trust"])],
    ...proposed.flatMap((id) => ["--enable-proposed-api", id]),
  );
  const options = { env: home.environment, stdio: ["ignore", log, log], detached: true };
  const [program, ...rest] = [...(watched ? watching(watched) : []), process.execPath, ...args];
  const server = spawn(program, rest, options);
  const signal = (name) => {
    try {
      return process.kill(-server.pid, name); // the process group, with the extension host and the language server
    } catch {
      return false;
    }
  };
  process.once("exit", () => signal("SIGKILL"));
  await until(async () => {
    if (!(await fetch(`${url}/healthz`)).ok) throw new Error("code-server does not answer");
  });
  async function stop() {
    signal("SIGTERM");
    for (let i = 0; i < 50 && signal(0); i++) await sleep(100);
    signal("SIGKILL");
    rmSync(socket, { force: true });
  }
  return { url, pid: server.pid, stop };
}
