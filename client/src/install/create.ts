/** Creates the environment step by step. Finished steps are not repeated, whenever it was interrupted. */

import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { closedEnvironment } from "./environment";
import { graphics, isOnPath } from "./graphics";
import { onlyOne } from "./onlyOne";
import {
  digestOf,
  discard,
  type Engine,
  type Progress,
  type Recipe,
  readProgress,
  type Step,
  steps,
  writeProgress,
} from "./steps";

/** The kind of problem that ended the setup, which decides the actions that the user is offered. */
export type Trouble = "cancelled" | "compiler" | "graphics" | "network" | "busy" | "failed";

export class SetupError extends Error {
  constructor(
    readonly trouble: Trouble,
    message: string,
  ) {
    super(message);
  }
}

export interface Watcher {
  /** Called when a step begins; `index` counts from 0. */
  step(step: Step, index: number, total: number): void;
  /** Called with a line of an installer's output. */
  said(line: string): void;
  /** Aborted when the user cancels. */
  signal: AbortSignal;
}

const COMPILERS = ["c++", "g++", "clang++", "cl.exe"];

/** Whether llama.cpp can be compiled on this machine. */
export function hasCompiler(environment: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean(environment.CXX) || isOnPath(COMPILERS, environment);
}

/**
 * Creates an environment, or resumes one that was begun from the same files.
 *
 * @throws SetupError with the problem
 */
export async function create(recipe: Recipe, watcher: Watcher): Promise<void> {
  const release = onlyOne(`${recipe.folder}.lock`);
  if (!release) {
    throw new SetupError("busy", "Another window is setting up Counterlens. Wait until it has finished.");
  }
  try {
    const progress = begun(recipe);
    const all = steps(recipe);
    // Fails immediately rather than after minutes of downloading.
    if (!progress.done.includes("engine")) requireCompilers(recipe.engine);
    for (const [index, step] of all.entries()) {
      if (progress.done.includes(step.name)) continue;
      watcher.step(step, index, all.length);
      if (step.name === "environment") fs.rmSync(recipe.folder, { recursive: true, force: true });
      await run(step, recipe.source, watcher, (running) =>
        writeProgress(recipe.folder, { ...progress, running }),
      );
      progress.done.push(step.name);
      writeProgress(recipe.folder, progress);
    }
    writeProgress(recipe.folder, { ...progress, complete: true });
  } finally {
    release();
  }
}

/** Checks that what compiles the engine is installed. */
function requireCompilers(engine: Engine): void {
  const compiled = engine === "compile" || engine === "gpu";
  if (compiled && !hasCompiler()) {
    throw new SetupError(
      "compiler",
      "llama.cpp must be compiled, but no C++ compiler was found on the PATH.",
    );
  }
  const { compiler } = graphics();
  if (engine === "gpu" && compiler !== undefined && !isOnPath([compiler, `${compiler}.exe`])) {
    throw new SetupError(
      "graphics",
      `llama.cpp needs ${compiler} to be compiled for a graphics processor with Vulkan, but it was not found on the PATH.`,
    );
  }
}

/** The finished steps; none if they were made from other files or with another Python. */
function begun({ folder, source, base, engine }: Recipe): Progress {
  const digest = digestOf(source);
  const last = readProgress(folder);
  if (last?.running !== undefined) endLeftover(last.running, folder);
  if (last && last.digest === digest && last.base === base) {
    const done = last.engine === engine ? last.done : last.done.filter((name) => name !== "engine");
    return { digest, base, engine, done, complete: false };
  }
  discard(folder);
  const fresh: Progress = { digest, base, engine, done: [], complete: false };
  writeProgress(folder, fresh);
  return fresh;
}

const NETWORK =
  /dns error|failed to fetch|error sending request|connection (refused|reset|error)|ProxyError|name resolution|NewConnectionError|ConnectTimeout|No matching distribution found for uv/i;
const KEPT_LINES = 40;

/**
 * Runs an installer in its own process group, so that cancelling also ends the processes that it has started.
 *
 * @param cwd the folder of the extension: uv reads settings from the current folder and those above it
 */
function run(
  step: Step,
  cwd: string,
  { said, signal }: Watcher,
  started: (group: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new SetupError("cancelled", ""));
    const group = process.platform !== "win32";
    const none = { PYTHONPATH: undefined, PYTHONUSERBASE: undefined, VIRTUAL_ENV: undefined };
    const env = { ...closedEnvironment(process.env, []), ...none, PYTHONNOUSERSITE: "1", PIP_RETRIES: "1" };
    const child = spawn(step.command, step.args, {
      cwd,
      detached: group,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (child.pid !== undefined) started(child.pid);
    const lines: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        for (const line of text.split(/\r?\n/).filter((each) => each.trim() !== "")) {
          lines.push(line);
          if (lines.length > KEPT_LINES) lines.shift();
          said(line);
        }
      });
    }
    const end = () => {
      if (child.pid === undefined) return;
      if (!group) child.kill();
      else kill(-child.pid);
    };
    signal.addEventListener("abort", end, { once: true });
    child.once("error", (error) => reject(new SetupError("failed", `${step.command}: ${error.message}`)));
    child.once("close", (code) => {
      signal.removeEventListener("abort", end);
      if (signal.aborted) return reject(new SetupError("cancelled", ""));
      if (code === 0) return resolve();
      const trouble = NETWORK.test(lines.join("\n")) ? "network" : "failed";
      reject(new SetupError(trouble, `${step.title} failed: ${lines.at(-1) ?? `exit code ${code}`}`));
    });
  });
}

/** Ends an installer whose owner was killed: it keeps running, and must not run beside the next one. */
function endLeftover(group: number, folder: string): void {
  try {
    // The id may belong to another program by now.
    if (fs.readFileSync(`/proc/${group}/cmdline`, "utf8").includes(folder)) kill(-group);
  } catch {
    // it has ended, or this is not Linux, where the installers' own locks must suffice
  }
}

function kill(group: number): void {
  try {
    process.kill(group, "SIGTERM");
  } catch {
    // it has ended
  }
}
