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
