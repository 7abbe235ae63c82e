/** Messages between client and server about tests. */

import type { Range } from "vscode-languageclient/node";

/** The server's executeCommand: lists the functions of a file, or the mutations of one function. Uses no model. */
export const TEST_ITEMS = "counterlens.testItems";

export interface TestItems {
  functions: { function: string; range: Range }[];
  mutations: ListedMutation[];
  error?: string | null;
}

export interface ListedMutation {
  mutation: string;
  /** The concept that the mutation perturbs. */
  concept: string;
  /** First lines of the places that it changes, counted from 0. */
  lines: number[];
  /** The reason why it changes no place, or empty. */
  refused: string;
}
