/**
 * The messages between client and server beyond plain LSP.
 *
 * All of them are optional for other editors: hover, diagnostics, code actions, code lenses, inlay hints and
 * `counterlens.probe` (workspace/executeCommand) are standard. docs/protocol.md describes them for other clients.
 * Positions count UTF-16 code units, as LSP does by default.
 */

import type { Position, Range } from "vscode-languageclient/node";
import type { Concept, Granularity, Settings } from "./settings";

/** Sent with `initialize` as `initializationOptions`. */
export interface InitializationOptions {
  /** The `counterlens` section, nested as in settings.json, with invalid values already replaced. */
  settings: Settings;
  /** Whether the user trusts the workspace. Without trust no code of the workspace is run. */
  trusted: boolean;
  /** The client shows the result of a probe itself; without this the server sends `window/showMessage`. */
  showsResults: true;
}

/** Server to client: the state of the model. */
export const STATUS = "counterlens/status";

export const MODEL_STATES = ["idle", "loading", "ready", "scoring", "probing", "error", "disabled"] as const;
export type ModelState = (typeof MODEL_STATES)[number];

export interface StatusParams {
  /** Display name of the model. */
  model: string;
  state: ModelState;
  /** One or two sentences: the reason for the state, and what to do if something is wrong. */
  detail: string;
  /** The problem in a few words, such as `offline: connection refused`. */
  reason?: string;
  /** Progress, in `%` or `functions`. */
  steps?: { done: number; total: number; unit: string } | null;
  /** A sentence about the model that is shown beside the detail; empty if there is none. */
  advice?: string;
}

/** Client to server: the user now trusts the workspace. */
export const TRUSTED = "counterlens/trusted";

/** Server to client: a document has new scores, so its overlay should be requested again. */
export const SCORES_CHANGED = "counterlens/scoresChanged";

/** Server to client: more of a document is scored, though not all; its overlay can be requested. */
export const PARTLY_SCORED = "counterlens/partlyScored";

export interface ScoresChangedParams {
  uri: string;
  version: number;
}

/** Client to server: the confidence of the syntax nodes in a range of a document. */
export const OVERLAY = "counterlens/overlay";

export interface OverlayParams {
  textDocument: { uri: string };
  /** Returns only spans that touch this range, or all by default. */
  range?: Range;
  /** Returns spans that touch this range first. */
  visible?: Range;
  /** The granularity of the settings by default. */
  granularity?: Granularity;
}

export interface OverlaySpan {
  range: Range;
  /** From 0, the least confident, to `levels - 1`, the most confident. */
  level: number;
  /** Probability between 0 and 1. */
  confidence: number;
  /** The node type, such as `if_statement`; `token` for a token. */
  kind: string;
  /** The concept category, such as `decision`. */
  category: string;
}

export interface OverlayResult {
  /** The document version that the spans belong to; the client drops a response for another version. */
  version: number;
  state: "ready" | "scoring" | "unavailable";
  /** The reason why there are no scores, for state `unavailable`. */
  reason?: string;
  granularity: Granularity;
  /** Number of levels; the client has {@link OVERLAY_LEVELS} decorations. */
  levels: number;
  /** One label per level, such as "below 1 %". */
  labels: string[];
  spans: OverlaySpan[];
}

export const OVERLAY_LEVELS = 6;

/** The server's executeCommand: tests whether the model of the settings responds, and what it supports. */
export const TEST_MODEL = "counterlens.testModel";

export interface TestedModel {
  ok: boolean;
  error: string;
  hint: string;
  /** The problem, in a few words. */
  reason: string;
  model: string;
  /** `local`, or the endpoint's host. */
  where: string;
  completion: string;
  tokens: number;
  seconds: number;
  /** Whether the model returns token probabilities; `way` says how. */
  scores: boolean;
  way: string;
  embeds: boolean;
  /** Number of tokens that fit into one request, null if unknown. */
  context: number | null;
  details: [string, string][];
}

/** The server's executeCommand: lists the models of an endpoint. Its argument is `{baseUrl, key?}`. */
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
 * The only argument of {@link PROBE}, {@link COUNTERFACTUALS}, {@link SHOW_COUNTERFACTUAL} and {@link
 * SHOW_DEPENDENCES}. Either `function` or `position` identifies the function.
 */
export interface FunctionArgument {
  uri: string;
  /** Qualified name, such as `Stack.push`; for dependences also `<module>`. */
  function?: string;
  position?: Position;
}

export interface ProbeArgument extends FunctionArgument {
  /** Ids of mutations; by default all that keep the meaning. */
  mutations?: string[];
  /** Number of completions to sample of each side; by default that of the setting. */
  samples?: number;
  /** Whether to send what is true so far as {@link PROBE_FACT}, and results so far as {@link PROBE_REFINED}. */
  refine?: boolean;
  /** Whether to probe although there is a result from an earlier session. */
  again?: boolean;
}

/** Server to client: the first line of a completion, long before the answer of {@link COMPLETE}. */
export const COMPLETION_BEGUN = "counterlens/completionBegun";

export interface CompletionBegun {
  uri: string;
  function: string;
  text: string;
}

