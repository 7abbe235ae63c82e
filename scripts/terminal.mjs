// Messages to the user at the terminal, and programs that run in the meantime.
import { spawn } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./paths.mjs";

const HEARTBEAT_MS = 20_000;
const TAIL_LINES = 25;

/** A problem and what to do about it. Shown without a stack trace. */
export class Problem extends Error {
  constructor(message, hint = "") {
    super(message);
    this.hint = hint;
  }
}

/** Writes progress to standard error, so that a command's own output can be piped. */
export function say(message) {
  process.stderr.write(`${message}\n`);
}

export function seconds(since) {
  const total = Math.round((Date.now() - since) / 1000);
  return total < 60 ? `${total} s` : `${Math.floor(total / 60)} min ${total % 60} s`;
}

/** Runs a script's main function. A Problem becomes two readable lines and exit code 1. */
export async function main(run) {
  try {
    process.exitCode = (await run()) ?? 0;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    explain(error);
    process.exitCode = 1;
  }
}

/** Says what happened, and what to do about it. */
export function explain(problem) {
  say(`\nerror: ${problem.message}`);
  if (problem.hint) say(`hint:  ${problem.hint}`);
}

const running = new Set();
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    for (const child of running) child.kill(signal);
    process.exit(signal === "SIGINT" ? 130 : 143);
  });
}

function start(command, args, options) {
  const child = spawn(command, args, { cwd: root, ...options });
  running.add(child);
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: 127, error }));
    child.once("close", (code, signal) => resolve({ code: code ?? 1, signal }));
  }).finally(() => running.delete(child));
  return { child, ended };
}

/** Runs a program in the foreground, with our own terminal. Resolves with its exit code. */
export async function run(command, args, options = {}) {
  const { code, error } = await start(command, args, { stdio: "inherit", ...options }).ended;
  if (error) say(`${command}: ${error.message}`);
  return code;
}

/**
 * Runs a program quietly: its output goes to a log file, and a line every 20 s says that it is still running. If it
 * fails, the end of the log is shown.
 */
export async function runLogged(title, command, args, { log, hint, ...options }) {
  const began = Date.now();
  say(`  ${title} …`);
  mkdirSync(path.dirname(log), { recursive: true });
  const file = createWriteStream(log);
  file.write(`$ ${command} ${args.join(" ")}\n`);
  const { child, ended } = start(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  const heartbeat = setInterval(
    () => say(`    still at work after ${seconds(began)}: ${title}`),
    HEARTBEAT_MS,
  );
  const { code, error, signal } = await ended;
  clearInterval(heartbeat);
  await new Promise((resolve) => file.end(resolve));
  if (code === 0) {
    if (Date.now() - began > 5_000) say(`    done in ${seconds(began)}: ${title}`);
    return;
  }
  const tail = readFileSync(log, "utf8").trimEnd().split("\n").slice(-TAIL_LINES);
  for (const line of tail) say(`    | ${line}`);
  const how = error ? error.message : signal ? `ended by ${signal}` : `exit code ${code}`;
  throw new Problem(`${title}: failed (${how}).`, hint ?? `The whole log is in ${path.relative(root, log)}.`);
}

/** Standard output of a short program, or undefined if it cannot be run or fails. */
export async function ask(command, args, options = {}) {
  const { child, ended } = start(command, args, { stdio: ["ignore", "pipe", "ignore"], ...options });
  let out = "";
  child.stdout?.on("data", (data) => {
    out += data;
  });
  const { code } = await ended;
  return code === 0 ? out.trim() : undefined;
}
