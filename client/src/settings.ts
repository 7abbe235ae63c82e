/** Typed settings. An invalid value gives a message, and the default is used instead. */

import { IMPORT_STRATEGIES, type ImportStrategy } from "./install/choosing";

export const LANGUAGES = [
  "python",
  "java",
  "javascript",
  "typescript",
  "typescriptreact",
  "go",
  "rust",
  "c",
  "cpp",
  "csharp",
  "kotlin",
  "php",
  "ruby",
  "scala",
  "shellscript",
] as const;
/** Languages whose functions can be probed. */
export const PROBED_LANGUAGES: readonly string[] = ["python", "java"];
export type Language = (typeof LANGUAGES)[number];

export const GRANULARITIES = ["token", "leaf", "statement", "concept"] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** From coarse to fine. */
const FINENESS: Granularity[] = ["concept", "statement", "leaf", "token"];

/** The granularity that is finer by a number of steps, limited to the finest and the coarsest. */
export function finer(granularity: Granularity, steps: number): Granularity {
  const wanted = FINENESS.indexOf(granularity) + steps;
  return FINENESS[Math.min(Math.max(wanted, 0), FINENESS.length - 1)] ?? granularity;
}

export const CONCEPTS = [
  "data structures",
  "decision",
  "exceptions",
  "functional programming",
  "iteration",
  "natural language",
  "operators",
  "scope",
  "testing",
  "types",
  "structure",
  "uncategorised",
] as const;
export type Concept = (typeof CONCEPTS)[number];

export interface Settings {
  enable: boolean;
  interpreter: string;
  importStrategy: ImportStrategy;
  model: string;
  remote: { baseUrl: string; model: string; api: "completions" | "chat" };
  threads: number;
  /** A number, `all` or `auto`. */
  gpuLayers: string;
  mask: "word" | "piece";
  languages: Language[];
  confidence: {
    aggregation: "mean" | "median" | "max" | "min";
    alignment: "overlap" | "start";
  };
  doubt: { diagnostics: "off" | "hint" | "information"; runTests: boolean };
  diagnostics: {
    enabled: boolean;
    severity: "hint" | "information";
    perHundredLines: number;
    ignoredConcepts: Concept[];
  };
  codeLens: { enabled: boolean };
  testExplorer: { enabled: boolean };
  overlay: { enabled: boolean; calm: boolean; granularity: Granularity; opacity: number; underline: boolean };
  menus: { enabled: boolean };
  inlayHints: { enabled: boolean; by: "statement" | "function" };
  scoring: {
    exclude: boolean;
    maxBytes: number;
    idleSecondsPerMinute: number;
    averageLineBytes: number;
    longestLineBytes: number;
  };
  probe: {
    /** Null if each probe uses its own default. */
    maxTokens: number | null;
    samples: number;
    /** Seconds; 0 for no limit. */
    budget: number;
    timeout: number;
    code: "given" | "written";
    encoder: string;
    corpus: string;
  };
  sandbox: { allowWeaker: boolean };
  dependences: { diagnostics: boolean };
  operators: {
    ask: "never" | "hover" | "scored";
    diagnostics: "off" | "hint" | "information";
    threshold: number;
  };
}

/** The model that comes with Counterlens; without a setting, the server chooses the default one. */
export const EMBEDDED_MODEL = "smollm2-135m";