/** Server to client: a sentence of a running probe that is already true. */
export const PROBE_FACT = "counterlens/probeFact";

export interface ProbeFact {
  uri: string;
  /** Qualified name. */
  function: string;
  fact: string;
}

/** Server to client: the results so far of a probe that is still sampling completions. */
export const PROBE_REFINED = "counterlens/probeRefined";

export interface ProbeRefinement {
  uri: string;
  /** Progress, in one sentence. */
  status: string;
  result: ProbeResult;
}

export interface ProbeResult {
  ok: boolean;
  /** One sentence for a notification. */
  summary: string;
  /** The whole report as plain text. */
  report: string;
  /** The problem and what to do, if `ok` is false. */
  error?: string;
  /** The report as Markdown. */
  markdown: string;
  /** The report as a fragment of HTML; its buttons have a `data-action` and a `data-pair`. */
  html: string;
  /** Qualified name of the function. */
  function: string;
  /** Version of the document that was probed, and its text. */
  version: number;
  source: string;
  pairs: ProbedPair[];
  /** Mutations that were refused or left out. */
  not_asked: { mutation: string; reason: string }[];
  /** The reason why the completions could not be judged, or empty. */
  why_not_judged: string;
  /** A statement that the verdict changes after meaningless changes, so that the pairs show nothing, or empty. */
  noise: string;
  /** Whether the result is from an earlier session. */
  kept?: boolean;
}

/** `lost`: right only on the original; `gained`: right only on the counterfactual; `failed`: wrong on both. */
export type PairOutcome = "held" | "lost" | "gained" | "failed" | "not judged";

export interface ProbedPair {
  /** The mutation and its line. */
  title: string;
  /** The whole mutated text. */
  counterfactual: string;
  /** The texts as the model completed them: original and counterfactual. Empty without completions. */
  wrote: string[];
  mutation: string;
  /** First line of the changed place in the original, counted from 0. */
  line: number;
  shows: PairOutcome;
  /** Whether rounding may explain the change of the verdict. */
  unstable: boolean;
  /** The outcome as a sentence. */
  sentence: string;
}

export function isProbeResult(value: unknown): value is ProbeResult {
  return typeof value === "object" && value !== null && typeof (value as ProbeResult).ok === "boolean";
}

/** The server's executeCommand: reports the confidence in a file, or in one of its functions. */
export const CONFIDENCE = "counterlens.confidence";

/** The result of {@link CONFIDENCE}, and a part of that of {@link PROBE}. */
export interface Reported {
  ok: boolean;
  markdown: string;
  error?: string | null;
}

/** The server's executeCommand: completes the function at a position, with the confidence in each part. */
export const COMPLETE = "counterlens.complete";

/** The client's command: {@link COMPLETE} with its argument, or at the cursor. */
export const COMPLETE_AND_EXPLAIN = "counterlens.completeAndExplain";

export interface CompletionArgument extends FunctionArgument {
  /** Completes both sides of the counterfactual by this mutation that is nearest to the position. */
  mutation?: string;
}

export interface CompletionResult {
  ok: boolean;
  /** Qualified name of the function. */
  function: string;
  /** Version of the document. */
  version: number;
  /** The completion; with a mutation, as the model wrote it. */
  text: string;
  /** The range that the text would replace. */
  range: Range | null;
  markdown: string;
  /** A fragment of HTML. */
  html: string;
  /** The problem and what to do, if `ok` is false. */
  error?: string | null;
}

/** The server's executeCommand: the dependences of a function's statements, and the model's inferences. */
export const DEPENDENCES = "counterlens.dependences";

/** The client's command behind the server's code lens: {@link DEPENDENCES} without a model, then with it. */
export const SHOW_DEPENDENCES = "counterlens.showDependences";

/** `none` uses no model; by default the server chooses the method that fits the model. */
export type DependenceMethod = "none" | "interventional" | "prompted" | "pairwise" | "core" | "trace";

export interface DependenceArgument extends FunctionArgument {
  method?: DependenceMethod;
}

export interface DependenceResult {
  ok: boolean;
  /** Qualified name of the function. */
  function: string;
  /** Version of the document. */
  version: number;
  method: string;
  /** One line of figures. */
  summary: string;
  markdown: string;
  /**
   * A fragment of HTML, where a line of code is a button with `data-action` `reveal` and a `data-line`, counted from 1.
   */
  html: string;
  /** The problem and what to do, if `ok` is false. */
  error?: string | null;
}

/** The server's executeCommand: lists the tasks, and why some are not available at a position. */
export const TASKS = "counterlens.tasks";

export interface ListedTask {
  id: string;
  /** The question that the task answers, in a few words. */
  title: string;
  available: boolean;
  /** The reason why the task is not available. */
  reason: string;
  /** Approximate seconds per function, if measured. */
  seconds?: number | null;
}

export interface TaskListing {
  ok: boolean;
  error?: string | null;
  /** Qualified name, or empty if the position is in no function. */
  function: string;
  /** Number of functions in the file. */
  functions: number;
  model: string;
  tasks: ListedTask[];
}

