/** Registers tools for assistants, if the editor supports them: this API is newer than the oldest supported editor. */

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

/** A tool that is loaded on its first use. */
type Offered = {
  [Method in keyof Tool]: (...given: Parameters<Tool[Method]>) => Promise<object | undefined>;
};

interface NewerApi {
  lm?: { registerTool?: (name: string, tool: Offered) => vscode.Disposable };
}

const host = vscode as unknown as NewerApi;

/** Registers a tool for assistants; does nothing if the editor does not support tools. */
export function offer(name: string, tool: () => Promise<Tool | undefined>): vscode.Disposable {
  const offered: Offered = {
    prepareInvocation: async (invocation) => (await tool())?.prepareInvocation(invocation),
    invoke: async (invocation, cancel) => (await tool())?.invoke(invocation, cancel),
  };
  return host.lm?.registerTool?.(name, offered) ?? { dispose: () => undefined };
}
