// npm run check: format, lint and types of both languages.
import { setUpNode } from "./setup/node.mjs";
import { setUpPython } from "./setup/python.mjs";
import { main } from "./terminal.mjs";

await main(async () => {
  await setUpPython();
  await setUpNode();
  const { CHECKS, runAll } = await import("./checks.mjs");
  return runAll(CHECKS);
});
