/**
 * What client and server say to each other beyond plain LSP.
 *
 * Everything here is optional for other editors: hover, diagnostics, code lenses and `counterlens.probe`
 * (workspace/executeCommand) are standard. Positions count UTF-16 code units, as LSP does by default.
 */

import type { Position, Range } from "vscode-languageclient/node";
import type { Settings } from "./settings";

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
}

/** Server to client: new scores for a document; ask for its overlay again. */
export const SCORES_CHANGED = "counterlens/scoresChanged";

export interface ScoresChangedParams {
  uri: string;
  version: number;
}

/** Client to server: the confidence of the syntax nodes in a range of a document. */
export const OVERLAY = "counterlens/overlay";

export interface OverlayParams {
  textDocument: { uri: string };
  /** What the editor shows; the whole document without it. */
  range?: Range;
}

export interface OverlaySpan {
  range: Range;
  /** 0 is the least confident, `levels - 1` the most. */
  level: number;
  /** Probability between 0 and 1. */
  confidence: number;
}

export interface OverlayResult {
  /** The document version that the spans belong to; the client drops an answer for another one. */
  version: number;
  state: "ready" | "scoring" | "unavailable";
  /** Why there are no scores, for state `unavailable`. */
  reason?: string;
  /** Number of levels; the client has {@link OVERLAY_LEVELS} decorations. */
  levels: number;
  /** One label a level, such as "below 1 %". */
  labels: string[];
  spans: OverlaySpan[];
}

export const OVERLAY_LEVELS = 6;

/** The server's executeCommand, also the command of its code lenses. */
export const PROBE = "counterlens.probe";

/** The only argument of {@link PROBE}. One of `function` and `position` says which function is meant. */
export interface ProbeArgument {
  uri: string;
  /** Qualified name, such as `Stack.push`. */
  function?: string;
  position?: Position;
}

export interface ProbeResult {
  ok: boolean;
  /** One sentence for a notification. */
  summary: string;
  /** The whole report as plain text. */
  report: string;
  /** What happened and what to do, when `ok` is false. */
  error?: string;
}

export function isProbeResult(value: unknown): value is ProbeResult {
  return typeof value === "object" && value !== null && typeof (value as ProbeResult).ok === "boolean";
}
