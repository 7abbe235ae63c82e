/** Lets one process at a time do something, without being held up by one that was killed while it did. */

import * as fs from "node:fs";
import * as path from "node:path";

const HEARTBEAT_MS = 5_000;
const DEAD_MS = 4 * HEARTBEAT_MS;

/** @returns what ends it, or undefined while a live process does it */
export function onlyOne(file: string): (() => void) | undefined {
  if (isHeld(file)) return undefined;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, String(process.pid));
  const beat = setInterval(() => {
    try {
      fs.utimesSync(file, new Date(), new Date());
    } catch {
      // removed with the folder around it
    }
  }, HEARTBEAT_MS);
  return () => {
    clearInterval(beat);
    fs.rmSync(file, { force: true });
  };
}

/** A process holds it that exists and was heard of lately. */
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
