/**
 * What client and server say to each other beyond plain LSP.
 *
 * Everything here is optional for other editors: hover, diagnostics, code actions, code lenses, inlay hints and
 * `counterlens.probe` (workspace/executeCommand) are standard. docs/protocol.md describes it for them. Positions count UTF-16 code units, as LSP does by default.
 */

import type { Position, Range } from "vscode-languageclient/node";
import type { Concept, Granularity, Settings } from "./settings";

/** Sent with `initialize` as `initializationOptions`. */
export interface InitializationOptions {
  /** The `counterlens` section, nested as in settings.json, with bad values already replaced. */
  settings: Settings;
  /** Whether the user trusts the workspace. Without trust no code of the workspace is run. */
  trusted: boolean;
  /** The client shows the result of a probe itself; without it the server sends `window/showMessage`. */
  showsResults: true;
}

/** Server to client: what the model is doing. */
export const STATUS = "counterlens/status";

export const MODEL_STATES = ["idle", "loading", "ready", "scoring", "probing", "error", "disabled"] as const;
export type ModelState = (typeof MODEL_STATES)[number];

export interface StatusParams {
  /** Display name of the model. */
  model: string;
  state: ModelState;
  /** One or two sentences: why it is in that state, and what to do if something is wrong. */
  detail: string;
  /** Why nothing works, in a few words, such as `offline: connection refused`. */
  reason?: string;
  /** How far it is, in `%` or `functions`. */
  steps?: { done: number; total: number; unit: string } | null;
}

/** Client to server: the user trusts the workspace now. */
export const TRUSTED = "counterlens/trusted";

/** Server to client: new scores for a document; ask for its overlay again. */
export const SCORES_CHANGED = "counterlens/scoresChanged";

/** Server to client: more of a document is scored, though not all; its overlay can be asked for. */
export const PARTLY_SCORED = "counterlens/partlyScored";

export interface ScoresChangedParams {
  uri: string;
  version: number;
}

/** Client to server: the confidence of the syntax nodes in a range of a document. */
export const OVERLAY = "counterlens/overlay";

export interface OverlayParams {
  textDocument: { uri: string };
  /** Only spans that touch this range; all without it. */
  range?: Range;
  /** Those that touch this range come first. */
  visible?: Range;
  /** That of the settings without it. */
  granularity?: Granularity;
}

export interface OverlaySpan {
  range: Range;
  /** 0 is the least confident, `levels - 1` the most. */
  level: number;
  /** Probability between 0 and 1. */
  confidence: number;
  /** The node type, such as `if_statement`; `token` for a token. */
  kind: string;
  /** The concept category, such as `decision`. */
  category: string;
}

export interface OverlayResult {
  /** The document version that the spans belong to; the client drops an answer for another one. */
  version: number;
  state: "ready" | "scoring" | "unavailable";
  /** Why there are no scores, for state `unavailable`. */
  reason?: string;
  granularity: Granularity;
  /** Whether the confidence is calibrated rather than raw. */
  calibrated: boolean;
  /** Number of levels; the client has {@link OVERLAY_LEVELS} decorations. */
  levels: number;
  /** One label a level, such as "below 1 %". */
  labels: string[];
  spans: OverlaySpan[];
}

export const OVERLAY_LEVELS = 6;

/** The server's executeCommand: does the model of the settings answer, and what can it be asked? */
export const TEST_MODEL = "counterlens.testModel";

export interface TestedModel {
  ok: boolean;
  error: string;
  hint: string;
  /** What went wrong, in a few words. */
  reason: string;
  model: string;
  /** `local`, or the endpoint's host. */
  where: string;
  completion: string;
  tokens: number;
  seconds: number;
  /** Whether it gives token probabilities, and how. */
  scores: boolean;
  way: string;
  embeds: boolean;
  /** Tokens that fit into one request. */
  context: number | null;
  details: [string, string][];
}

/** The server's executeCommand: which models has an endpoint? Its argument is `{baseUrl, key?}`. */
export const LIST_MODELS = "counterlens.listModels";

export interface ModelListing {
  ok: boolean;
  error: string;
  hint: string;
  reason: string;
  models: string[];
}

/** The server's executeCommand, also the command of its code lenses. */
export const PROBE = "counterlens.probe";

/**
 * The only argument of {@link PROBE}, {@link COUNTERFACTUALS}, {@link SHOW_COUNTERFACTUAL} and
 * {@link SHOW_DEPENDENCES}.
 * One of `function` and `position` says which function is meant.
 */
export interface FunctionArgument {
  uri: string;
  /** Qualified name, such as `Stack.push`; for dependences also `<module>`. */
  function?: string;
  position?: Position;
}

