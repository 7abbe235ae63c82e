// A Python as on a new user's machine: without counterlens or its dependencies.
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { ask } from "../../../scripts/terminal.mjs";

const PROGRAM = [
  "import importlib.util, sys, venv, ensurepip",
  "assert sys.version_info >= (3, 11) and sys.prefix == sys.base_prefix",
  "assert not any(importlib.util.find_spec(name) for name in ('counterlens', 'pygls', 'llama_cpp'))",
  "print('%d.%d' % sys.version_info[:2], sys.executable)",
].join("\n");

/**
 * Creates a folder for PATH that contains such a Python as `python3`, and nothing else.
 *
 * @returns {Promise<{ bin: string, python: string, version: string }>}
 */
export async function barePython(folder) {
  const places = (process.env.PATH ?? "").split(path.delimiter);
  for (const place of ["/usr/bin", ...places]) {
    const found = await ask(path.join(place, "python3"), ["-c", PROGRAM]);
    if (!found) continue;
    const [version, ...names] = found.split(" ");
    const python = names.join(" ");
    const bin = path.join(folder, "bin");
    rmSync(bin, { recursive: true, force: true });
    mkdirSync(bin, { recursive: true });
    symlinkSync(python, path.join(bin, "python3"));
    return { bin, python: path.join(bin, "python3"), version };
  }
  throw new Error("There is no Python 3.11 or later on the PATH that has none of the server's packages.");
}
