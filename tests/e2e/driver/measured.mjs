// Slow measurements of how the models decode and round on this machine: made once for all sessions of a run, since
// sessions that run in parallel would make them each for itself.
import path from "node:path";
import { venvPython } from "../../../scripts/paths.mjs";
import { run } from "../../../scripts/terminal.mjs";
import { hasNotes, keepNotes } from "./home.mjs";
import { shortModel } from "./short-model.mjs";

const COMPLETE = `
import sys
from counterlens.models import load
from counterlens.models.base import Prompt

for spec in sys.argv[1:]:
    with load(spec) as model:
        model.complete([Prompt("x = ", 1)])
`;

/** Measures the embedded model and the short one, unless an earlier run has, or they are in the cache. */
export async function measure(cache) {
  if (hasNotes()) return;
  const options = { env: { ...process.env, XDG_CACHE_HOME: cache } };
  const code = await run(venvPython, ["-c", COMPLETE, "smollm2-135m", await shortModel()], options);
  if (code !== 0) throw new Error(`the models were not measured: ${code}`);
  keepNotes(path.join(cache, "counterlens"));
}
