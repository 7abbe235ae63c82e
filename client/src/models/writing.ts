/** Choosing a model is writing settings. */

import * as vscode from "vscode";

/** In the user's settings: what is sent where is not a workspace's to say. */
export async function choose(values: Record<string, string>): Promise<void> {
  const settings = vscode.workspace.getConfiguration("counterlens");
  for (const [name, value] of Object.entries(values)) {
    await settings.update(name, value, vscode.ConfigurationTarget.Global);
  }
}

export async function browse(): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    title: vscode.l10n.t("A model for Counterlens"),
    openLabel: vscode.l10n.t("Use This Model"),
    filters: { [vscode.l10n.t("Models (GGUF, ONNX)")]: ["gguf", "onnx"] },
  });
  const file = chosen?.[0]?.fsPath;
  if (file) await choose({ model: file.endsWith(".onnx") ? `onnx:${file}` : file });
}
