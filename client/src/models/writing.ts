/** Selecting a model writes settings. */

import * as vscode from "vscode";

/** Writes the user's settings, since a workspace must not decide where code is sent. */
export async function choose(values: Record<string, string>): Promise<void> {
  const settings = vscode.workspace.getConfiguration("counterlens");
  for (const [name, value] of Object.entries(values)) {
    await settings.update(name, value, vscode.ConfigurationTarget.Global);
  }
}

export async function browse(): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    title: "A model for Counterlens",
    openLabel: "Use This Model",
    filters: { "Models (GGUF, ONNX)": ["gguf", "onnx"] },
  });
  const file = chosen?.[0]?.fsPath;
  if (file) await choose({ model: file.endsWith(".onnx") ? `onnx:${file}` : file });
}
