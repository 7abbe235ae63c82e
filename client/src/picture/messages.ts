/** What the extension and the page of the picture say to each other. */

import type { TreeRow, TreeView } from "../protocol";

export const SCOPES = ["function", "file"] as const;
/** What is drawn: the function or type at the cursor, or all of the file. */
export type Scope = (typeof SCOPES)[number];

export interface Picture {
  /** What the page says of a row is of the picture with this number. */
  id: number;
  /** The function, or the file. */
  title: string;
  view: TreeView;
  calibrated: boolean;
  /** What each level of confidence means; 0 is the least certain. */
  labels: string[];
  rows: TreeRow[];
  /** Rows that the server left out. */
  truncated: number;
  /** The source from the line `firstLine` on. */
  lines: string[];
  firstLine: number;
}

/** `stale`: the code has changed since. */
export type Condition = "ready" | "scoring" | "stale" | "none";

/** To the page; what is not named stays as it is. */
export interface News {
  picture?: Picture | null;
  condition?: Condition;
  status?: string;
  /** The row of what is selected in the editor. */
  selected?: number | null;
}

/** To the page, once it listens. */
export interface Greeting extends News {
  view: TreeView;
  scope: Scope;
  /** Translations of texts, in the language `locale`. */
  texts: Record<string, string>;
  locale: string;
}

/** To the extension. */
export type Wish =
  | { action: "ready" }
  | { action: "view"; value: TreeView }
  | { action: "scope"; value: Scope }
  /** Select the row's code; with `go` put the cursor there, too. */
  | { action: "reveal"; id: number; row: number; go: boolean };