/** The server's executeCommand: runs tasks on a function, or on the whole file if none is given. */
export const PROBE_TASKS = "counterlens.probeTasks";

/** Stands for all tasks. */
export const ALL_TASKS = "all";

export interface TasksArgument {
  uri: string;
  function?: string;
  tasks: string[];
  /** A name for the run, which its news repeat. */
  run: string;
}

export interface TasksResult {
  ok: boolean;
  error?: string | null;
}

/** Server to client: the state of a run has changed. */
export const TASK_NEWS = "counterlens/taskNews";

export interface TaskNews {
  run: string;
  /** Fragments of HTML: an overview of all tasks, and the changed section, if any, with its id. */
  overview: string;
  section: string;
  html: string;
  /** Overall progress, in one line. */
  status: string;
  /** Whether this is the last message. */
  over: boolean;
}

/** The server's executeCommand: finds mutants of a function that its tests pass. Takes seconds. */
export const MUTANTS = "counterlens.mutants";

/** The client's command behind the server's code action "What do the tests miss?": opens the proposed tests. */
export const FIT_MARGINS = "counterlens.fitMargins";

export interface FitResult {
  ok: boolean;
  /** Number of functions on which the margins were fitted. */
  functions: number;
  /** The kinds of doubt that mark places now. */
  kinds: string[];
  error?: string | null;
}

export const SHOW_MUTANTS = "counterlens.showMutants";

export interface MutantsResult {
  ok: boolean;
  /** Qualified name of the function. */
  function: string;
  /** The result, in one sentence. */
  summary: string;
  /** Python code of the proposed tests; empty if there are none. */
  tests: string;
  error?: string | null;
}

/** The server's executeCommand: creates all counterfactuals of a function. Takes up to a second on a long file. */
export const COUNTERFACTUALS = "counterlens.counterfactuals";

/**
 * The client's command behind the server's code action and code lens "Show counterfactual…": lets the user choose one
 * of {@link COUNTERFACTUALS}, and shows the diff. The server offers it to clients with `showsResults`.
 */
export const SHOW_COUNTERFACTUAL = "counterlens.showCounterfactual";

export interface CounterfactualResult {
  /** Qualified name of the function; empty with an `error`. */
  function: string;
  counterfactuals: Counterfactual[];
  refused: Refusal[];
  /** The problem and what to do, if there is nothing to show. */
  error?: string | null;
}

export interface Counterfactual {
  /** Name of the mutation, such as `if-else-flip`. */
  mutation: string;
  /** The concept that the mutation perturbs, such as "condition logic". */
  concept: string;
  /** Whether the mutation keeps the program's meaning. */
  preserving: boolean;
  /** First line of the changed place in the original, counted from 0. */
  line: number;
  /** The change, in one sentence. */
  description: string;
  /** Assumptions under which the mutation is preserving. */
  assumptions: string[];
  /** The whole mutated text. */
  source: string;
  /** The outcome of a probe; empty if it was not probed. */
  outcome?: PairOutcome | "";
  /** The outcome in words. */
  verdict?: string;
}

/** A place where a mutation was refused. */
export interface Refusal {
  mutation: string;
  /** Counted from 0. */
  line: number;
  reason: string;
}

/** Client to server: the syntax tree of a document with the confidence of each node. */
export const TREE = "counterlens/tree";

export const TREE_VIEWS = ["partial", "complete", "sequence"] as const;
export type TreeView = (typeof TREE_VIEWS)[number];

export interface TreeParams {
  textDocument: { uri: string };
  /** Non-terminals only (the default), all nodes, or the sequence of tokens. */
  view?: TreeView;
  /** Returns only the innermost function, method or type around this position. */
  position?: Position;
}

export interface TreeRow {
  /** Index of the parent, which comes earlier in the response; -1 for none. */
  parent: number;
  kind: string;
  category: string;
  /** The source as one short line. */
  text: string;
  range: Range;
  /** Probability between 0 and 1; null if it is not scored. */
  confidence: number | null;
  level: number | null;
  /** Probability of the least certain token. */
  minimum: number | null;
  /** Surprisal. */
  bits: number | null;
  /** Whether it has no children in the response. */
  leaf: boolean;
}

export interface TreeResult {
  version: number;
  state: "ready" | "scoring" | "unavailable";
  reason?: string;
  view: TreeView;
  levels: number;
  labels: string[];
  rows: TreeRow[];
  /** Number of rows that were left out at the end. */
  truncated: number;
  /** The function or type that contains the rows; null for the whole document. */
  scope?: { name: string; range: Range } | null;
}

/** The client's command behind the server's code action "Replace with …": shows the diff, then asks. */
export const PREVIEW_REPLACEMENT = "counterlens.previewReplacement";

export interface ReplacementArgument {
  uri: string;
  version: number;
  range: Range;
  newText: string;
  /** The replaced and the new text, for a title. */
  title: string;
}

/** The client's command behind the server's code action "Ignore surprising … in this workspace". */
export const IGNORE_CONCEPT = "counterlens.ignoreConcept";

export interface ConceptArgument {
  category: Concept;
}
