// The Node side: node_modules from package-lock.json, for building and testing the editor extension.
import { readFileSync } from "node:fs";
import path from "node:path";
import { root, vscodeTest } from "../paths.mjs";
import { runLogged, say } from "../terminal.mjs";
import { digest, isStamped, stamp, unstamp } from "./stamp.mjs";

const STAMP = path.join(root, "node_modules/.counterlens-setup");

export async function setUpNode() {
  const inputs = ["package.json", "package-lock.json", "client/package.json"];
  const wanted = digest(process.version, ...inputs.map((file) => readFileSync(path.join(root, file))));
  if (isStamped(STAMP, wanted)) return;
  unstamp(STAMP);
  say("Setting up Node packages:");
  // No package needs its install script here: the platform binaries are packages of their own.
  await runLogged("npm ci", "npm", ["ci", "--ignore-scripts"], {
    log: path.join(vscodeTest, "logs/npm-ci.log"),
  });
  stamp(STAMP, wanted);
}
