// A real OpenAI-compatible server on this machine (llama-cpp-python's own) that serves a short model.
import { spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import path from "node:path";
import { venvPython } from "../../../scripts/paths.mjs";
import { freePort } from "./ports.mjs";
import { until } from "./retry.mjs";
import { shortModel } from "./short-model.mjs";

/**
 * @param {{ folder: string, key: string, model: string }} options the folder of its log, the key that it requires, and
 *   the name of its model
 */
export async function startModelServer({ folder, key, model }) {
  const file = await shortModel();
  const port = await freePort();
  const log = path.join(folder, "model-server.log");
  const out = openSync(log, "w");
  const args = ["-m", "llama_cpp.server", "--model", file, "--model_alias", model, "--api_key", key];
  args.push("--port", String(port), "--n_ctx", "2048", "--n_threads", "1");
  args.push("--interrupt_requests", "false"); // otherwise a second request interrupts the first one
  const options = { env: { ...process.env, PYTHONUNBUFFERED: "1" }, stdio: ["ignore", out, out] };
  const server = spawn(venvPython, args, options);
  process.once("exit", () => server.kill("SIGKILL"));
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  await until(
    async () => {
      const { ok } = await fetch(`${baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } });
      if (!ok) throw new Error("the model server does not answer");
    },
    { ms: 60_000 },
  );
  return { baseUrl, log: () => readFileSync(log, "utf8"), stop: () => server.kill("SIGKILL") };
}
