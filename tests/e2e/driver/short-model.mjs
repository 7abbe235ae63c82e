// The embedded model, shortened, as a file: for tests in which a model has to answer, no matter what. It costs a tenth.
import { existsSync, mkdirSync, renameSync } from "node:fs";
import path from "node:path";
import { e2e, venvPython } from "../../../scripts/paths.mjs";
import { run } from "../../../scripts/terminal.mjs";

const FILE = path.join(e2e, "run/short-model/SmolLM2-135M-short.gguf");

/** @returns {Promise<string>} its path; it is written once */
export async function shortModel() {
  if (existsSync(FILE)) return FILE;
  mkdirSync(path.dirname(FILE), { recursive: true });
  const written = `${FILE}.${process.pid}`;
  const code = await run(venvPython, ["-m", "tests.models.llama.shortened", written]);
  if (code !== 0) throw new Error(`no short model was written: ${code}`);
  renameSync(written, FILE);
  return FILE;
}
