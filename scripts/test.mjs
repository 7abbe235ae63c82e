// npm test [-- --only python|client|e2e]: sets up everything, then runs all checks and tests.

import { provideCodeModel } from "./setup/code-model.mjs";
import { setUpEndToEnd } from "./setup/code-server.mjs";
import { BUBBLEWRAP, JAVA, JUNIT, NEOVIM, STRACE, wish } from "./setup/debian.mjs";
import { setUpNode } from "./setup/node.mjs";
import { setUpPython } from "./setup/python.mjs";
import { main, Problem } from "./terminal.mjs";

const SIDES = ["python", "client", "e2e"];

await main(async () => {
  const sides = sidesAskedFor(process.argv.slice(2));
  // Node's packages are downloaded while the compiler works.
  await Promise.all([setUpPython({ testing: sides.includes("python") }), setUpRest(sides)]);
  if (sides.includes("python")) await provideCodeModel();
  // Imported late, since these modules need node_modules.
  const { CHECKS, TESTS, runAll } = await import("./checks.mjs");
  return runAll([...TESTS, ...CHECKS].filter(({ side }) => sides.includes(side)));
});

async function setUpRest(sides) {
  await setUpNode();
  if (sides.includes("python")) await wish([BUBBLEWRAP, JAVA, JUNIT, NEOVIM, STRACE]);
  // It goes on while other tests run. The step that waits for it reports its errors.
  if (sides.includes("e2e")) setUpEndToEnd().catch(() => {});
}

function sidesAskedFor(args) {
  if (args.length === 0) return SIDES;
  const [flag, side, ...rest] = args[0].includes("=") ? [...args[0].split("="), ...args.slice(1)] : args;
  if (flag !== "--only" || !SIDES.includes(side) || rest.length > 0) {
    throw new Problem(`npm test does not know: ${args.join(" ")}.`, `npm test -- --only ${SIDES.join("|")}`);
  }
  return [side];
}
