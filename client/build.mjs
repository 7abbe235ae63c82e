// Bundles the extension into client/dist: its parts, and the scripts and styles of its panels. With --tests, also
// bundles the unit tests into client/dist/test/.
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { isProgram } from "../scripts/paths.mjs";

const client = path.dirname(fileURLToPath(import.meta.url));
const unitTests = path.join(client, "../tests/client");

/** The bundles of the extension: the one that is activated, and those that are loaded when they are needed. */
const BUNDLES = ["extension", "parts", "languageClient"];

/** A dynamically imported module is a separate bundle. A module that two bundles import is included in both. */
const apart = {
  name: "apart",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\// }, ({ kind, path: module }) =>
      kind === "dynamic-import" ? { path: `${module}.js`, external: true } : undefined,
    );
  },
};

/**
 * The editor's API, required once and used without a copy. By default every file would require it, which makes the
 * editor look up the extension that owns the file, and esbuild copy the API property by property: together most of the
 * activation time.
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

/**
 * The pages, each a script and a style, with the packages that they include: the licences of these must be included
 * too.
 */
const PAGES = { panel: [], picture: ["d3-hierarchy"] };

/**
 * @param {{ production?: boolean, outdir?: string }} options `production`: minified and without a source map, for the
 *   package; `outdir`: the output folder, client/dist by default
 * @returns {Promise<import("esbuild").Metafile>} the contents of each of the extension's bundles
 */
export async function buildExtension({ production = false, outdir = path.join(client, "dist") } = {}) {
  const { metafile } = await build({
    entryPoints: BUNDLES.map((name) => path.join(client, `src/${name}.ts`)),
    bundle: true,
    outdir,
    platform: "node",
    target: "node20",
    format: "cjs",
    supported: { "dynamic-import": false }, // the oldest supported editor provides its API through `require` only
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
    external: ["typescript/*"], // starts its own program, which is beside it
    sourcemap: "inline",
    logLevel: "warning",
  });
  return entries.map((name) => path.join(outdir, name.replace(/\.ts$/, ".mjs")));
}

if (isProgram(import.meta.url)) {
  await buildExtension({ production: process.argv.includes("--production") });
  if (process.argv.includes("--tests")) await buildUnitTests();
}
