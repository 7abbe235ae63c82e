// The embedded model, shortened, as a file: for tests in which a model has to answer, no matter what. It costs a tenth.
import { existsSync, mkdirSync, renameSync } from "node:fs";
import path from "node:path";
import { e2e, venvPython } from "../../../scripts/paths.mjs";
import { run } from "../../../scripts/terminal.mjs";

const FOLDER = path.join(e2e, "run/short-model");

/**
 * @param {{ wide?: boolean }} options `wide`: for answers better than chance, at three times the cost
 * @returns {Promise<string>} its path; it is written once
 */
export async function shortModel({ wide = false } = {}) {
  const file = path.join(FOLDER, `SmolLM2-135M-short${wide ? "-wide" : ""}.gguf`);
  if (existsSync(file)) return file;
  mkdirSync(FOLDER, { recursive: true });
  const written = `${file}.${process.pid}`;
  const flags = wide ? ["--wide"] : [];
  const code = await run(venvPython, ["-m", "tests.models.llama.shortened", ...flags, written]);
  if (code !== 0) throw new Error(`no short model was written: ${code}`);
  renameSync(written, file);
  return file;
}
