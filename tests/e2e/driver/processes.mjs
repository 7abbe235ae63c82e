// The processes of one VS Code (Linux).
import { readdirSync, readFileSync } from "node:fs";

function read(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return ""; // the process has ended
  }
}

/** The parent's process id. A program's name, in brackets before it, may itself contain spaces and brackets. */
function parent(pid) {
  const stat = read(pid, "stat");
  return Number(
    stat
      .slice(stat.lastIndexOf(")") + 1)
      .trim()
      .split(" ")[1],
  );
}

function isBelow(pid, ancestor) {
  for (let each = pid; each > 1; each = parent(each)) if (each === ancestor) return true;
  return false;
}

/** Process ids of the language servers that a code-server has started. */
export function languageServers(codeServer) {
  return below(codeServer, (args) => args.includes("serve") && args.includes("--stdio"));
}

/**
 * Pauses the model in the middle of its work, so that the state meanwhile can be inspected without a time limit.
 *
 * @template T
 * @param {() => Promise<T>} body runs while the model is paused
 */
export async function whileModelWaits(codeServer, body) {
  const models = below(codeServer, (args) => args.includes("counterlens.models.llama.worker"));
  if (models.length === 0) throw new Error("no model runs");
  for (const pid of models) process.kill(pid, "SIGSTOP");
  try {
    return await body();
  } finally {
    for (const pid of models) process.kill(pid, "SIGCONT");
  }
}

/** Process ids of the extension hosts that a code-server has started. */
export function extensionHosts(codeServer) {
  return below(codeServer, (args) => args.includes("--type=extensionHost"));
}

function below(codeServer, isMeant) {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    return isMeant(read(pid, "cmdline").split("\0")) && isBelow(pid, codeServer.pid);
  });
}

/** The environment that a process was started with. */
export function environmentOf(pid) {
  const entries = read(pid, "environ").split("\0").filter(Boolean);
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}
