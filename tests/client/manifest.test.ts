import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import manifest from "../../client/package.json";
import {
  COMPLETE_AND_EXPLAIN,
  OVERLAY_LEVELS,
  SHOW_COUNTERFACTUAL,
  SHOW_DEPENDENCES,
  SHOW_MUTANTS,
} from "../../client/src/protocol";

const root = process.cwd();
const source = (name: string) => readFileSync(path.join(root, name), "utf8");

test("the extension and the Python package have one version", () => {
  const python = /^__version__ = "(.+)"$/m.exec(source("server/counterlens/__init__.py"))?.[1];
  assert.equal(manifest.version, python);
});

test("each command of the manifest is registered, and each registered one is in the manifest", () => {
  const code = source("client/src/commands.ts");
  const registered = new Set(
    Array.from(code.matchAll(/"(counterlens\.\w+)": \((?:\w+\?: \w+)?\)/g), (match) => match[1]),
  );
  if (/\[SHOW_ACTIONS\]: \(\)/.test(code)) registered.add("counterlens.showActions");
  if (/\[COMPLETE_AND_EXPLAIN\]: \(/.test(code)) registered.add(COMPLETE_AND_EXPLAIN);
  if (/\[SHOW_COUNTERFACTUAL\]: \(/.test(code)) registered.add(SHOW_COUNTERFACTUAL);
  if (/\[SHOW_DEPENDENCES\]: \(/.test(code)) registered.add(SHOW_DEPENDENCES);
  if (/\[SHOW_MUTANTS\]: \(/.test(code)) registered.add(SHOW_MUTANTS);
  assert.deepEqual(registered, new Set(manifest.contributes.commands.map(({ command }) => command)));
});

test("there is one theme colour for each level of the overlay", () => {
  assert.deepEqual(
    manifest.contributes.colors.map(({ id }) => id),
    Array.from({ length: OVERLAY_LEVELS }, (_, level) => `counterlens.confidence${level}`),
  );
});
