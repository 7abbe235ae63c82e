// What `npm run check` and `npm test` run: each check is one program, announced, and run to its end.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { buildExtension, buildUnitTests } from "../client/build.mjs";
import { client, nodeBin, root, venvBin, venvPython } from "./paths.mjs";
import { total } from "./results.mjs";
import { whyNoEndToEnd } from "./setup/code-server.mjs";
import { run, say, seconds } from "./terminal.mjs";

// A file's tests stay in one process, which shares what they begin with; files go in the order of their names,
// which begins with the long ones and ends with short ones, so that no process is left with a long one.
const IN_PARALLEL = [
  "-n",
  String(Math.min(os.availableParallelism(), 4)),
  "--dist=loadfile",
  "--no-loadscope-reorder",
];

export const CHECKS = [
  { side: "python", name: "format (ruff)", run: () => run(venvBin("ruff"), ["format", "--check", "."]) },
  { side: "python", name: "lint (ruff)", run: () => run(venvBin("ruff"), ["check", "."]) },
  { side: "python", name: "types (mypy)", run: () => run(venvBin("mypy"), []) },
  {
    side: "client",
    name: "format and lint (biome)",
    run: () => run(nodeBin("biome"), ["check", "--error-on-warnings", "."]),
  },
  { side: "client", name: "types (tsc)", run: () => run(nodeBin("tsc"), ["-p", client]) },
];

export const TESTS = [
  { side: "client", name: "unit tests of the scripts", run: scriptTests },
  { side: "client", name: "unit tests of the extension", run: unitTests },
  {
    side: "python",
    name: "tests of the Python package",
    run: (junit) => run(venvPython, ["-m", "pytest", ...IN_PARALLEL, `--junitxml=${junit}`]),
  },
  { side: "e2e", name: "end-to-end tests in VS Code", run: endToEndTests },
];

function scriptTests(junit) {
  return run(process.execPath, ["--test", ...reporters(junit), ...testsIn("tests/scripts")]);
}

async function unitTests(junit) {
  await buildExtension();
  return run(process.execPath, ["--test", ...reporters(junit), ...(await buildUnitTests())]);
}

/** One file after the other: an editor, a browser and a model are enough for two processors. */
async function endToEndTests(junit) {
  const { prepare } = await import("../tests/e2e/driver/installed.mjs");
  const env = { ...process.env, ...(whyNoEndToEnd() ? {} : await prepare()) };
  const args = ["--test", "--test-concurrency=1", ...reporters(junit), ...testsIn("tests/e2e")];
  return run(process.execPath, args, { env });
}

function testsIn(folder) {
  const names = readdirSync(path.join(root, folder)).filter((name) => name.endsWith(".test.mjs"));
  return names.map((name) => path.join(root, folder, name));
}

function reporters(junit) {
  const spec = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  return [...spec, "--test-reporter=junit", `--test-reporter-destination=${junit}`];
}

/** Run all of them, whatever fails. Returns 1 if any failed, else 0. */
export async function runAll(steps) {
  const results = [];
  const folder = mkdtempSync(path.join(os.tmpdir(), "counterlens-results-"));
  for (const [index, step] of steps.entries()) {
    console.log(`\n── ${step.name}`);
    const began = Date.now();
    const junit = path.join(folder, `${index}.xml`);
    let code;
    try {
      code = await step.run(junit);
    } catch (error) {
      say(String(error?.stack ?? error));
      code = 1;
    }
    results.push({ name: step.name, code, junit, took: seconds(began) });
  }
  console.log("\n── summary");
  for (const { name, code, took } of results) {
    console.log(`${code === 0 ? "passed" : "FAILED"}  ${name} (${took})`);
  }
  const { passed, failed, skipped } = total(results);
  rmSync(folder, { recursive: true, force: true });
  console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`);
  return failed ? 1 : 0;
}
