/** The part of the editor's interface for assistants' tools that is newer than the oldest editor that we run in. */

import * as vscode from "vscode";

export interface Invocation {
  input: unknown;
}

export interface Tool {
  prepareInvocation(invocation: Invocation): {
    invocationMessage: string;
    confirmationMessages: { title: string; message: vscode.MarkdownString };
  };
  invoke(invocation: Invocation, cancel: vscode.CancellationToken): Promise<object>;
}

interface Newer {
  lm?: { registerTool?: (name: string, tool: Tool) => vscode.Disposable };
  LanguageModelToolResult?: new (parts: object[]) => object;
  LanguageModelTextPart?: new (text: string) => object;
}

const host = vscode as unknown as Newer;

/** Offer a tool to assistants; nothing happens where the editor knows no tools. */
export function offer(name: string, tool: Tool): vscode.Disposable {
  return host.lm?.registerTool?.(name, tool) ?? { dispose: () => undefined };
}

/** A text as a tool's result. */
export function textResult(text: string): object {
  const { LanguageModelToolResult: Result, LanguageModelTextPart: Part } = host;
  if (!Result || !Part) throw new Error("This editor has no tools for assistants.");
  return new Result([new Part(text)]);
}
