/** Offers tools to assistants, where the editor knows any: that part of its interface is newer than the oldest editor. */

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

/** A tool that is loaded only once it is asked for. */
type Offered = {
  [Method in keyof Tool]: (...given: Parameters<Tool[Method]>) => Promise<object | undefined>;
};

interface Newer {
  lm?: { registerTool?: (name: string, tool: Offered) => vscode.Disposable };
}

const host = vscode as unknown as Newer;

/** Offer a tool to assistants; nothing happens where the editor knows no tools. */
export function offer(name: string, tool: () => Promise<Tool | undefined>): vscode.Disposable {
  const offered: Offered = {
    prepareInvocation: async (invocation) => (await tool())?.prepareInvocation(invocation),
    invoke: async (invocation, cancel) => (await tool())?.invoke(invocation, cancel),
  };
  return host.lm?.registerTool?.(name, offered) ?? { dispose: () => undefined };
}
