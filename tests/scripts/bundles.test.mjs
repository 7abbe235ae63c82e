// What is loaded when: the activation loads next to nothing, and nothing but a start of the server its client.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { buildExtension } from "../../client/build.mjs";

/** How often what is activated fits into what it loads later. */
const SHARE = 50;

describe("the bundles of the extension", () => {
  let outdir;
  /** Of each bundle, by its file's name: its size, what it is made from, and what it loads. */
  let bundles;

  before(async () => {
    outdir = mkdtempSync(path.join(tmpdir(), "bundles-"));
    const { outputs } = await buildExtension({ production: true, outdir });
    bundles = Object.fromEntries(Object.entries(outputs).map(([file, made]) => [path.basename(file), made]));
  });
  after(() => rmSync(outdir, { recursive: true, force: true }));

  const loads = (name) => bundles[name].imports.map((one) => one.path);
  const packages = (name) =>
    Object.keys(bundles[name].inputs).filter((file) => file.includes("node_modules"));
  const own = (name) => Object.keys(bundles[name].inputs).filter((file) => /client\/src\//.test(file));

  test("the activation needs the editor alone, and is a small part of the whole", () => {
    assert.deepEqual(loads("extension.js").sort(), ["./parts.js", "vscode"]);
    assert.deepEqual(packages("extension.js"), []);
    assert.ok(bundles["extension.js"].bytes * SHARE < bundles["parts.js"].bytes);
  });

  test("the client library is by itself, and only the parts load it", () => {
    assert.ok(loads("parts.js").includes("./languageClient.js"));
    assert.deepEqual(packages("parts.js"), []);
    assert.ok(packages("languageClient.js").some((file) => file.includes("vscode-languageclient")));
  });

  test("no module is in two bundles, where its state would be twice", () => {
    const files = Object.keys(bundles).flatMap(own);
    assert.deepEqual([...new Set(files)].length, files.length);
    assert.ok(files.length > 50);
  });

  test("each bundle asks the editor for its interface once", () => {
    for (const name of Object.keys(bundles)) {
      assert.deepEqual(loads(name).filter((one) => one === "vscode").length, 1, name);
    }
  });
});
