// Paths of the repository. All generated files are in .venv, node_modules, .vscode-test and dist.
import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

export const venv = path.join(root, ".venv");
export const venvPython = path.join(venv, "bin/python");
export const venvBin = (name) => path.join(venv, "bin", name);

export const nodeBin = (name) => path.join(root, "node_modules/.bin", name);
export const client = path.join(root, "client");
export const examples = path.join(root, "examples");
export const e2e = path.join(root, "tests/e2e");
export const vscodeTest = path.join(root, ".vscode-test");
export const dist = path.join(root, "dist");

/** Whether a module, of this URL, is the program that was started; the name that it was started by may have links. */
export const isProgram = (url) =>
  existsSync(process.argv[1] ?? "") && realpathSync(process.argv[1]) === fileURLToPath(url);
