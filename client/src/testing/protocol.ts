/** What client and server say to each other about tests. */

import type { Range } from "vscode-languageclient/node";

/** The server's executeCommand: the functions of a file, or the mutations of one. No model is asked. */
export const TEST_ITEMS = "counterlens.testItems";

export interface TestItems {
  functions: { function: string; range: Range }[];
  mutations: ListedMutation[];
  error?: string | null;
}

export interface ListedMutation {
  mutation: string;
  /** What it perturbs. */
  concept: string;
  /** First lines of the places that it changes, counted from 0. */
  lines: number[];
  /** Why it changes none; empty where it does. */
  refused: string;
}
