// The Node side: node_modules from package-lock.json, for building and testing the editor extension.
import { readFileSync } from "node:fs";
import path from "node:path";
import { root, vscodeTest } from "../paths.mjs";
import { runLogged, say } from "../terminal.mjs";
import { digest, isStamped, stamp, unstamp } from "./stamp.mjs";

const STAMP = path.join(root, "node_modules/.counterlens-setup");

/** Fields of a package.json that determine what is installed; other fields may change without a new installation. */
const FIELDS = [
  "name",
  "bin",
  "workspaces",
  "dependencies",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
  "peerDependenciesMeta",
  "bundleDependencies",
  "overrides",
];

/** Digest of what a lock file installs for these manifests: equal digests mean equal packages. */
export function installed(lock, manifests) {
  const read = manifests.map((text) => {
    const manifest = JSON.parse(text);
    return JSON.stringify(FIELDS.map((field) => manifest[field] ?? null));
  });
  return digest(process.version, lock, ...read);
}

export async function setUpNode() {
  const read = (file) => readFileSync(path.join(root, file), "utf8");
  const wanted = installed(read("package-lock.json"), [read("package.json"), read("client/package.json")]);
  if (isStamped(STAMP, wanted)) return;
  unstamp(STAMP);
  say("Setting up Node packages:");
  // No package needs its install script: platform binaries are separate packages.
  await runLogged("npm ci", "npm", ["ci", "--ignore-scripts"], {
    log: path.join(vscodeTest, "logs/npm-ci.log"),
  });
  stamp(STAMP, wanted);
}
