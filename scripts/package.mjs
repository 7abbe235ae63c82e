// npm run package: dist/counterlens-VERSION.vsix, from a folder that contains exactly the files that users get.
//
// Without a target it is small and for every platform: it contains the server's wheel and the lock files, from which
// the extension creates an environment. With a target it also contains all packages, and needs no network.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { makeBundle, PYTHONS, serverWheel } from "./bundle.mjs";
import { client, dist, isProgram, nodeBin, root } from "./paths.mjs";
import { withPictures } from "./readme.mjs";
import { setUpNode } from "./setup/node.mjs";
import { setUpPython } from "./setup/python.mjs";
import { main, Problem, runLogged, say } from "./terminal.mjs";

/** Files from which an environment is created: lock files in installation order, and what the build leaves out. */
const INSTALLED_FROM = ["uv.txt", "runtime.txt", "engine.txt", "engine.cmake", "model.txt"];

/**
 * @param {{ target?: string, pythons?: string[], model?: boolean, portable?: boolean, to?: string }} options
 *   `target`: include everything for one platform, for these versions of Python, with or without the embedded model, with
 *   an engine for every processor or the one of .venv; `to`: the folder for the .vsix
 * @returns {Promise<string>} the path of the .vsix
 */
export async function packageExtension({ target, pythons, model = true, portable = true, to = dist } = {}) {
  await setUpPython();
  await setUpNode();
  const { buildExtension } = await import("../client/build.mjs");
  const { outputs } = await buildExtension({ production: true });
  const bundles = Object.keys(outputs).map((name) => path.basename(name));
  const { version } = JSON.parse(readFileSync(path.join(client, "package.json"), "utf8"));
  const stage = path.join(dist, target ? `extension-${target}` : "extension");
  rmSync(stage, { recursive: true, force: true });
  const files = {
    "package.json": path.join(client, "package.json"),
    "CHANGELOG.md": path.join(root, "CHANGELOG.md"),
    LICENSE: path.join(root, "LICENSE"),
    "media/icon.png": path.join(root, "media/icon.png"),
    "media/view.svg": path.join(root, "media/view.svg"),
    ...Object.fromEntries(bundles.map((name) => [`dist/${name}`, path.join(client, "dist", name)])),
    "dist/panel.js": path.join(client, "dist/panel.js"),
    "dist/panel.css": path.join(client, "dist/panel.css"),
    "dist/picture.js": path.join(client, "dist/picture.js"),
    "dist/picture.css": path.join(client, "dist/picture.css"),
    "syntaxes/report.tmLanguage.json": path.join(client, "syntaxes/report.tmLanguage.json"),
    walkthrough: path.join(client, "walkthrough"),
  };
  if (target) await makeBundle(path.join(stage, "libs"), { target, pythons, model, portable });
  Object.assign(files, await serverFiles());
  for (const [name, source] of Object.entries(files)) {
    if (!existsSync(source)) continue;
    mkdirSync(path.dirname(path.join(stage, name)), { recursive: true });
    cpSync(source, path.join(stage, name), { recursive: true });
  }
  writeFileSync(path.join(stage, "README.md"), withPictures(path.join(client, "README.md")));
  const vsix = path.join(to, `counterlens-${[target, version].filter(Boolean).join("-")}.vsix`);
  // Links are not rewritten, since no published repository exists that relative ones could lead to.
  const args = ["package", "--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links"];
  args.push("--out", vsix);
  // A search for secrets in a model of 98 MB takes minutes. Besides the extension, which is searched in the universal
  // package, the package contains only published packages.
  if (target) args.push("--target", target, "--allow-package-all-secrets", "--allow-package-env-file");
  await runLogged("packaging the extension", nodeBin("vsce"), args, {
    cwd: stage,
    log: path.join(dist, "vsce.log"),
  });
  return vsix;
}

/** Files from which the extension creates an environment. */
async function serverFiles() {
  const wheel = await serverWheel(dist);
  const others = INSTALLED_FROM.map((name) => [`server/${name}`, path.join(root, "requirements", name)]);
  return { [`server/${path.basename(wheel)}`]: wheel, ...Object.fromEntries(others) };
}

const USAGE = `npm run package [-- --target linux-x64 [--without-model] [--python ${PYTHONS.join(",")}]]`;

function options(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        target: { type: "string" },
        python: { type: "string" },
        "without-model": { type: "boolean", default: false },
      },
    });
    const pythons = values.python?.split(",");
    if (!values.target && (pythons || values["without-model"])) throw new Error("that needs a --target");
    const unknown = pythons?.find((each) => !PYTHONS.includes(each));
    if (unknown !== undefined) throw new Error(`--python takes any of ${PYTHONS.join(",")}, not ${unknown}`);
    return { target: values.target, pythons, model: !values["without-model"] };
  } catch (error) {
    throw new Problem(`npm run package: ${error.message}.`, USAGE);
  }
}

if (isProgram(import.meta.url)) {
  await main(async () => {
    const vsix = await packageExtension(options(process.argv.slice(2)));
    say(`${path.relative(root, vsix)} is ready: install it with`);
    say("  code --install-extension FILE, or “Extensions: Install from VSIX…” in VS Code.");
  });
}
