// A real OpenAI-compatible server on this machine (llama.cpp's own) that serves a short model.
import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import path from "node:path";
import { root, venvPython } from "../../../scripts/paths.mjs";
import { freePort } from "./ports.mjs";
import { startRequestLog } from "./request-log.mjs";
import { until } from "./retry.mjs";
import { shortModel } from "./short-model.mjs";

const SCRIPT = path.join(root, "tests/models/remote/scoring/llama_server.py");

/**
 * @param {{ folder: string, key: string, model: string }} options the folder of its log, the key that it requires, and
 *   the name of its model
 */
export async function startModelServer(options) {
  // Another process may take the free port before the server does; then the server ends at once.
  for (let attempt = 1; ; attempt += 1) {
    const server = await startOnFreePort(options);
    if (server) return server;
    if (attempt === 3) throw new Error("the model server ended three times; see model-server.log");
  }
}

async function startOnFreePort({ folder, key, model }) {
  const file = await shortModel();
  const port = await freePort();
  const out = openSync(path.join(folder, "model-server.log"), "w");
  const args = [SCRIPT, file, "--context=2048", `--alias=${model}`, `--key=${key}`, String(port)];
  const options = { env: { ...process.env, PYTHONUNBUFFERED: "1" }, stdio: ["ignore", out, out] };
  const server = spawn(venvPython, args, options);
  process.once("exit", () => server.kill("SIGKILL"));
  const requests = await startRequestLog(port); // the server's log has no requests
  const baseUrl = `${requests.url}/v1`;
  const stop = () => {
    server.kill("SIGKILL");
    requests.stop();
  };
  const answers = await until(async () => {
    if (server.exitCode !== null) return false;
    const { ok } = await fetch(`${baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } });
    if (!ok) throw new Error("the model server does not answer");
    return true;
  });
  if (!answers) {
    stop();
    return null;
  }
  return { baseUrl, log: requests.log, hold: requests.hold, stop };
}
