/** The status bar item: which model, what it is doing, and why. */

import * as vscode from "vscode";
import type { ModelState, StatusParams } from "./protocol";

const ICONS: Record<ModelState, string> = {
  idle: "circle-outline",
  loading: "loading~spin",
  ready: "eye",
  scoring: "sync~spin",
  probing: "beaker",
  error: "error",
  disabled: "circle-slash",
};

const WORDS: Record<ModelState, string> = {
  idle: "idle",
  loading: "loading the model",
  ready: "ready",
  scoring: "scoring…",
  probing: "probing…",
  error: "problem",
  disabled: "off",
};

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(
    "counterlens.status",
    vscode.StatusBarAlignment.Right,
    90,
  );

  constructor(actionsCommand: string) {
    this.item.name = "Counterlens";
    this.item.command = actionsCommand;
    this.show({ model: "", state: "loading", detail: "Starting the language server." });
    this.item.show();
  }

  show({ model, state, detail }: StatusParams): void {
    const name = model ? `${model}: ` : "Counterlens: ";
    this.item.text = `$(${ICONS[state] ?? "question"}) ${name}${WORDS[state] ?? state}`;
    const tooltip = new vscode.MarkdownString();
    tooltip.appendMarkdown("**Counterlens**\n\n");
    tooltip.appendText(detail);
    tooltip.appendMarkdown("\n\n_Click for actions._");
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: `Counterlens, ${name}${WORDS[state] ?? state}. ${detail}` };
    this.item.backgroundColor =
      state === "error" ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  }

  dispose(): void {
    this.item.dispose();
  }
}
