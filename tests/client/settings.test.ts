import assert from "node:assert/strict";
import test from "node:test";
import manifest from "../../client/package.json";
import { DEFAULTS, type Lookup, readSettings } from "../../client/src/settings";

interface Declared {
  order: number;
  default: unknown;
  markdownDescription: string;
  enum?: string[];
  enumDescriptions?: string[];
}

const groups: { title: string; order: number; properties: Record<string, Declared> }[] =
  manifest.contributes.configuration;
const declared = groups.flatMap(({ properties }) => Object.entries(properties));

const from =
  (values: Record<string, unknown>): Lookup =>
  (key) =>
    values[key];

/** Names such as `remote.baseUrl`, with their values. */
function flat(value: object, prefix = ""): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.entries(flat(inner, `${prefix}${key}.`))
        : [[`${prefix}${key}`, inner]],
    ),
  );
}

test("without any setting, everything has its default and nothing is reported", () => {
  assert.deepEqual(readSettings(from({})), { settings: DEFAULTS, problems: [] });
});

test("good values are taken over", () => {
  const values = {
    enable: false,
    interpreter: "/opt/python/bin/python",
    importStrategy: "fromEnvironment",
    model: "remote",
    "remote.baseUrl": "https://models.example.org/v1",
    "remote.model": "coder",
    "remote.api": "chat",
    threads: 4,
    gpuLayers: "24",
    mask: "piece",
    languages: ["java"],
    "confidence.aggregation": "median",
    "confidence.alignment": "start",
    "doubt.diagnostics": "hint",
    "doubt.runTests": false,
    "diagnostics.enabled": true,
    "diagnostics.severity": "hint",
    "diagnostics.perHundredLines": 0.5,
    "diagnostics.ignoredConcepts": ["operators", "natural language"],
    "codeLens.enabled": false,
    "testExplorer.enabled": true,
    "overlay.enabled": true,
    "overlay.calm": false,
    "overlay.granularity": "token",
    "overlay.opacity": 60,
    "overlay.underline": false,
    "menus.enabled": false,
    "inlayHints.enabled": true,
    "inlayHints.by": "function",
    "scoring.exclude": false,
    "scoring.averageLineBytes": 200,
    "scoring.longestLineBytes": 9000,
    "scoring.maxBytes": 1024,
    "scoring.idleSecondsPerMinute": 30,
    "probe.maxTokens": 64,
    "probe.samples": 20,
    "probe.budget": 30,
    "probe.corpus": "src",
    "probe.timeout": 0.5,
    "probe.code": "written",
    "probe.encoder": "remote:embedder",
    "operators.ask": "scored",
    "operators.diagnostics": "off",
    "operators.threshold": 0.95,
    "sandbox.allowWeaker": true,
    "dependences.diagnostics": true,
  };
  const { settings, problems } = readSettings(from(values));
  assert.deepEqual(problems, []);
  assert.deepEqual(flat(settings), values);
});

test("the tokens of an answer are sent only where the user has set them", () => {
  for (const value of [undefined, null]) {
    const { settings, problems } = readSettings(from({ "probe.maxTokens": value }));
    assert.deepEqual(problems, []);
    assert.equal(settings.probe.maxTokens, null);
  }
  assert.equal(readSettings(from({ "probe.maxTokens": 48 })).settings.probe.maxTokens, 48);
});

for (const [key, bad] of [
  ["enable", "yes"],
  ["model", "  "],
  ["model", 7],
  ["remote.baseUrl", "localhost:8000"],
  ["remote.api", "assistants"],
  ["threads", -1],
  ["threads", 1.5],
  ["gpuLayers", "many"],
  ["gpuLayers", "-1"],
  ["mask", "line"],
  ["confidence.aggregation", "mode"],
  ["diagnostics.severity", "error"],
  ["languages", ["cobol"]],
  ["diagnostics.perHundredLines", -1],
  ["diagnostics.perHundredLines", Number.NaN],
  ["diagnostics.ignoredConcepts", ["everything"]],
  ["doubt.diagnostics", "error"],
  ["doubt.runTests", "often"],
  ["overlay.granularity", "line"],
  ["scoring.maxBytes", 0],
  ["scoring.idleSecondsPerMinute", -1],
  ["probe.maxTokens", "many"],
  ["probe.budget", -1],
  ["probe.timeout", 0],
  ["probe.timeout", "10"],
  ["probe.code", "buggy"],
  ["probe.encoder", 3],
  ["operators.ask", "always"],
  ["operators.threshold", 2],
] as const) {
  test(`counterlens.${key} = ${JSON.stringify(bad)} gives a message and the default`, () => {
    const { settings, problems } = readSettings(from({ [key]: bad }));
    assert.deepEqual(settings, DEFAULTS);
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? "", new RegExp(`^counterlens\\.${key} is .* must be .*using`));
  });
}

test("the manifest declares the same settings with the same defaults", () => {
  const settings = declared.map(([name, setting]) => [name.replace(/^counterlens\./, ""), setting.default]);
  assert.deepEqual(Object.fromEntries(settings), flat(DEFAULTS));
});

test("each setting has a description, and each choice of an enumeration too", () => {
  for (const [name, setting] of declared) {
    assert.ok(setting.markdownDescription.length > 20, name);
    if (setting.enum) assert.equal(setting.enumDescriptions?.length, setting.enum.length, name);
  }
});

test("settings are in groups, those that people need first in the first one, and no one is in two", () => {
  const [first] = groups;
  assert.equal(Object.keys(first?.properties ?? {}).length, 5);
  assert.deepEqual(
    groups.map(({ order }) => order),
    groups.map((_, at) => at + 1),
  );
  assert.equal(new Set(groups.map(({ title }) => title)).size, groups.length);
  assert.equal(new Set(declared.map(([name]) => name)).size, declared.length);
  assert.deepEqual(
    declared.map(([, { order }]) => order),
    declared.map((_, at) => at + 1),
  );
});

test("settings that choose programs, models or addresses are restricted in untrusted workspaces", () => {
  const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
  for (const name of [
    "interpreter",
    "model",
    "remote.baseUrl",
    "remote.model",
    "remote.api",
    "probe.encoder",
    "probe.corpus",
  ]) {
    assert.ok(restrictedConfigurations.includes(`counterlens.${name}`), name);
  }
});
