// A build of llama.cpp for this processor must not be used on another one.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import os from "node:os";

/** Digest of the processor's features. */
export function processor() {
  return createHash("sha256").update(`${process.arch} ${features()}`).digest("hex").slice(0, 12);
}

function features() {
  try {
    const listed = /^(?:flags|Features)\s*:(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1];
    if (listed) return listed.trim().split(/\s+/).sort().join(" ");
  } catch {
    // not Linux
  }
  return os.cpus()[0]?.model ?? "";
}