export const DEFAULTS: Settings = {
  enable: true,
  interpreter: "",
  importStrategy: "useBundled",
  model: "",
  remote: { baseUrl: "", model: "", api: "completions" },
  threads: 0,
  gpuLayers: "auto",
  mask: "word",
  languages: ["python", "java", "javascript"],
  confidence: { aggregation: "mean", alignment: "overlap" },
  doubt: { diagnostics: "information", runTests: true },
  diagnostics: { enabled: false, severity: "information", perHundredLines: 3, ignoredConcepts: [] },
  codeLens: { enabled: true },
  testExplorer: { enabled: false },
  overlay: { enabled: false, calm: true, granularity: "statement", opacity: 100, underline: true },
  menus: { enabled: true },
  inlayHints: { enabled: false, by: "statement" },
  scoring: {
    exclude: true,
    maxBytes: 65536,
    idleSecondsPerMinute: 6,
    averageLineBytes: 160,
    longestLineBytes: 4000,
  },
  probe: { maxTokens: null, samples: 0, budget: 60, timeout: 10, code: "given", encoder: "", corpus: "" },
  sandbox: { allowWeaker: false },
  dependences: { diagnostics: false },
  operators: { ask: "hover", diagnostics: "information", threshold: 0.9 },
};

/** Reads one setting by its name below `counterlens.`, or undefined if it is not set. */
export type Lookup = (key: string) => unknown;

type Check<T> = { expected: () => string; accepts: (value: unknown) => value is T };

const aBoolean: Check<boolean> = {
  expected: () => "true or false",
  accepts: (value): value is boolean => typeof value === "boolean",
};

const aString: Check<string> = {
  expected: () => "a string",
  accepts: (value): value is string => typeof value === "string",
};

const aModel: Check<string> = {
  expected: () => "the name of a model",
  accepts: (value): value is string => value === "" || (typeof value === "string" && value.trim() !== ""),
};

const aUrl: Check<string> = {
  expected: () => "an http:// or https:// address, or empty",
  accepts: (value): value is string =>
    typeof value === "string" && (value === "" || /^https?:\/\/\S+$/.test(value)),
};

const aLayerCount: Check<string> = {
  expected: () => "a number, all or auto",
  accepts: (value): value is string => typeof value === "string" && /^(auto|all|[0-9]{1,4})$/.test(value),
};

function oneOf<T extends string>(...values: T[]): Check<T> {
  return {
    expected: () => `one of ${values.map((value) => `"${value}"`).join(", ")}`,
    accepts: (value): value is T => values.includes(value as T),
  };
}

function integer(least: number, most: number): Check<number> {
  return {
    expected: () => `an integer from ${least} to ${most}`,
    accepts: (value): value is number =>
      Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  };
}

function number(least: number, most: number): Check<number> {
  return {
    expected: () => `a number from ${least} to ${most}`,
    accepts: (value): value is number => typeof value === "number" && value >= least && value <= most,
  };
}

function anyOf<T extends string>(values: readonly T[]): Check<T[]> {
  return {
    expected: () => `a list of values from ${values.map((value) => `"${value}"`).join(", ")}`,
    accepts: (value): value is T[] => Array.isArray(value) && value.every((one) => values.includes(one)),
  };
}

/**
 * Reads all settings.
 *
 * @returns The settings, and one sentence for each value that was replaced by its default.
 */