export interface ProbeArgument extends FunctionArgument {
  /** Ids; without them all that keep the meaning. */
  mutations?: string[];
  /** Completions to draw of each side; without it as many as the setting says. */
  samples?: number;
  /** Whether to send what is known so far as {@link PROBE_REFINED}, while completions are drawn. */
  refine?: boolean;
}

/** Notification: what a probe that still draws completions knows so far. */
export const PROBE_REFINED = "counterlens/probeRefined";

export interface ProbeRefinement {
  uri: string;
  /** How far it is, in a sentence. */
  status: string;
  result: ProbeResult;
}

export interface ProbeResult {
  ok: boolean;
  /** One sentence for a notification. */
  summary: string;
  /** The whole report as plain text. */
  report: string;
  /** What happened and what to do, when `ok` is false. */
  error?: string;
  /** The report as Markdown. */
  markdown: string;
  /** The report as a fragment of HTML; its buttons name a `data-action` and a `data-pair`. */
  html: string;
  /** Qualified name of the function. */
  function: string;
  /** Of the document that was probed, and its text. */
  version: number;
  source: string;
  pairs: ProbedPair[];
  /** What was refused or left out. */
  not_asked: { mutation: string; reason: string }[];
  /** Why nothing could judge what the model wrote; empty where something did. */
  why_not_judged: string;
  /** That the verdict changes with nothing, so that the pairs show nothing; empty where it does not. */
  wavering: string;
}

/** `lost`: right only on the original; `gained`: only on the counterfactual; `failed`: wrong on both. */
export type PairOutcome = "held" | "lost" | "gained" | "failed" | "not judged";

export interface ProbedPair {
  /** The mutation and its line. */
  title: string;
  /** The whole mutated text. */
  counterfactual: string;
  /** The texts as the model completed them: original and counterfactual; empty where it wrote nothing. */
  wrote: string[];
  mutation: string;
  /** First line of the changed place in the original, counted from 0. */
  line: number;
  shows: PairOutcome;
  /** The same in words. */
  sentence: string;
}

export function isProbeResult(value: unknown): value is ProbeResult {
  return typeof value === "object" && value !== null && typeof (value as ProbeResult).ok === "boolean";
}

/** The server's executeCommand: the confidence on a file, or on a function of it, as a report. */
export const CONFIDENCE = "counterlens.confidence";

/** What {@link CONFIDENCE} answers, and {@link PROBE} among more. */
export interface Reported {
  ok: boolean;
  markdown: string;
  error?: string | null;
}

/** The server's executeCommand: the function at a place completed, and how sure the model is of each part. */
export const COMPLETE = "counterlens.complete";

/** The client's command: {@link COMPLETE} at the cursor, or with its argument where that says. */
export const COMPLETE_AND_EXPLAIN = "counterlens.completeAndExplain";

export interface CompletionArgument extends FunctionArgument {
  /** Complete both sides of its counterfactual that is nearest to the place. */
  mutation?: string;
}

export interface CompletionResult {
  ok: boolean;
  /** Qualified name of the function. */
  function: string;
  /** Of the document. */
  version: number;
  /** What the model wrote; with a mutation, as written. */
  text: string;
  /** What it would take the place of. */
  range: Range | null;
  markdown: string;
  /** A fragment. */
  html: string;
  /** What happened and what to do, when `ok` is false. */
  error?: string | null;
}

/** The server's executeCommand: what a function's statements depend on, and what the model makes of it. */
export const DEPENDENCES = "counterlens.dependences";

/** The client's command behind the server's code lens: {@link DEPENDENCES} without a model, then with it. */
export const SHOW_DEPENDENCES = "counterlens.showDependences";

/** `none` asks no model; without a method the server takes the one that fits the model. */
export type DependenceMethod = "none" | "interventional" | "prompted" | "pairwise" | "core" | "trace";

export interface DependenceArgument extends FunctionArgument {
  method?: DependenceMethod;
}

export interface DependenceResult {
  ok: boolean;
  /** Qualified name of the function. */
  function: string;
  /** Of the document. */
  version: number;
  method: string;
  /** One line of figures. */
  summary: string;
  markdown: string;
  /** A fragment; a line of code is a button with `data-action` `reveal` and a `data-line`, counted from 1. */
  html: string;
  /** What happened and what to do, when `ok` is false. */
  error?: string | null;
}

/** The server's executeCommand: what can be probed at a place, and why the rest cannot. */
export const TASKS = "counterlens.tasks";

export interface ListedTask {
  id: string;
  /** What it finds out, in a few words. */
  title: string;
  available: boolean;
  /** Why it is not. */
  reason: string;
  /** About how long one function takes, as far as that was measured. */
  seconds?: number | null;
}

