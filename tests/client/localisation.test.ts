import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import bundle from "../../client/l10n/bundle.l10n.de.json";
import german from "../../client/l10n/manifest.de.json";
import manifest from "../../client/package.json";
import { keyed, translated } from "../../scripts/localise.mjs";

/** The English texts of the messages in the code. */
function messages(): Set<string> {
  const folder = path.join(process.cwd(), "client/src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const found = files
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => {
      const code = readFileSync(path.join(folder, name), "utf8");
      const calls = code.matchAll(/l10n\.t\(\s*("(?:[^"\\]|\\.)*")?/g);
      return Array.from(calls, ([, literal]) => {
        assert.ok(literal, `${name}: a message has to be one literal text`);
        return JSON.parse(literal) as string;
      });
    });
  return new Set(found);
}

/** What a translation may not change: code, keys of settings, commands behind links, places of values. */
const fixed = (text: string) => (text.match(/`[^`]*`|\]\([^)]*\)|\{\d\}|\$\([\w-]+\)/g) ?? []).sort();

function assertTranslated(english: Iterable<string>, translations: Record<string, string>): void {
  const texts = new Set(english);
  const untranslated = [...texts].filter((text) => !translations[text]);
  assert.deepEqual(untranslated, [], "without a translation");
  const unused = Object.keys(translations).filter((text) => !texts.has(text));
  assert.deepEqual(unused, [], "translations of nothing");
  for (const [text, translation] of Object.entries(translations)) {
    assert.deepEqual(fixed(translation), fixed(text), text);
  }
}

test("each text of the manifest has a German one", () => {
  assertTranslated(Object.values(keyed(manifest).texts), german);
});

test("each message has a German one", () => {
  assertTranslated(messages(), bundle);
});

test("in the package each text is a key that has the text in both languages", () => {
  const { manifest: packaged, texts } = keyed(manifest);
  const used = new Set(Array.from(JSON.stringify(packaged).matchAll(/"%([^%"]+)%"/g), ([, key]) => key));
  assert.deepEqual(used, new Set(Object.keys(texts)));
  assert.deepEqual(Object.keys(translated(texts, german)), Object.keys(texts));
  const commands: { command: string; title: string; category: string }[] = packaged.contributes.commands;
  const probe = commands.find(({ command }) => command === "counterlens.probeAtCursor");
  assert.equal(probe?.title, "%contributes.commands.counterlens.probeAtCursor.title%");
  assert.ok(commands.every(({ category }) => category === "Counterlens"));
});
