// What a process, and all that it starts, says to the network: as the kernel sees it (strace).
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { onPath } from "../../../scripts/setup/debian.mjs";
import { until } from "./retry.mjs";

const TRACE = "trace=connect,sendto,sendmsg,sendmmsg";

/** False, or why nothing can be watched here. */
export const cannotWatch = onPath("strace") ? false : "strace is not installed";

/** @returns {Promise<{ lines: () => string[], stop: () => Promise<void> }>} the calls so far; an end to it */
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
      if (watcher.exitCode !== null) return resolve(); // with the last of those
      watcher.once("close", resolve);
      return watcher.kill("SIGINT"); // it lets go of those that it watches
    });
  return { lines, stop };
}
