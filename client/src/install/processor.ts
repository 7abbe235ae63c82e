/** A build of llama.cpp for this processor must not be used on another one. */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";

/** Digest of the processor's features. */
export function processor(): string {
  return createHash("sha256").update(`${process.arch} ${features()}`).digest("hex").slice(0, 12);
}

function features(): string {
  try {
    const listed = /^(?:flags|Features)\s*:(.*)$/m.exec(fs.readFileSync("/proc/cpuinfo", "utf8"))?.[1];
    if (listed) return listed.trim().split(/\s+/).sort().join(" ");
  } catch {
    // not Linux
  }
  return os.cpus()[0]?.model ?? "";
}
