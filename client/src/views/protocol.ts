/** Messages between the views and the server; docs/protocol.md describes them. */

import type { Range } from "vscode-languageclient/node";

/** Client to server: known facts about the function at a position. */
export const FUNCTION = "counterlens/function";

export interface ConceptRow {
  name: string;
  /** Mean probability of its nodes in the function. */
  confidence: number;
  /** Level 0 is the least certain. */
  level: number;
  nodes: number;
  /** The range of its least certain node. */
  least: Range;
  least_confidence: number;
  text: string;
}

export interface FunctionResult {
  version: number;
  state: "ready" | "scoring" | "unavailable";
  reason?: string | null;
  /** Qualified name; empty if the position is in no function. */
  function: string;
  header?: Range | null;
  /** Sorted, the least certain first. */
  concepts: ConceptRow[];
  dependences?: { summary: string; method: string } | null;
  findings: { task: string; summary: string }[];
}

/** The server's executeCommand: lists the evaluation runs in some folders. */
export const RUNS = "counterlens.runs";

export interface RunRow {
  folder: string;
  tasks: string[];
  data: string;
  models: string[];
  done: number;
  total: number;
  /** The command that resumes the run; empty if it is finished. */
  resume: string;
  error?: string | null;
}

/** The server's executeCommand: the report of a run. */
export const RUN_REPORT = "counterlens.runReport";

export interface RunReport {
  ok: boolean;
  error?: string | null;
  title: string;
  summary: string;
  /** A self-contained page with its own content security policy. */
  html: string;
}

/** The server's executeCommand: plans a run over a repository, with the expected time. */
export const PLAN_RUN = "counterlens.planRun";

export interface RunPlan {
  ok: boolean;
  error?: string | null;
  cancelled: boolean;
  /** The plan in words. */
  lines: string[];
  models: string[];
  tasks: { id: string; title: string; chosen: boolean }[];
  /** Number of functions in the plan. */
  functions: number;
  /** Expected seconds; null if unknown. */
  seconds: number | null;
  /** Name of the repository's settings file; empty if there is none. */
  settings: string;
}

/** The server's executeCommands: start or resume a run, and pause it. */
export const START_RUN = "counterlens.startRun";
export const PAUSE_RUN = "counterlens.stopRun";

export interface StartedRun {
  ok: boolean;
  error?: string | null;
  folder: string;
}

/** Server to client: progress of a run that the server has started. */
export const RUN_NEWS = "counterlens/runNews";

export interface RunNews {
  folder: string;
  state: "running" | "paused" | "done" | "failed";
  done: number;
  total: number;
  /** Approximate seconds left; null if not known yet. */
  seconds: number | null;
  what: string;
  error: string;
}
