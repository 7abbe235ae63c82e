// Packages the extensions that tests and measurements install beside ours.
import { cpSync, mkdirSync } from "node:fs";
import path from "node:path";
import { e2e, nodeBin } from "../../../scripts/paths.mjs";
import { runLogged } from "../../../scripts/terminal.mjs";

/**
 * @param {string} name of its folder
 * @param {string} to the folder for the package
 * @returns {Promise<string>} the path of the package
 */
export async function packed(name, to) {
  mkdirSync(to, { recursive: true });
  const stage = path.join(to, name); // a separate folder with exactly the files of the extension
  cpSync(path.join(e2e, "extensions", name), stage, { recursive: true });
  return packedFrom(stage);
}

/**
 * @param {string} stage a folder with exactly the files of the extension
 * @returns {Promise<string>} the path of the package, beside that folder
 */
export async function packedFrom(stage) {
  const name = path.basename(stage);
  const vsix = `${stage}.vsix`;
  const args = [
    "package",
    "--no-dependencies",
    "--allow-missing-repository",
    "--skip-license",
    "--out",
    vsix,
  ];
  await runLogged(`packaging ${name}`, nodeBin("vsce"), args, { cwd: stage, log: `${stage}.log` });
  return vsix;
}
