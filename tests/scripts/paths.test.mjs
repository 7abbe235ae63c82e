// A clone may be anywhere: at a path with blanks or é, deep below its root, and reached through links.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { root } from "../../scripts/paths.mjs";

const place = realpathSync(mkdtempSync(path.join(tmpdir(), "counterlens-paths-")));
after(() => rmSync(place, { recursive: true, force: true }));

test("a script runs by any name of its folder", () => {
  const folder = path.join(place, "é and blanks", ...Array(30).fill("deep"));
  mkdirSync(folder, { recursive: true });
  const script = path.join(folder, "script.mjs");
  const paths = JSON.stringify(pathToFileURL(path.join(root, "scripts/paths.mjs")).href);
  writeFileSync(script, `import { isProgram } from ${paths};\nconsole.log(isProgram(import.meta.url));\n`);
  writeFileSync(path.join(folder, "other.mjs"), 'import "./script.mjs";\n');
  symlinkSync(folder, path.join(place, "link"));
  const said = (file) => execFileSync(process.execPath, [file], { encoding: "utf8" }).trim();
  assert.equal(said(script), "true");
  assert.equal(said(path.join(place, "link/script.mjs")), "true");
  assert.equal(said(path.join(place, "link/other.mjs")), "false");
});
