// Bundles the extension into client/dist/extension.js with its panels' script and style, and with --tests the unit tests into client/dist/test/.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const client = path.dirname(fileURLToPath(import.meta.url));
const unitTests = path.join(client, "../tests/client");

/** The pages, each a script and a style, with the packages that they carry: their licences want to go with them. */
const PAGES = { panel: [], picture: ["d3-hierarchy"] };

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
  for (const [name, packages] of Object.entries(PAGES)) {
    await build({
      entryPoints: [`${name}.ts`, `${name}.css`].map((file) => path.join(client, "src/webview", file)),
      bundle: true,
      outdir: path.join(client, "dist"),
      platform: "browser",
      target: "chrome120",
      format: "iife",
      minify: production,
      banner: { js: packages.map(licence).join("\n") },
      logLevel: "warning",
    });
  }
  return outfile;
}

function licence(name) {
  const text = readFileSync(path.join(client, "../node_modules", name, "LICENSE"), "utf8");
  return `/*! ${name}\n\n${text.trim()}\n*/`;
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
