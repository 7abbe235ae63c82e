// npm run package: dist/counterlens-VERSION.vsix, from a folder that holds exactly what users get.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { client, dist, nodeBin, root } from "./paths.mjs";
import { setUpNode } from "./setup/node.mjs";
import { main, runLogged, say } from "./terminal.mjs";

/** @returns {Promise<string>} the path of the .vsix */
export async function packageExtension() {
  await setUpNode();
  const { buildExtension } = await import("../client/build.mjs");
  const bundle = await buildExtension({ production: true });
  const { version } = JSON.parse(readFileSync(path.join(client, "package.json"), "utf8"));
  const stage = path.join(dist, "extension");
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(path.join(stage, "media"), { recursive: true });
  const files = {
    "package.json": path.join(client, "package.json"),
    "README.md": path.join(client, "README.md"),
    "CHANGELOG.md": path.join(root, "CHANGELOG.md"),
    LICENSE: path.join(root, "LICENSE"),
    "media/icon.png": path.join(root, "media/icon.png"),
    "dist/extension.js": bundle,
    "dist/panel.js": path.join(client, "dist/panel.js"),
    "dist/panel.css": path.join(client, "dist/panel.css"),
    "syntaxes/report.tmLanguage.json": path.join(client, "syntaxes/report.tmLanguage.json"),
  };
  for (const [name, source] of Object.entries(files)) {
    if (existsSync(source)) cpSync(source, path.join(stage, name));
  }
  const vsix = path.join(dist, `counterlens-${version}.vsix`);
  const args = ["package", "--no-dependencies", "--allow-missing-repository", "--out", vsix];
  await runLogged("packaging the extension", nodeBin("vsce"), args, {
    cwd: stage,
    log: path.join(dist, "vsce.log"),
  });
  return vsix;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    say(`${path.relative(root, await packageExtension())} is ready: install it with`);
    say("  code --install-extension FILE, or “Extensions: Install from VSIX…” in VS Code.");
  });
}
