// When the Node packages are installed again: when what is installed would differ, and not for every edit of a manifest.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { client, root } from "../../scripts/paths.mjs";
import { installed } from "../../scripts/setup/node.mjs";

const lock = readFileSync(path.join(root, "package-lock.json"), "utf8");
const project = readFileSync(path.join(root, "package.json"), "utf8");
const extension = readFileSync(path.join(client, "package.json"), "utf8");
const wanted = installed(lock, [project, extension]);

/** The stamp after an edit of the extension's manifest. */
function after(edit) {
  const manifest = JSON.parse(extension);
  edit(manifest);
  return installed(lock, [project, JSON.stringify(manifest)]);
}

describe("the stamp of the Node packages", () => {
  test("stays when a manifest gets another text, setting, version or format", () => {
    const edits = [
      (manifest) => Object.assign(manifest, { description: "Another one.", version: "9.9.9" }),
      (manifest) => delete manifest.contributes.configuration[0].properties["counterlens.model"],
      (manifest) => manifest.contributes.commands.pop(),
      () => undefined,
    ];
    for (const edit of edits) assert.equal(after(edit), wanted);
  });

  test("differs when packages are added, removed or taken in another version", () => {
    const edits = [
      (manifest) => Object.assign(manifest.dependencies, { "left-pad": "1.3.0" }),
      (manifest) => delete manifest.devDependencies,
      (manifest) => Object.assign(manifest, { optionalDependencies: { fsevents: "*" } }),
      (manifest) => Object.assign(manifest, { overrides: { undici: "7.0.0" } }),
      (manifest) => Object.assign(manifest, { name: "another" }),
    ];
    const stamps = edits.map(after);
    assert.equal(new Set([wanted, ...stamps]).size, edits.length + 1);
    assert.notEqual(installed(`${lock} `, [project, extension]), wanted);
    assert.notEqual(installed(lock, [extension, project]), wanted);
  });
});
