// The code model that is asked by default: fetched once, into the user's cache.
import { venvBin, venvPython } from "../paths.mjs";
import { ask, run, say } from "../terminal.mjs";

const IS_MISSING =
  "from counterlens.models.default import default_model; print(bool(default_model().advice))";

/** Fetches it, unless it is here or the user has chosen another default. Without it, the embedded model answers. */
export async function provideCodeModel() {
  if ((await ask(venvPython, ["-P", "-c", IS_MISSING])) !== "True") return;
  say("  fetching the code model that is asked by default (COUNTERLENS_MODEL=smollm2-135m does without) …");
  const options = { stdio: ["ignore", process.stderr, "inherit"] };
  const code = await run(venvBin("counterlens"), ["models", "fetch"], options);
  if (code !== 0) say("  It cannot be fetched now: the embedded model answers.");
}
