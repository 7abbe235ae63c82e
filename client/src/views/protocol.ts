/** What the views ask the server for; docs/protocol.md describes it. */

import type { Range } from "vscode-languageclient/node";

/** Client to server: what is known of the function at a place. */
export const FUNCTION = "counterlens/function";

export interface ConceptRow {
  name: string;
  /** Mean probability of its nodes in the function. */
  confidence: number;
  /** 0 is the least certain. */
  level: number;
  nodes: number;
  /** Its least certain node. */
  least: Range;
  least_confidence: number;
  text: string;
}

export interface FunctionResult {
  version: number;
  state: "ready" | "scoring" | "unavailable";
  reason?: string | null;
  /** Qualified name; empty where the place is in no function. */
  function: string;
  header?: Range | null;
  calibrated: boolean;
  /** The least certain first. */
  concepts: ConceptRow[];
  dependences?: { summary: string; method: string } | null;
  findings: { task: string; summary: string }[];
}

/** The server's executeCommand: evaluation runs in some folders. */
export const RUNS = "counterlens.runs";

export interface RunRow {
  folder: string;
  tasks: string[];
  data: string;
  models: string[];
  done: number;
  total: number;
  /** The command that goes on with it; empty where it is finished. */
  resume: string;
  error?: string | null;
}

/** The server's executeCommand: the report of one of them. */
export const RUN_REPORT = "counterlens.runReport";

export interface RunReport {
  ok: boolean;
  error?: string | null;
  title: string;
  summary: string;
  /** A page that needs nothing else, with a policy of its own. */
  html: string;
}

/** The server's executeCommand: what a run over a repository would ask, and how long that takes. */
export const PLAN_RUN = "counterlens.planRun";

export interface RunPlan {
  ok: boolean;
  error?: string | null;
  cancelled: boolean;
  /** The plan in words. */
  lines: string[];
  models: string[];
  tasks: { id: string; title: string; chosen: boolean }[];
  /** How many are asked about. */
  functions: number;
  /** Null where it cannot be told. */
  seconds: number | null;
  /** Whether a trial of a few prompts told how long it takes. */
  rough: boolean;
  /** The name of the settings file of the repository; empty where there is none. */
  settings: string;
}

/** The server's executeCommands: begin or resume a run, and pause it. */
export const START_RUN = "counterlens.startRun";
export const PAUSE_RUN = "counterlens.stopRun";

export interface StartedRun {
  ok: boolean;
  error?: string | null;
  folder: string;
}

/** Server to client: how far a run is that the server has started. */
export const RUN_NEWS = "counterlens/runNews";

export interface RunNews {
  folder: string;
  state: "running" | "paused" | "done" | "failed";
  done: number;
  total: number;
  /** About how many are left; null where that is not known yet. */
  seconds: number | null;
  what: string;
  error: string;
}
