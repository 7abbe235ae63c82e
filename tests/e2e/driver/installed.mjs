// Our extension, packaged and installed: once for all sessions of a run (scripts/checks.mjs), or else for each session.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { packageExtension } from "../../../scripts/package.mjs";
import { e2e } from "../../../scripts/paths.mjs";
import { Home } from "./home.mjs";
import { measure } from "./measured.mjs";

/** Environment variable with the folder of the run's package, and of a home in which it is installed. */
const PREPARED = "COUNTERLENS_E2E_PREPARED";

/**
 * Packages and installs the extension, and measures the models.
 * @param {string} cache a folder for the measurements, which may have them already
 * @returns {Promise<Record<string, string>>} environment variables by which the tests find the package
 */
export async function prepare(cache = path.join(e2e, "run/measured")) {
  const folder = path.join(e2e, "run/prepared");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const vsix = await packageExtension({ to: folder });
  new Home(path.join(folder, "home")).cli("--install-extension", vsix);
  await measure(cache);
  return { [PREPARED]: folder };
}

/** @returns {Promise<string>} the path of the universal package */
export async function packaged() {
  const prepared = process.env[PREPARED];
  if (!prepared) return packageExtension();
  return path.join(
    prepared,
    readdirSync(prepared).find((name) => name.endsWith(".vsix")),
  );
}

/** Installs the universal package into a session's home. */
export async function install(home) {
  const prepared = process.env[PREPARED];
  if (!prepared) {
    home.cli("--install-extension", await packageExtension());
    return;
  }
  const from = path.join(prepared, "home/extensions");
  cpSync(from, home.extensions, { recursive: true });
  const list = path.join(home.extensions, "extensions.json"); // the list contains the path of each extension
  writeFileSync(list, readFileSync(list, "utf8").replaceAll(from, home.extensions));
}
