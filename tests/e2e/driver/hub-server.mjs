// A local stand-in for the Hugging Face hub, with all files of one model.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { root, venvPython } from "../../../scripts/paths.mjs";

/**
 * @param {Record<string, string>} files paths of files by their names on the hub
 * @returns {Promise<{ url: string, stop: () => void }>}
 */
export async function startHub(files) {
  const named = Object.entries(files).map(([name, path]) => `${name}=${path}`);
  const server = spawn(venvPython, ["-m", "tests.models.hub_server", ...named], {
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(server.stdout, "data");
  return { url: JSON.parse(String(line)).url, stop: () => server.kill() };
}
