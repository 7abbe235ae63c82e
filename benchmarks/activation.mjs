// Measures the cost of activating our extension, relative to an empty one, in a real VS Code. A third extension
// activates both and takes the times; no file is open that would start the server.
//   node benchmarks/activation.mjs [--rounds N] [--quick]
// Times are processor milliseconds of the extension host, the minimum of several rounds, to exclude other work of the
// machine; only their ratio is meaningful. The exit code is 1 if the ratio exceeds MOST.
// The last line is JSON: the milliseconds of each round (empty, ours), the ratio and the difference of the minima, the
// time until the host is idle again, and the size of each of our bundles.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { dist } from "../scripts/paths.mjs";
import { packedFrom } from "../tests/e2e/driver/extensions.mjs";
import { until } from "../tests/e2e/driver/retry.mjs";
import { EMBEDDED, Session } from "../tests/e2e/driver/session.mjs";

const MOST = 3;
const OURS = "counterlens.counterlens";
const EMPTY = "nobody.empty";
/** Activated before the others, so that neither includes the one-time work of the host. */
const FIRST = "nobody.first";
const ACTIVATE = "exports.activate = () => undefined;";

const watch = (result) => `
const vscode = require("vscode");
const { writeFileSync } = require("node:fs");
/** Wait until the host is idle: the editor's own extensions start at the same time. */
async function settled() {
  for (let quiet = 0; quiet < 5; ) {
    const start = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { user, system } = process.cpuUsage(start);
    quiet = user + system < 5_000 ? quiet + 1 : 0;
  }
}
exports.activate = async () => {
  const times = {};
  for (const id of ${JSON.stringify([FIRST, EMPTY, OURS])}) {
    const extension = vscode.extensions.getExtension(id);
    if (extension.isActive) throw new Error(id + " is active already");
    await settled();
    const start = process.cpuUsage();
    await extension.activate();
    const { user, system } = process.cpuUsage(start);
    times[id] = (user + system) / 1000;
    await settled();
    const all = process.cpuUsage(start);
    times[id + " settled"] = (all.user + all.system) / 1000;
  }
  writeFileSync(${JSON.stringify(result)}, JSON.stringify(times));
};`;

/** @returns {Promise<string>} the .vsix of a single-file extension */
async function made(folder, name, program, activationEvents) {
  const stage = path.join(folder, name);
  mkdirSync(stage, { recursive: true });
  const manifest = { name, publisher: "nobody", version: "0.0.1", engines: { vscode: "^1.91.0" } };
  Object.assign(manifest, { main: "./extension.js", activationEvents, license: "Apache-2.0", private: true });
  writeFileSync(path.join(stage, "package.json"), JSON.stringify(manifest));
  writeFileSync(path.join(stage, "extension.js"), program);
  return packedFrom(stage);
}

const { values: given } = parseArgs({
  options: { rounds: { type: "string", default: "9" }, quick: { type: "boolean", default: false } },
});
const wanted = given.quick ? 3 : Number(given.rounds);

const folder = path.join(dist, "activation");
const result = path.join(folder, "times.json");
rmSync(folder, { recursive: true, force: true });
const extensions = [
  await made(folder, "first", ACTIVATE, ["onLanguage:python"]),
  await made(folder, "empty", ACTIVATE, ["onLanguage:python"]),
  await made(folder, "watch", watch(result), ["onStartupFinished"]),
];
const session = await Session.start("activation", {
  model: EMBEDDED,
  open: "note.txt",
  files: { "note.txt": "\n" },
  extensions,
});
const rounds = [];
try {
  for (let round = 0; round < wanted; round++) {
    if (round > 0) {
      rmSync(result, { force: true });
      await session.workbench.open(session.workspace, path.join(session.workspace, "note.txt"));
    }
    rounds.push(await until(() => JSON.parse(readFileSync(result, "utf8")), { ms: 60_000 }));
  }
} finally {
  await session.stop();
}
const least = (id) => Math.min(...rounds.map((round) => round[id]));
const kilobytes = (name) => Math.round(statSync(path.join(dist, "extension/dist", name)).size / 1000);
const ratio = least(OURS) / least(EMPTY);
const report = {
  benchmark: "activation",
  rounds: rounds.map((round) => [round[EMPTY], round[OURS]].map((time) => Number(time.toFixed(1)))),
  ratio: Number(ratio.toFixed(2)),
  most: MOST,
  difference_ms: Number((least(OURS) - least(EMPTY)).toFixed(1)),
  settled_ms: [EMPTY, OURS].map((id) => Number(least(`${id} settled`).toFixed(1))),
  kilobytes: Object.fromEntries(
    ["extension.js", "parts.js", "languageClient.js"].map((name) => [name, kilobytes(name)]),
  ),
};
console.log(JSON.stringify(report));
process.exitCode = ratio <= MOST ? 0 : 1;
