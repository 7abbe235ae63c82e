// The Python side: .venv with all packages that requirements/*.txt pins by hash, and counterlens itself, editable.
import { existsSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { root, venv, venvBin, venvPython } from "../paths.mjs";
import { ask, runLogged, say } from "../terminal.mjs";
import { CMAKE, COMPILER, require, wish } from "./debian.mjs";
import { findPython, isRecent } from "./interpreter.mjs";
import { processor } from "./processor.mjs";
import { digest, isStamped, stamp, unstamp } from "./stamp.mjs";

const LOCKS = ["uv", "dev", "model", "embeddings"].map((name) => `requirements/${name}.txt`);
const SYNC = ["pip", "sync", "--require-hashes", ...LOCKS];
const STAMP = path.join(venv, ".counterlens-setup");
/** Leaves out of llama.cpp what is never loaded, and compiles the rest in less time. */
const BUILD = "requirements/engine.cmake";
/** The setting with which that file compiles for this processor; uv caches finished builds by their settings. */
const PROCESSOR = "cmake.define.COUNTERLENS_PROCESSOR";

/** Names the processor for which the engine in .venv was compiled. */
const ENGINE_STAMP = path.join(venv, ".counterlens-engine");

const log = (name) => path.join(venv, `setup-${name}.log`);
const read = (file) => readFileSync(path.join(root, file), "utf8");

/** @param {{ testing?: boolean }} options `testing`: whether it is for tests, which need CPython's own tests too */
export async function setUpPython({ testing = false } = {}) {
  const wanted = await inputs();
  const isSetUp = wanted && isStamped(STAMP, wanted);
  if (!isSetUp) {
    unstamp(STAMP);
    say("Setting up Python (once, and again only when the lock files change):");
    await makeVenv();
  }
  await Promise.all([testing && provideSuites(), isSetUp || install(testing)]);
}

async function install(testing) {
  await installUv();
  await installLocked(testing);
  await installCounterlens();
  stamp(STAMP, await inputs());
}

/** Digest of everything that determines the content of .venv; undefined without a working .venv. */
async function inputs() {
  const version = existsSync(venvPython) && (await ask(venvPython, ["-VV"]));
  if (!version) return undefined;
  return digest(
    root,
    version,
    ...SYNC,
    processor(),
    ...[...LOCKS, BUILD].map(read),
    buildSettings(read("pyproject.toml")),
  );
}

/** The tables of pyproject.toml that determine what is installed; those of linters do not. */
function buildSettings(pyproject) {
  const tables = pyproject.split(/^(?=\[)/m);
  return tables.filter((table) => /^\[(build-system|project|tool\.hatch|tool\.uv)\b/.test(table)).join("");
}

async function makeVenv() {
  // An interrupted creation leaves a Python without pip.
  if (existsSync(venvPython) && (await ask(venvPython, ["-m", "pip", "--version"]))) {
    if (await isRecent(venvPython)) return;
  }
  const python = await findPython();
  rmSync(venv, { recursive: true, force: true });
  await runLogged(`creating .venv with ${python}`, python, ["-m", "venv", venv], {
    log: path.join(os.tmpdir(), `counterlens-venv-${process.pid}.log`),
  });
}

/** CPython's own tests judge mutations of its library. Debian's Python has them in a package of their own. */
async function provideSuites() {
  const library = await ask(venvPython, ["-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"]);
  const version = /^\/usr\/lib\/(python3\.\d+)$/.exec(library ?? "")?.[1];
  if (!version) return;
  const present = () => existsSync(path.join(library, "test/test_bisect.py"));
  await wish([{ name: "CPython's own tests", package: `lib${version}-testsuite`, present }]);
}

async function installUv() {
  const version = /^uv==(\S+)/m.exec(read("requirements/uv.txt"))?.[1];
  if ((await ask(venvBin("uv"), ["--version"]))?.startsWith(`uv ${version}`)) return;
  const args = ["-m", "pip", "install", "--require-hashes", "--no-deps", "--force-reinstall"];
  await runLogged(
    `installing uv ${version}`,
    venvPython,
    [...args, "--disable-pip-version-check", "-r", "requirements/uv.txt"],
    { log: log("uv"), hint: offlineHint("uv") },
  );
}

async function installLocked(testing) {
  const version = /^llama-cpp-python==(\S+)/m.exec(LOCKS.map(read).join("\n"))?.[1];
  const found = await ask(venvPython, [
    "-c",
    "from importlib.metadata import version; print(version('llama-cpp-python'))",
  ]);
  const engine = digest(root, processor(), read(BUILD));
  const isBuilt = found === version && isStamped(ENGINE_STAMP, engine);
  if (!isBuilt) {
    await require([CMAKE, COMPILER], "Compiling llama.cpp");
    say(
      `  llama.cpp ${version} comes as source and is compiled on this machine: about two minutes on two cores,`,
    );
    say("  once (a second environment takes the finished build from uv's cache).");
  }
  const title = isBuilt ? "installing Python packages" : "installing Python packages, compiling llama.cpp";
  // Byte code is compiled now rather than at the first import, which may be in the middle of a user's probe. Tests
  // import a part of the modules, and compile that.
  // uv's --reinstall-package would not take a finished build from its cache.
  if (found && !isBuilt) await uninstall("llama-cpp-python");
  const args = [...SYNC, `--config-settings-package=llama-cpp-python:${PROCESSOR}=${processor()}`];
  if (!testing) args.push("--compile-bytecode");
  await runLogged(title, venvBin("uv"), args, {
    log: log("packages"),
    hint: offlineHint("packages"),
    env: buildEnvironment(),
  });
  stamp(ENGINE_STAMP, engine);
}

const uninstall = (name) =>
  runLogged(`removing ${name} for another processor`, venvBin("uv"), ["pip", "uninstall", name], {
    log: log("removed"),
    env: buildEnvironment(),
  });

async function installCounterlens() {
  const args = ["pip", "install", "--no-deps", "--no-build-isolation", "-e", "."];
  await runLogged("installing counterlens (editable)", venvBin("uv"), args, {
    log: log("counterlens"),
    env: buildEnvironment(),
  });
}

/** The environment in which uv compiles llama.cpp; it is no part of the key of a finished build in uv's cache. */
export function buildEnvironment() {
  const build = `"-DCMAKE_PROJECT_INCLUDE=${path.join(root, BUILD)}"`;
  return {
    ...process.env,
    VIRTUAL_ENV: venv,
    CMAKE_ARGS: [process.env.CMAKE_ARGS, build].filter(Boolean).join(" "),
    CMAKE_BUILD_PARALLEL_LEVEL: process.env.CMAKE_BUILD_PARALLEL_LEVEL ?? String(os.availableParallelism()),
  };
}

function offlineHint(name) {
  return `Check the network (the Python package registry is needed). The whole log is in .venv/setup-${name}.log.`;
}
