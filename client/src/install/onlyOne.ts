/** A lock file that one process holds at a time. A process that was killed does not keep it. */

import * as fs from "node:fs";
import * as path from "node:path";

const HEARTBEAT_MS = 5_000;
const DEAD_MS = 4 * HEARTBEAT_MS;

/** @returns The function that releases the lock, or undefined if a live process holds it. */
export function onlyOne(file: string): (() => void) | undefined {
  if (isHeld(file)) return undefined;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, String(process.pid));
  const heartbeat = setInterval(() => {
    try {
      fs.utimesSync(file, new Date(), new Date());
    } catch {
      // removed together with its folder
    }
  }, HEARTBEAT_MS);
  return () => {
    clearInterval(heartbeat);
    fs.rmSync(file, { force: true });
  };
}

/** Whether the lock is held by a process that exists and has updated it recently. */
function isHeld(file: string): boolean {
  try {
    const holder = Number(fs.readFileSync(file, "utf8"));
    if (!(holder > 0) || Date.now() - fs.statSync(file).mtimeMs > DEAD_MS) return false;
    process.kill(holder, 0);
    return true;
  } catch {
    return false;
  }
}
