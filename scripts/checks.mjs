// What `npm run check` and `npm test` run: each check is one program, announced, and run to its end.
import { readdirSync } from "node:fs";
import path from "node:path";
import { buildExtension, buildUnitTests } from "../client/build.mjs";
import { client, e2e, nodeBin, venvBin, venvPython } from "./paths.mjs";
import { run, say, seconds } from "./terminal.mjs";

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
  { side: "client", name: "unit tests of the extension", run: unitTests },
  { side: "python", name: "tests of the Python package", run: () => run(venvPython, ["-m", "pytest"]) },
  { side: "e2e", name: "end-to-end tests in VS Code", run: endToEndTests },
];

async function unitTests() {
  await buildExtension();
  return run(process.execPath, ["--test", ...reporters(), ...(await buildUnitTests())]);
}

function endToEndTests() {
  const files = readdirSync(e2e).filter((name) => name.endsWith(".test.mjs"));
  const args = [
    "--test",
    "--test-concurrency=1",
    ...reporters(),
    ...files.map((name) => path.join(e2e, name)),
  ];
  return run(process.execPath, args);
}

function reporters() {
  return ["--test-reporter=spec", "--test-reporter-destination=stdout"];
}

/** Run all of them, whatever fails. Returns 1 if any failed, else 0. */
export async function runAll(steps) {
  const results = [];
  for (const step of steps) {
    console.log(`\n── ${step.name}`);
    const began = Date.now();
    let code;
    try {
      code = await step.run();
    } catch (error) {
      say(String(error?.stack ?? error));
      code = 1;
    }
    results.push({ name: step.name, code, took: seconds(began) });
  }
  console.log("\n── summary");
  for (const { name, code, took } of results) {
    console.log(`${code === 0 ? "passed" : "FAILED"}  ${name} (${took})`);
  }
  const failed = results.filter(({ code }) => code !== 0).length;
  console.log(failed ? `${failed} of ${results.length} failed.` : `All ${results.length} passed.`);
  return failed ? 1 : 0;
}
