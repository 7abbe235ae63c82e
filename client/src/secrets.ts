/** The API key of the remote model: kept in VS Code's secret storage, and passed to the server in its environment. */

import * as vscode from "vscode";

const KEY = "counterlens.remote.apiKey";

export const API_KEY_VARIABLE = "COUNTERLENS_API_KEY";

/** Environment variables to add for the server. */
export async function apiKeyEnvironment(secrets: vscode.SecretStorage): Promise<Record<string, string>> {
  const key = await secrets.get(KEY);
  return key ? { [API_KEY_VARIABLE]: key } : {};
}

/** Asks for the key and stores it; an empty input removes it. */
export async function askForApiKey(secrets: vscode.SecretStorage): Promise<void> {
  const key = await vscode.window.showInputBox({
    title: "Counterlens: API key for the remote model",
    prompt: "Stored in VS Code's secret storage, never in a settings file. Leave empty to remove it.",
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return;
  if (key.trim() === "") await forgetApiKey(secrets);
  else await storeApiKey(secrets, key.trim());
}

export async function forgetApiKey(secrets: vscode.SecretStorage): Promise<void> {
  await secrets.delete(KEY);
}

export async function storeApiKey(secrets: vscode.SecretStorage, key: string): Promise<void> {
  await secrets.store(KEY, key);
}

export function onDidChangeApiKey(secrets: vscode.SecretStorage, changed: () => void): vscode.Disposable {
  return secrets.onDidChange((event) => {
    if (event.key === KEY) changed();
  });
}
