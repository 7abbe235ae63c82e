/** Messages between the extension and the page of the diagram. */

import type { TreeRow, TreeView } from "../protocol";

export const SCOPES = ["function", "file"] as const;
/** The code that is drawn: the function or type at the cursor, or the whole file. */
export type Scope = (typeof SCOPES)[number];

export interface Diagram {
  /** Number of this diagram, which messages of the page repeat when they name a row. */
  id: number;
  /** Name of the function or file. */
  title: string;
  view: TreeView;
  /** The range of confidence of each level; level 0 is the least certain. */
  labels: string[];
  rows: TreeRow[];
  /** Number of rows that the server left out. */
  truncated: number;
  /** The source from line `firstLine` on. */
  lines: string[];
  firstLine: number;
}

/** `stale`: the code has changed since. */
export type Condition = "ready" | "scoring" | "stale" | "none";

/** A message to the page; missing fields do not change. */
export interface News {
  diagram?: Diagram | null;
  condition?: Condition;
  status?: string;
  /** The row of the selection in the editor. */
  selected?: number | null;
}

/** The first message to the page, sent once it is ready. */
export interface Greeting extends News {
  view: TreeView;
  scope: Scope;
}

/** A message to the extension. */
export type PageMessage =
  | { action: "ready" }
  | { action: "view"; value: TreeView }
  | { action: "scope"; value: Scope }
  /** Selects the row's code; with `go`, also moves the focus to the editor. */
  | { action: "reveal"; id: number; row: number; go: boolean };
