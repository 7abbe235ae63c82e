// The processes of one session, found through its home folder in their environment (Linux).
import { readdirSync, readFileSync } from "node:fs";

function read(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return ""; // it has ended, or is not ours
  }
}

/** Process ids of the language servers that belong to a home. */
export function languageServers(home) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const args = read(pid, "cmdline").split("\0");
      return args.includes("serve") && args.includes("--stdio");
    })
    .filter((pid) => read(pid, "environ").split("\0").includes(`HOME=${home.folder}`))
    .map(Number);
}
