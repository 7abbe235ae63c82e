// The steps of `npm run check` and `npm test`: each check is one program, announced, and run to its end.
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { buildUnitTests } from "../client/build.mjs";
import { client, nodeBin, root, venvBin, venvPython } from "./paths.mjs";
import { total } from "./results.mjs";
import { setUpEndToEnd } from "./setup/code-server.mjs";
import { explain, Problem, run, say, seconds } from "./terminal.mjs";

// One process more than there are processors, since tests often wait for a server, a sandbox or a clock. A file's tests
// stay in one process, which shares their fixtures, as do those of some folders. Files run in the order of
// tests/conftest.py, which has these folders, so that no process ends with a long one.
const PROCESSORS = Math.min(os.availableParallelism(), 4);
const IN_PARALLEL = ["-n", String(Math.min(PROCESSORS + 1, 4)), "--dist=loadfile", "--no-loadscope-reorder"];

// Several models compute at the same time: a thread that waits for another one leaves the processor to them, and NumPy
// starts none. Many processes import the same modules, which are compiled once. What takes long to measure on a model
// is kept in a cache of this run, which the end-to-end tests read too.
const CACHE = path.join(os.tmpdir(), `counterlens-tests-${process.pid}`);
// Tests make repositories of their own: neither a user's settings of git nor the variables of a hook may have a say.
const OTHERS = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
const PATIENT = {
  ...Object.fromEntries(OTHERS),
  GIT_CONFIG_GLOBAL: os.devNull,
  GIT_CONFIG_NOSYSTEM: "1",
  OMP_WAIT_POLICY: "passive",
  OPENBLAS_NUM_THREADS: "1",
  PYTHONDONTWRITEBYTECODE: "",
  COUNTERLENS_TESTS_CACHE: CACHE,
};

/** A step runs with the options for its program (`stdio`) and the name of its results file. */
export const CHECKS = [
  checked("python", "types (mypy)", venvBin("mypy")),
  checked("python", "format (ruff)", venvBin("ruff"), "format", "--check", "."),
  checked("python", "lint (ruff)", venvBin("ruff"), "check", "."),
  checked("client", "format and lint (biome)", nodeBin("biome"), "check", "--error-on-warnings", "."),
  checked("client", "types (tsc)", nodeBin("tsc"), "-p", client),
];

/** The longest first: it has the terminal. */
export const TESTS = [
  { side: "python", name: "tests of the Python package", run: pythonTests },
  { side: "client", name: "unit tests of the scripts", run: scriptTests },
  { side: "client", name: "unit tests of the extension", run: unitTests },
  { side: "e2e", name: "end-to-end tests in VS Code", run: endToEndTests },
];

function checked(side, name, command, ...args) {
  return { side, name, run: (options) => run(command, args, options) };
}

function scriptTests(options, junit) {
  return run(process.execPath, ["--test", ...reporters(junit), ...testsIn("tests/scripts")], options);
}

async function unitTests(options, junit) {
  return run(process.execPath, ["--test", ...reporters(junit), ...(await buildUnitTests())], options);
}

function pythonTests(options, junit) {
  return run(venvPython, ["-m", "pytest", ...IN_PARALLEL, `--junitxml=${junit}`], {
    ...options,
    env: PATIENT,
  });
}

/**
 * Sets up VS Code, then runs a file for every two processors, in parallel with the tests of the Python package: these
 * tests often wait, each for its own editor.
 */
async function endToEndTests(options, junit) {
  const reason = await setUpEndToEnd();
  if (reason) say(`The end-to-end tests are skipped: ${reason}.`);
  const { prepare } = await import("../tests/e2e/driver/installed.mjs");
  const env = { ...PATIENT, ...(reason ? {} : await prepare(CACHE)) };
  const files = `--test-concurrency=${Math.ceil(PROCESSORS / 2)}`;
  const args = ["--test", files, ...reporters(junit), ...testsIn("tests/e2e")];
  return run(process.execPath, args, { ...options, env });
}

function testsIn(folder) {
  const names = readdirSync(path.join(root, folder)).filter((name) => name.endsWith(".test.mjs"));
  return names.map((name) => path.join(root, folder, name));
}

function reporters(junit) {
  const spec = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  return [...spec, "--test-reporter=junit", `--test-reporter-destination=${junit}`];
}

/**
 * Runs all steps in parallel, even if some fail. The first has the terminal, and the output of the others is shown when
 * they have ended. Returns 1 if any failed, else 0.
 */
export async function runAll(steps) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "counterlens-results-"));
  const [first, ...others] = steps.map((step, index) => {
    const file = path.join(folder, `${index}`);
    return { step, junit: `${file}.xml`, log: `${file}.log` };
  });
  const later = others.map((each) => ({ ...each, ended: logged(each) }));
  console.log(`\n── ${first.step.name}`);
  const results = [await result(first, { stdio: "inherit" })];
  for (const { step, log, ended } of later) {
    const found = await ended;
    console.log(`\n── ${step.name}`);
    process.stdout.write(readFileSync(log));
    results.push(found);
  }
  console.log("\n── summary");
  for (const { name, code, took } of results) {
    console.log(`${code === 0 ? "passed" : "FAILED"}  ${name} (${took})`);
  }
  const { passed, failed, skipped } = total(results);
  for (const each of [folder, CACHE]) rmSync(each, { recursive: true, force: true });
  console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`);
  return failed ? 1 : 0;
}

/** Runs a step with its output in a file. */
async function logged({ step, junit, log }) {
  const to = openSync(log, "w");
  const found = await result({ step, junit }, { stdio: ["ignore", to, to] });
  closeSync(to);
  return found;
}

async function result({ step, junit }, options) {
  const began = Date.now();
  let code;
  try {
    code = await step.run(options, junit);
  } catch (error) {
    if (error instanceof Problem) explain(error);
    else say(String(error?.stack ?? error));
    code = 1;
  }
  return { name: step.name, code, junit, took: seconds(began) };
}
