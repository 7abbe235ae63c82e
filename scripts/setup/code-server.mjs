// A real VS Code without a display: code-server from the npm registry, in .vscode-test/code-server.
//
// Its install script downloads from other places, so it is not run. Its steps are done here instead: the dependencies
// of the VS Code inside, three native modules, and links to the system's ripgrep.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { e2e, vscodeTest } from "../paths.mjs";
import { ask, Problem, runLogged, say } from "../terminal.mjs";
import { CHROMIUM, COMPILER, FONTS, installCommand, onPath, provide, RIPGREP } from "./debian.mjs";
import { digest, isStamped, stamp, unstamp } from "./stamp.mjs";

const SOURCE = path.join(e2e, "code-server");
const HOME = path.join(vscodeTest, "code-server");
const STAMP = path.join(HOME, ".counterlens-setup");
const SERVER = path.join(HOME, "node_modules/code-server");
const VSCODE = path.join(SERVER, "lib/vscode");
const NODE_MAJOR = 20;

/** Native modules besides argon2, which code-server requires: spdlog is for output channels, node-pty for terminals. */
const NATIVE = ["node-pty", "@vscode/spdlog", "native-watchdog"];

/** The program that starts it: `node ENTRY …`. */
export const codeServerEntry = path.join(SERVER, "out/node/entry.js");

/** The folder with the extensions that come with it. */
export const builtInExtensions = path.join(VSCODE, "extensions");

/** The reason why the end-to-end tests cannot run on this machine, or undefined. Installs nothing. */
export function whyNoEndToEnd() {
  if (Number(process.versions.node.split(".")[0]) !== NODE_MAJOR) {
    return `code-server needs Node ${NODE_MAJOR}, this is Node ${process.versions.node}`;
  }
  const missing = [CHROMIUM, RIPGREP, FONTS, COMPILER].filter(({ present }) => !present());
  if (missing.length > 0) {
    const packages = missing.map((requirement) => requirement.package).join(", ");
    return `Debian packages are missing: ${packages} (${installCommand(missing)})`;
  }
  return undefined;
}

let settingUp;

/**
 * Installs Debian packages if permitted; a second call waits for the first. Returns the reason why the end-to-end tests
 * cannot run, or undefined.
 */
export function setUpEndToEnd() {
  settingUp ??= setUpNow();
  return settingUp;
}

async function setUpNow() {
  await provide([CHROMIUM, RIPGREP, FONTS, COMPILER]);
  const reason = whyNoEndToEnd();
  if (!reason) await setUpCodeServer();
  return reason;
}

export async function setUpCodeServer() {
  const locks = ["package.json", "package-lock.json"].map((name) => readFileSync(path.join(SOURCE, name)));
  const wanted = digest(process.version, HOME, onPath("rg") ?? "", ...locks);
  if (isStamped(STAMP, wanted) && existsSync(codeServerEntry)) return;
  unstamp(STAMP);
  say("Setting up code-server (VS Code in the browser; about a minute and a half, 300 MB):");
  mkdirSync(HOME, { recursive: true });
  for (const name of ["package.json", "package-lock.json"])
    cpSync(path.join(SOURCE, name), path.join(HOME, name));
  await npm("code-server", ["ci"], HOME);
  // Its shrinkwrap pins all packages but one, which `npm ci` therefore refuses.
  await npm("the VS Code inside it", ["install", "--omit=dev"], VSCODE);
  await buildNativeModules();
  linkSystemFiles();
  stamp(STAMP, wanted);
}

async function npm(title, command, folder) {
  const args = [...command, "--ignore-scripts", "--no-workspaces", "--no-audit", "--no-fund"];
  await runLogged(`npm ${command[0]}: ${title}`, "npm", args, { cwd: folder, log: logFile(title) });
}

function logFile(title) {
  return path.join(vscodeTest, "logs", `${title.replace(/\W+/g, "-")}.log`);
}

