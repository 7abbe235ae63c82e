/** Typed settings. A bad value never stops anything: it gives a message and the default. */

export interface Settings {
  enable: boolean;
  interpreter: string;
  model: string;
  remote: { baseUrl: string; model: string; api: "completions" | "chat" };
  threads: number;
  confidence: { aggregation: "mean" | "median" | "max" | "min" };
  diagnostics: { enabled: boolean; severity: "hint" | "information"; threshold: number };
  codeLens: { enabled: boolean };
  overlay: { enabled: boolean };
  scoring: { maxBytes: number };
  probe: { maxTokens: number };
}

export const DEFAULTS: Settings = {
  enable: true,
  interpreter: "",
  model: "smollm2-135m",
  remote: { baseUrl: "", model: "", api: "completions" },
  threads: 0,
  confidence: { aggregation: "mean" },
  diagnostics: { enabled: true, severity: "information", threshold: 0.001 },
  codeLens: { enabled: true },
  overlay: { enabled: true },
  scoring: { maxBytes: 65536 },
  probe: { maxTokens: 256 },
};

/** Reads one setting by its name below `counterlens.`; undefined when it is not set. */
export type Lookup = (key: string) => unknown;

type Check<T> = { expected: string; accepts: (value: unknown) => value is T };

const aBoolean: Check<boolean> = {
  expected: "true or false",
  accepts: (value): value is boolean => typeof value === "boolean",
};

const aString: Check<string> = {
  expected: "a text",
  accepts: (value): value is string => typeof value === "string",
};

const aModel: Check<string> = {
  expected: "the name of a model",
  accepts: (value): value is string => typeof value === "string" && value.trim() !== "",
};

const aUrl: Check<string> = {
  expected: "an http:// or https:// address, or empty",
  accepts: (value): value is string =>
    typeof value === "string" && (value === "" || /^https?:\/\/\S+$/.test(value)),
};

function oneOf<T extends string>(...values: T[]): Check<T> {
  return {
    expected: `one of ${values.map((value) => `"${value}"`).join(", ")}`,
    accepts: (value): value is T => values.includes(value as T),
  };
}

function integer(least: number, most: number): Check<number> {
  return {
    expected: `a whole number from ${least} to ${most}`,
    accepts: (value): value is number =>
      Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  };
}

const aProbability: Check<number> = {
  expected: "a number between 0 and 1",
  accepts: (value): value is number => typeof value === "number" && value >= 0 && value <= 1,
};

/**
 * Read every setting.
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
      `counterlens.${key} is ${JSON.stringify(value)}, but must be ${check.expected}; using ${JSON.stringify(fallback)}.`,
    );
    return fallback;
  }
  const d = DEFAULTS;
  const settings: Settings = {
    enable: read("enable", aBoolean, d.enable),
    interpreter: read("interpreter", aString, d.interpreter),
    model: read("model", aModel, d.model),
    remote: {
      baseUrl: read("remote.baseUrl", aUrl, d.remote.baseUrl),
      model: read("remote.model", aString, d.remote.model),
      api: read("remote.api", oneOf("completions", "chat"), d.remote.api),
    },
    threads: read("threads", integer(0, 1024), d.threads),
    confidence: {
      aggregation: read(
        "confidence.aggregation",
        oneOf("mean", "median", "max", "min"),
        d.confidence.aggregation,
      ),
    },
    diagnostics: {
      enabled: read("diagnostics.enabled", aBoolean, d.diagnostics.enabled),
      severity: read("diagnostics.severity", oneOf("hint", "information"), d.diagnostics.severity),
      threshold: read("diagnostics.threshold", aProbability, d.diagnostics.threshold),
    },
    codeLens: { enabled: read("codeLens.enabled", aBoolean, d.codeLens.enabled) },
    overlay: { enabled: read("overlay.enabled", aBoolean, d.overlay.enabled) },
    scoring: { maxBytes: read("scoring.maxBytes", integer(1, 16 * 1024 * 1024), d.scoring.maxBytes) },
    probe: { maxTokens: read("probe.maxTokens", integer(1, 4096), d.probe.maxTokens) },
  };
  return { settings, problems };
}