export interface TaskListing {
  ok: boolean;
  error?: string | null;
  /** Qualified name; empty where the place is in no function. */
  function: string;
  /** How many functions the file has. */
  functions: number;
  model: string;
  tasks: ListedTask[];
}

/** The server's executeCommand: run tasks on a function, or without one on the whole file. */
export const PROBE_TASKS = "counterlens.probeTasks";

/** Stands for every task. */
export const ALL_TASKS = "all";

export interface TasksArgument {
  uri: string;
  function?: string;
  tasks: string[];
  /** A name for the run, under which its news come. */
  run: string;
}

export interface TasksResult {
  ok: boolean;
  error?: string | null;
}

/** Server to client: something of a run has changed. */
export const TASK_NEWS = "counterlens/taskNews";

export interface TaskNews {
  run: string;
  /** Fragments of HTML: all tasks; and, where one has changed, its section with its id. */
  overview: string;
  section: string;
  html: string;
  /** How far everything is, in one line. */
  status: string;
  /** Nothing more will come. */
  over: boolean;
}

/** The server's executeCommand: every counterfactual of a function. Takes up to a second on a long file. */
export const COUNTERFACTUALS = "counterlens.counterfactuals";

/**
 * The client's command behind the server's code action and code lens "Show counterfactual…": let the user choose
 * one of {@link COUNTERFACTUALS} and show the difference. The server offers it to clients with `showsResults`.
 */
export const SHOW_COUNTERFACTUAL = "counterlens.showCounterfactual";

export interface CounterfactualResult {
  /** Qualified name of the function; empty with an `error`. */
  function: string;
  counterfactuals: Counterfactual[];
  refused: Refusal[];
  /** What happened and what to do, when there is nothing to show. */
  error?: string | null;
}

export interface Counterfactual {
  /** Name of the mutation, such as `if-else-flip`. */
  mutation: string;
  /** What it perturbs, such as "condition logic". */
  concept: string;
  /** Whether the program still means the same. */
  preserving: boolean;
  /** First line of the changed place in the original, counted from 0. */
  line: number;
  /** What was done, in one sentence. */
  description: string;
  /** What had to be assumed for it to be preserving. */
  assumptions: string[];
  /** The whole mutated text. */
  source: string;
  /** What a probe found; empty where it was not probed. */
  outcome?: PairOutcome | "";
  /** The same in words. */
  verdict?: string;
}

/** A place where a mutation was refused. */
export interface Refusal {
  mutation: string;
  /** Counted from 0. */
  line: number;
  reason: string;
}

/** Client to server: the tree of a document with the confidence of each node. */
export const TREE = "counterlens/tree";

export const TREE_VIEWS = ["partial", "complete", "sequence"] as const;
export type TreeView = (typeof TREE_VIEWS)[number];

export interface TreeParams {
  textDocument: { uri: string };
  /** Non-terminals only (the default), all nodes, or the tokens in a row. */
  view?: TreeView;
  /** Give only the innermost function, method or type around it. */
  position?: Position;
}

export interface TreeRow {
  /** Index of the parent in the answer, which precedes it; -1 for none. */
  parent: number;
  kind: string;
  category: string;
  /** The source in one short line. */
  text: string;
  range: Range;
  /** Probability between 0 and 1; null where it is not scored. */
  confidence: number | null;
  level: number | null;
  /** Probability of the least certain token. */
  minimum: number | null;
  /** Surprisal. */
  bits: number | null;
  /** Whether it has no children in the answer. */
  leaf: boolean;
}

export interface TreeResult {
  version: number;
  state: "ready" | "scoring" | "unavailable";
  reason?: string;
  view: TreeView;
  /** Whether the confidence of nodes is calibrated; a token's is not. */
  calibrated: boolean;
  levels: number;
  labels: string[];
  rows: TreeRow[];
  /** How many rows were left out at the end. */
  truncated: number;
  /** The function or type that the rows are of; null for the whole document. */
  scope?: { name: string; range: Range } | null;
}

/** The client's command behind the server's code action "Replace with …": show the difference, then ask. */
export const PREVIEW_REPLACEMENT = "counterlens.previewReplacement";

export interface ReplacementArgument {
  uri: string;
  version: number;
  range: Range;
  newText: string;
  /** What is replaced by what, for a title. */
  title: string;
}

/** The client's command behind the server's code action "Ignore surprising … in this workspace". */
export const IGNORE_CONCEPT = "counterlens.ignoreConcept";

export interface ConceptArgument {
  category: Concept;
}