export function readSettings(lookup: Lookup): { settings: Settings; problems: string[] } {
  const problems: string[] = [];
  function read<T>(key: string, check: Check<T>, fallback: T): T {
    const value = lookup(key);
    if (value === undefined || value === null) return fallback;
    if (check.accepts(value)) return value;
    problems.push(
      `counterlens.${key} is ${JSON.stringify(value)}, but must be ${check.expected()}; using ${JSON.stringify(fallback)}.`,
    );
    return fallback;
  }
  const d = DEFAULTS;
  const settings: Settings = {
    enable: read("enable", aBoolean, d.enable),
    interpreter: read("interpreter", aString, d.interpreter),
    importStrategy: read("importStrategy", oneOf(...IMPORT_STRATEGIES), d.importStrategy),
    model: read("model", aModel, d.model),
    remote: {
      baseUrl: read("remote.baseUrl", aUrl, d.remote.baseUrl),
      model: read("remote.model", aString, d.remote.model),
      api: read("remote.api", oneOf("completions", "chat"), d.remote.api),
    },
    threads: read("threads", integer(0, 1024), d.threads),
    gpuLayers: read("gpuLayers", aLayerCount, d.gpuLayers),
    mask: read("mask", oneOf("word", "piece"), d.mask),
    languages: read("languages", anyOf(LANGUAGES), d.languages),
    confidence: {
      aggregation: read(
        "confidence.aggregation",
        oneOf("mean", "median", "max", "min"),
        d.confidence.aggregation,
      ),
      alignment: read("confidence.alignment", oneOf("overlap", "start"), d.confidence.alignment),
    },
    doubt: {
      diagnostics: read("doubt.diagnostics", oneOf("off", "hint", "information"), d.doubt.diagnostics),
      runTests: read("doubt.runTests", aBoolean, d.doubt.runTests),
    },
    diagnostics: {
      enabled: read("diagnostics.enabled", aBoolean, d.diagnostics.enabled),
      severity: read("diagnostics.severity", oneOf("hint", "information"), d.diagnostics.severity),
      perHundredLines: read("diagnostics.perHundredLines", number(0, 100), d.diagnostics.perHundredLines),
      ignoredConcepts: read("diagnostics.ignoredConcepts", anyOf(CONCEPTS), d.diagnostics.ignoredConcepts),
    },
    codeLens: { enabled: read("codeLens.enabled", aBoolean, d.codeLens.enabled) },
    testExplorer: { enabled: read("testExplorer.enabled", aBoolean, d.testExplorer.enabled) },
    overlay: {
      enabled: read("overlay.enabled", aBoolean, d.overlay.enabled),
      calm: read("overlay.calm", aBoolean, d.overlay.calm),
      granularity: read("overlay.granularity", oneOf(...GRANULARITIES), d.overlay.granularity),
      opacity: read("overlay.opacity", number(10, 200), d.overlay.opacity),
      underline: read("overlay.underline", aBoolean, d.overlay.underline),
    },
    menus: { enabled: read("menus.enabled", aBoolean, d.menus.enabled) },
    inlayHints: {
      enabled: read("inlayHints.enabled", aBoolean, d.inlayHints.enabled),
      by: read("inlayHints.by", oneOf("statement", "function"), d.inlayHints.by),
    },
    scoring: {
      exclude: read("scoring.exclude", aBoolean, d.scoring.exclude),
      maxBytes: read("scoring.maxBytes", integer(1, 16 * 1024 * 1024), d.scoring.maxBytes),
      idleSecondsPerMinute: read(
        "scoring.idleSecondsPerMinute",
        number(0, 6000),
        d.scoring.idleSecondsPerMinute,
      ),
      averageLineBytes: read("scoring.averageLineBytes", integer(1, 65536), d.scoring.averageLineBytes),
      longestLineBytes: read("scoring.longestLineBytes", integer(1, 16777216), d.scoring.longestLineBytes),
    },
    probe: {
      maxTokens: read<number | null>("probe.maxTokens", integer(1, 131_072), d.probe.maxTokens),
      samples: read("probe.samples", integer(0, 200), d.probe.samples),
      budget: read("probe.budget", number(0, 86_400), d.probe.budget),
      timeout: read("probe.timeout", number(0.1, 3600), d.probe.timeout),
      code: read("probe.code", oneOf("given", "written"), d.probe.code),
      encoder: read("probe.encoder", aString, d.probe.encoder),
      corpus: read("probe.corpus", aString, d.probe.corpus),
    },
    sandbox: { allowWeaker: read("sandbox.allowWeaker", aBoolean, d.sandbox.allowWeaker) },
    dependences: { diagnostics: read("dependences.diagnostics", aBoolean, d.dependences.diagnostics) },
    operators: {
      ask: read("operators.ask", oneOf("never", "hover", "scored"), d.operators.ask),
      diagnostics: read(
        "operators.diagnostics",
        oneOf("off", "hint", "information"),
        d.operators.diagnostics,
      ),
      threshold: read("operators.threshold", number(0, 1), d.operators.threshold),
    },
  };
  return { settings, problems };
}
