// npm run release: creates everything that is published from a clean tree, in dist/release. Uploads nothing.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { packageExtension } from "./package.mjs";
import { client, dist, examples, isProgram, root, venvBin, venvPython } from "./paths.mjs";
import { billOfMaterials } from "./sbom.mjs";
import { setUpPython } from "./setup/python.mjs";
import { ask, main, Problem, run, runLogged, say } from "./terminal.mjs";

const TWINE = "twine==7.0.0";
const USAGE = "npm run release [-- --rehearse] [--target linux-x64]";

/** The text of a version's section of the changelog. */
export function notesOf(changelog, heading) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find(
    (each) => each.startsWith(heading) && !/[\w.]/.test(each[heading.length] ?? ""),
  );
  return section?.slice(section.indexOf("\n") + 1).trim();
}

/** The version, which is in two places and must be equal. */
export function versionOf() {
  const { version } = JSON.parse(readFileSync(path.join(client, "package.json"), "utf8"));
  const init = readFileSync(path.join(root, "server/counterlens/__init__.py"), "utf8");
  const server = init.match(/__version__ = "(.+)"/)?.[1];
  if (server !== version) {
    throw new Problem(`The server is ${server}, the extension ${version}.`, "Give both the same version.");
  }
  return version;
}

/** @param {string} folder @returns {string} a line for each file, in the format of `sha256sum --check` */
export function checksums(folder) {
  const files = readdirSync(folder).sort();
  const hash = (name) =>
    createHash("sha256")
      .update(readFileSync(path.join(folder, name)))
      .digest("hex");
  return files.map((name) => `${hash(name)}  ${name}\n`).join("");
}

async function release({ rehearse, target }) {
  const version = versionOf();
  const changes = await ask("git", ["status", "--porcelain"]);
  if (changes !== "" && !rehearse) {
    throw new Problem(
      "The tree is not clean.",
      "Commit or stash what has changed; --rehearse takes it as it is.",
    );
  }
  const changelog = readFileSync(path.join(root, "CHANGELOG.md"), "utf8");
  const notes = notesOf(changelog, version) ?? (rehearse ? notesOf(changelog, "Unreleased") : undefined);
  if (!notes) {
    throw new Problem(
      `CHANGELOG.md has no section “## ${version}”.`,
      "Name the section Unreleased so, and begin another.",
    );
  }
  await setUpPython();
  const to = path.join(dist, "release");
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const log = (name) => path.join(dist, `release-${name}.log`);
  await runLogged("building wheel and sdist", venvPython, ["-m", "hatchling", "build", "-d", to], {
    log: log("build"),
  });
  const built = readdirSync(to).map((name) => path.join(to, name));
  const twine = ["tool", "run", "--from", TWINE, "twine", "check", "--strict", ...built];
  await runLogged("checking them with twine", venvBin("uv"), twine, { log: log("twine") });
  await probeFrom(built.find((file) => file.endsWith(".whl")));
  await packageExtension({ to });
  if (target) await packageExtension({ target, to });
  writeFileSync(path.join(to, "sbom.cdx.json"), `${JSON.stringify(billOfMaterials(version), null, 2)}\n`);
  writeFileSync(path.join(to, "NOTES.md"), `# Counterlens ${version}\n\n${notes}\n`);
  writeFileSync(path.join(to, "SHA256SUMS"), checksums(to));
  say(`\nCounterlens ${version} is in ${path.relative(root, to)}. What remains:`);
  say(`  git tag v${version} && git push origin v${version}`);
  say(`  twine upload ${path.relative(root, to)}/*.whl ${path.relative(root, to)}/*.tar.gz`);
  say(`  vsce publish --packagePath ${path.relative(root, to)}/*.vsix`);
}

/** Installs the wheel with the embedded model in a fresh environment, and probes a function outside this repository. */
async function probeFrom(wheel) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "counterlens-release-"));
  try {
    const python = path.join(folder, "fresh/bin/python");
    const log = path.join(dist, "release-fresh.log");
    await runLogged("making a fresh environment", venvPython, ["-m", "venv", path.join(folder, "fresh")], {
      log,
    });
    const install = [
      "pip",
      "install",
      "--python",
      python,
      `counterlens[embedded] @ ${pathToFileURL(wheel).href}`,
    ];
    await runLogged("installing the wheel there", venvBin("uv"), install, { log });
    cpSync(path.join(examples, "parity.py"), path.join(folder, "parity.py"));
    say("  probing parity from there …");
    const probe = ["-P", "-m", "counterlens", "probe", "parity.py::parity", "--mutation", "if-else-flip"];
    const env = { ...process.env, COUNTERLENS_TRUST: "1" };
    if (await run(python, probe, { cwd: folder, env })) throw new Problem("The wheel does not probe.");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function options(args) {
  try {
    const { values } = parseArgs({
      args,
      options: { rehearse: { type: "boolean", default: false }, target: { type: "string" } },
    });
    return values;
  } catch (error) {
    throw new Problem(`npm run release: ${error.message}.`, USAGE);
  }
}

if (isProgram(import.meta.url)) await main(() => release(options(process.argv.slice(2))));