async function buildNativeModules() {
  const gyp = await nodeGyp();
  const env = { ...process.env, npm_config_node_gyp: gyp, MAKEFLAGS: `-j${os.availableParallelism()}` };
  for (const flags of ["CFLAGS", "CXXFLAGS"]) env[flags] = "-O0"; // tests need no fast code, but a quick compiler
  // With the headers of an installed Node, nothing is downloaded.
  const nodeDir = path.resolve(process.execPath, "../..");
  if (existsSync(path.join(nodeDir, "include/node/node.h"))) env.npm_config_nodedir = nodeDir;
  if (!(await loads("argon2", SERVER))) {
    const require = createRequire(path.join(SERVER, "package.json"));
    const argon2 = path.dirname(require.resolve("argon2/package.json"));
    const nodePreGyp = createRequire(path.join(argon2, "package.json")).resolve(
      "@mapbox/node-pre-gyp/bin/node-pre-gyp",
    );
    await compile("argon2", [nodePreGyp, "install", "--build-from-source"], argon2, env);
  }
  for (const name of NATIVE) {
    if (await loads(name, VSCODE)) continue;
    await compile(name, [gyp, "rebuild"], path.join(VSCODE, "node_modules", name), env);
    if (!(await loads(name, VSCODE))) throw new Problem(`${name} was compiled, but Node cannot load it.`);
  }
}

/** Compiles a copy in the folder for temporary files: node-gyp and make split the names of folders at blanks. */
async function compile(name, args, folder, env) {
  const place = mkdtempSync(path.join(os.tmpdir(), "counterlens-native-"));
  const copy = path.join(place, "node_modules", name);
  try {
    cpSync(folder, copy, { recursive: true });
    const headers = sharedHeaders(folder);
    if (headers) cpSync(headers, path.join(place, "node_modules/node-addon-api"), { recursive: true });
    await runLogged(`compiling ${name}`, process.execPath, args, { cwd: copy, env, log: logFile(name) });
    cpSync(copy, folder, { recursive: true });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** The headers of Node's interface that a module does not have inside. */
function sharedHeaders(folder) {
  try {
    const file = createRequire(path.join(folder, "package.json")).resolve("node-addon-api/package.json");
    return path.relative(folder, file).startsWith("..") ? path.dirname(file) : undefined;
  } catch {
    return undefined;
  }
}

async function loads(name, from) {
  const program = `require("node:module").createRequire(${JSON.stringify(path.join(from, "package.json"))})(${JSON.stringify(name)})`;
  return (await ask(process.execPath, ["-e", program])) !== undefined;
}

/** The node-gyp that comes with npm. */
async function nodeGyp() {
  const relative = "node_modules/node-gyp/bin/node-gyp.js";
  const npm = process.env.npm_execpath;
  if (npm) {
    const beside = path.join(path.dirname(npm), "..", relative);
    if (existsSync(beside)) return beside;
  }
  const modules = (await ask("npm", ["root", "-g"])) ?? "";
  const installed = path.join(modules, "npm", relative);
  if (existsSync(installed)) return installed;
  throw new Problem(
    "npm's node-gyp was not found.",
    "Install npm beside Node (on Debian it may be a package of its own).",
  );
}

function linkSystemFiles() {
  const bin = path.join(VSCODE, "node_modules/@vscode/ripgrep/bin");
  mkdirSync(bin, { recursive: true });
  link(onPath("rg"), path.join(bin, "rg"));
  link("node_modules", path.join(VSCODE, "node_modules.asar"));
  link("code-linux.sh", path.join(VSCODE, "bin/remote-cli/code-server"));
  link("browser-linux.sh", path.join(VSCODE, "bin/helpers/browser.sh"));
  for (const folder of ["bin/remote-cli", "bin/helpers"]) {
    for (const name of readdirSync(path.join(VSCODE, folder))) {
      if (name.endsWith(".sh")) chmodSync(path.join(VSCODE, folder, name), 0o755);
    }
  }
}

function link(target, file) {
  rmSync(file, { force: true });
  symlinkSync(target, file);
}
