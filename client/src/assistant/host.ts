/** The part of the editor's API for tool results, which is newer than the oldest supported editor. */

import * as vscode from "vscode";

interface NewerApi {
  LanguageModelToolResult?: new (parts: object[]) => object;
  LanguageModelTextPart?: new (text: string) => object;
}

/** Wraps a text as the result of a tool. */
export function textResult(text: string): object {
  const { LanguageModelToolResult: Result, LanguageModelTextPart: Part } = vscode as unknown as NewerApi;
  if (!Result || !Part) throw new Error("This editor has no tools for assistants.");
  return new Result([new Part(text)]);
}
