// A stamp records the inputs of an installation; equal inputs need no second installation.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

export function digest(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex");
}

export function isStamped(file, value) {
  try {
    return readFileSync(file, "utf8") === value;
  } catch {
    return false;
  }
}

export function stamp(file, value) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, value);
  renameSync(`${file}.new`, file);
}

export function unstamp(file) {
  rmSync(file, { force: true });
}
