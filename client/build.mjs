// Bundles the extension into client/dist/extension.js with its panels' script and style, and with --tests the unit tests into client/dist/test/.
import { readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const client = path.dirname(fileURLToPath(import.meta.url));
const unitTests = path.join(client, "../tests/client");

/** @param {{ production?: boolean }} options minified and without a source map for the package */
export async function buildExtension({ production = false } = {}) {
  const outfile = path.join(client, "dist/extension.js");
  await build({
    entryPoints: [path.join(client, "src/extension.ts")],
    bundle: true,
    outfile,
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["vscode"],
    minify: production,
    sourcemap: production ? false : "linked",
    logLevel: "warning",
  });
  await build({
    entryPoints: ["panel.ts", "panel.css"].map((name) => path.join(client, "src/webview", name)),
    bundle: true,
    outdir: path.join(client, "dist"),
    platform: "browser",
    target: "chrome120",
    format: "iife",
    minify: production,
    logLevel: "warning",
  });
  return outfile;
}

/** @returns {Promise<string[]>} the bundled test files */
export async function buildUnitTests() {
  const entries = readdirSync(unitTests).filter((name) => name.endsWith(".test.ts"));
  const outdir = path.join(client, "dist/test");
  await build({
    entryPoints: entries.map((name) => path.join(unitTests, name)),
    bundle: true,
    outdir,
    outExtension: { ".js": ".mjs" },
    platform: "node",
    target: "node20",
    format: "esm",
    external: ["typescript/*"], // it starts a program of its own, beside it
    sourcemap: "inline",
    logLevel: "warning",
  });
  return entries.map((name) => path.join(outdir, name.replace(/\.ts$/, ".mjs")));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildExtension({ production: process.argv.includes("--production") });
  if (process.argv.includes("--tests")) await buildUnitTests();
}
