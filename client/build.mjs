// Bundles the extension into client/dist: its parts, its panels' scripts and styles; with --tests the unit tests into client/dist/test/.
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const client = path.dirname(fileURLToPath(import.meta.url));
const unitTests = path.join(client, "../tests/client");

/** The bundles of the extension: the one that is activated, and those that it and they load when they are needed. */
const BUNDLES = ["extension", "parts", "languageClient"];

/** A module that is imported dynamically is another bundle; what two of them import, each of them has for itself. */
const apart = {
  name: "apart",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\// }, ({ kind, path: module }) =>
      kind === "dynamic-import" ? { path: `${module}.js`, external: true } : undefined,
    );
  },
};

/**
 * The editor's interface, asked for once and taken as it is. Otherwise each file would ask for it, which makes the
 * editor look up whose file it is, and have a copy, property by property: together most of what activation cost.
 */
const vscodeOnce = {
  name: "vscode-once",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^vscode$/ }, ({ namespace }) =>
      namespace === "once" ? { path: "vscode", external: true } : { path: "vscode", namespace: "once" },
    );
    onLoad({ filter: /^/, namespace: "once" }, () => ({ contents: 'module.exports = require("vscode");' }));
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, "utf8")).replace(
        /^import \* as (\w+) from ("vscode"|"node:[^"]+");$/gm,
        "import $1 = require($2);",
      ),
      loader: "ts",
    }));
  },
};

/** The pages, each a script and a style, with the packages that they carry: their licences want to go with them. */
const PAGES = { panel: [], picture: ["d3-hierarchy"] };

/**
 * @param {{ production?: boolean, outdir?: string }} options `production`: minified and without a source map, for the
 *   package; `outdir`: where to, else client/dist
 * @returns {Promise<import("esbuild").Metafile>} what is in which of the extension's bundles
 */
export async function buildExtension({ production = false, outdir = path.join(client, "dist") } = {}) {
  const { metafile } = await build({
    entryPoints: BUNDLES.map((name) => path.join(client, `src/${name}.ts`)),
    bundle: true,
    outdir,
    platform: "node",
    target: "node20",
    format: "cjs",
    supported: { "dynamic-import": false }, // the oldest editor hands out its interface by `require` alone
    plugins: [apart, vscodeOnce],
    minify: production,
    sourcemap: production ? false : "linked",
    metafile: true,
    logLevel: "warning",
  });
  for (const [name, packages] of Object.entries(PAGES)) {
    await build({
      entryPoints: [`${name}.ts`, `${name}.css`].map((file) => path.join(client, "src/webview", file)),
      bundle: true,
      outdir,
      platform: "browser",
      target: "chrome120",
      format: "iife",
      minify: production,
      banner: { js: packages.map(licence).join("\n") },
      logLevel: "warning",
    });
  }
  return metafile;
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
