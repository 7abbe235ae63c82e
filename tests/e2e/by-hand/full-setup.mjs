// By hand, since it compiles llama.cpp: node tests/e2e/by-hand/full-setup.mjs [compile|prebuilt|none]
// Creates the environment of the universal package from scratch, as the extension does, and scores a file with it.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { packageExtension } from "../../../scripts/package.mjs";
import { client, dist, e2e, examples } from "../../../scripts/paths.mjs";
import { ask, main, Problem, run, say, seconds } from "../../../scripts/terminal.mjs";
import { barePython } from "../driver/bare-python.mjs";

await main(async () => {
  const engine = process.argv[2] ?? "compile";
  const work = path.join(e2e, "run/full-setup");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  await packageExtension({ to: work });
  const bundled = path.join(work, "create.mjs");
  const options = { bundle: true, platform: "node", format: "esm", outfile: bundled };
  await build({ ...options, entryPoints: [path.join(client, "src/install/create.ts")] });
  const { create } = await import(bundled);
  const { python } = await barePython(work);
  const folder = path.join(work, "environment");
  let began = Date.now();
  let last = "";
  const step = ({ title }) => {
    if (last) say(`  ${last}: ${seconds(began)}`);
    last = title;
    began = Date.now();
  };
  const recipe = { base: python, folder, source: path.join(dist, "extension/server"), engine };
  await create(recipe, { step, said: () => {}, signal: new AbortController().signal });
  step({ title: "scoring" });
  const server = path.join(folder, "bin/python");
  if (engine === "none") return run(server, ["-m", "counterlens", "--version"]);
  const file = path.join(
    examples,
    readdirSync(examples).find((name) => name.endsWith(".py")),
  );
  const scored = await ask(server, ["-P", "-m", "counterlens", "score", file, "--json"]);
  if (!scored) throw new Problem(`${server} could not score ${file}.`);
  step({ title: "" });
  return 0;
});
