// npm start [-- PATH.py[::FUNCTION] [FLAGS]]: sets up the Python side, then probes a function with the default model.
import { venvBin } from "./paths.mjs";
import { provideCodeModel } from "./setup/code-model.mjs";
import { setUpPython } from "./setup/python.mjs";
import { main, run, say } from "./terminal.mjs";

const DEFAULT_TARGET = "examples/larger.py::larger";

await main(async () => {
  await setUpPython();
  const args = process.argv.slice(2);
  if (!args.some((arg) => /^(-m|--model)/.test(arg))) await provideCodeModel();
  const hasTarget = args.some((arg) => /\.py(::|$)/.test(arg)) || (args[0] && !args[0].startsWith("-"));
  const probe = ["probe", ...(hasTarget ? args : [DEFAULT_TARGET, ...args])];
  say(`counterlens ${probe.join(" ")}\n`);
  // The example is part of this repository; for other files the command line asks the user for trust.
  const env = hasTarget ? process.env : { ...process.env, COUNTERLENS_TRUST: "1" };
  return run(venvBin("counterlens"), probe, { env });
});
