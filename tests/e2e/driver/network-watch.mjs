// Records the network calls of a process and its descendants, as the kernel sees them (strace).
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { onPath } from "../../../scripts/setup/debian.mjs";
import { until } from "./retry.mjs";

const TRACE = "trace=connect,sendto,sendmsg,sendmmsg";

/** False, or the reason why nothing can be recorded here. */
export const cannotWatch = onPath("strace") ? false : "strace is not installed";

/**
 * @returns {Promise<{ lines: () => string[], stop: () => Promise<void> }>} the calls so far, and a function that ends
 * the recording
 */
export async function watchNetwork(pid, log) {
  rmSync(log, { force: true });
  const args = ["-f", "-e", TRACE, "-o", log, "-p", String(pid)];
  const watcher = spawn("strace", args, { stdio: ["ignore", "ignore", "pipe"] });
  process.once("exit", () => watcher.kill());
  let said = "";
  watcher.stderr.on("data", (data) => {
    said += data;
  });
  await until(() => {
    if (!/attached/.test(said)) throw new Error(`strace: ${said}`);
  });
  const lines = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n") : []);
  const stop = () =>
    new Promise((resolve) => {
      if (watcher.exitCode !== null) return resolve(); // it has ended together with the last of its processes
      watcher.once("close", resolve);
      return watcher.kill("SIGINT"); // makes strace detach from its processes
    });
  return { lines, stop };
}
