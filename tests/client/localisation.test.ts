import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import bundle from "../../client/l10n/bundle.l10n.de.json";
import german from "../../client/l10n/manifest.de.json";
import manifest from "../../client/package.json";
import { keyed, translated } from "../../scripts/localise.mjs";
import { messagesOf } from "./messages";

const sources = path.join(process.cwd(), "client/src");
const files = readdirSync(sources, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => path.join(sources, name));
const { translated: messages, untranslated, misused } = messagesOf(files);

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
  assertTranslated(messages, bundle);
});

test("no text that a person reads is in the code as it stands", () => {
  assert.deepEqual(untranslated, []);
});

test("a text is translated as one literal, and where there is no editor not before it is asked for", () => {
  assert.deepEqual(misused, []);
});

test("a text that is not translated is found wherever it stands", (context) => {
  const code = [
    'const title = "Two words";',
    "const label = { label: `$" + "{shown} of the code` };",
    'const early = t("Too early");',
    "const late = () => t(chosen);",
    'const fine = () => t("{0} is fine", "Not This");',
    'log.info("for the log");',
    'const kind: "Two words" = read("counterlens.model");',
  ];
  const folder = mkdtempSync(path.join(tmpdir(), "counterlens-messages-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "a.ts");
  writeFileSync(file, code.join("\n"));
  const found = messagesOf([file]);
  const lines = (texts: string[]) => texts.map((text) => Number(text.split(":")[1]));
  assert.deepEqual(lines(found.untranslated), [1, 2, 5]);
  assert.deepEqual(lines(found.misused), [3, 4]);
  assert.deepEqual([...found.translated], ["Too early", "{0} is fine"]);
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
