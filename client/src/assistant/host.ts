/** The part of the editor's interface for results of tools that is newer than the oldest editor that we run in. */

import * as vscode from "vscode";

interface Newer {
  LanguageModelToolResult?: new (parts: object[]) => object;
  LanguageModelTextPart?: new (text: string) => object;
}

/** A text as a tool's result. */
export function textResult(text: string): object {
  const { LanguageModelToolResult: Result, LanguageModelTextPart: Part } = vscode as unknown as Newer;
  if (!Result || !Part) throw new Error("This editor has no tools for assistants.");
  return new Result([new Part(text)]);
}
