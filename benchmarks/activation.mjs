// What activating costs: our extension against an empty one, in a real VS Code, each loaded and activated by a third
// one that holds the watch, with no file open that would start the server.
//   node benchmarks/activation.mjs [ROUNDS]
// The last line is JSON: milliseconds, the median of their ratio and of their difference, and the size of the bundle.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { dist, nodeBin } from "../scripts/paths.mjs";
import { runLogged } from "../scripts/terminal.mjs";
import { until } from "../tests/e2e/driver/retry.mjs";
import { Session } from "../tests/e2e/driver/session.mjs";

const ROUNDS = Number(process.argv[2] ?? 5);
const OURS = "counterlens.counterlens";
const EMPTY = "nobody.empty";
const ACTIVATE = "exports.activate = () => undefined;";

const watch = (result) => `
const vscode = require("vscode");
const { writeFileSync } = require("node:fs");
exports.activate = async () => {
  const times = {};
  for (const id of ${JSON.stringify([EMPTY, OURS])}) {
    const extension = vscode.extensions.getExtension(id);
    const before = extension.isActive;
    const start = performance.now();
    await extension.activate();
    times[id] = before ? undefined : performance.now() - start;
  }
  writeFileSync(${JSON.stringify(result)}, JSON.stringify(times));
};`;

/** @returns {Promise<string>} the .vsix of an extension of one file */
async function made(folder, name, program, activationEvents) {
  const stage = path.join(folder, name);
  mkdirSync(stage, { recursive: true });
  const manifest = { name, publisher: "nobody", version: "0.0.1", engines: { vscode: "^1.91.0" } };
  Object.assign(manifest, { main: "./extension.js", activationEvents, license: "Apache-2.0", private: true });
  writeFileSync(path.join(stage, "package.json"), JSON.stringify(manifest));
  writeFileSync(path.join(stage, "extension.js"), program);
  const vsix = path.join(folder, `${name}.vsix`);
  const args = [
    "package",
    "--no-dependencies",
    "--allow-missing-repository",
    "--skip-license",
    "--out",
    vsix,
  ];
  await runLogged(`packaging ${name}`, nodeBin("vsce"), args, {
    cwd: stage,
    log: path.join(dist, "vsce.log"),
  });
  return vsix;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const folder = path.join(dist, "activation");
const result = path.join(folder, "times.json");
rmSync(folder, { recursive: true, force: true });
const extensions = [
  await made(folder, "empty", ACTIVATE, ["onLanguage:python"]),
  await made(folder, "watch", watch(result), ["onStartupFinished"]),
];
const session = await Session.start("activation", {
  open: "note.txt",
  files: { "note.txt": "\n" },
  extensions,
});
const rounds = [];
try {
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0) {
      rmSync(result, { force: true });
      await session.workbench.open(session.workspace, path.join(session.workspace, "note.txt"));
    }
    rounds.push(await until(() => JSON.parse(readFileSync(result, "utf8")), { ms: 60_000 }));
  }
} finally {
  await session.stop();
}
const bundle = statSync(path.join(dist, "extension/dist/extension.js")).size;
const report = {
  benchmark: "activation",
  rounds: rounds.map((round) => [round[EMPTY], round[OURS]].map((time) => Number(time.toFixed(1)))),
  ratio: Number(median(rounds.map((round) => round[OURS] / round[EMPTY])).toFixed(1)),
  difference_ms: Number(median(rounds.map((round) => round[OURS] - round[EMPTY])).toFixed(1)),
  bundle_kb: Math.round(bundle / 1000),
};
console.log(JSON.stringify(report));
