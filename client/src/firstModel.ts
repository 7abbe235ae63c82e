/** Asks the user once, on the first run, which model to use. */

import * as vscode from "vscode";
import { connect } from "./models/connecting";
import { selectModel } from "./models/selecting";
import { browse, choose } from "./models/writing";
import type { Server } from "./server";
import { DEFAULTS } from "./settings";

const ASKED = "counterlens.modelWasChosen";
const EMBEDDED = vscode.l10n.t("Embedded");
const CODE = vscode.l10n.t("Code Model…");
const FILE = vscode.l10n.t("Model File…");
const SERVER = vscode.l10n.t("Server…");

/** Asks which model to use, unless one was chosen or the user was asked before. */
export async function askForFirstModel(
  memory: vscode.Memento,
  server: Server,
  secrets: vscode.SecretStorage,
): Promise<void> {
  if (memory.get<boolean>(ASKED)) return;
  await memory.update(ASKED, true);
  if (isChosen()) return;
  const message = vscode.l10n.t(
    "Which model should Counterlens examine? The embedded one (SmolLM2-135M) is small and fast. A code model of 0.5 to 3 billion parameters knows more and is downloaded once. Both run on this machine, as does any GGUF file; with a server, your code is sent there.",
  );
  const choice = await vscode.window.showInformationMessage(message, EMBEDDED, CODE, FILE, SERVER);
  if (choice === EMBEDDED) await choose({ model: DEFAULTS.model });
  if (choice === CODE) await selectModel(server, secrets);
  if (choice === FILE) await browse();
  if (choice === SERVER) await connect(server, secrets);
}

function isChosen(): boolean {
  const values = vscode.workspace.getConfiguration("counterlens").inspect<string>("model");
  return [values?.globalValue, values?.workspaceValue, values?.workspaceFolderValue].some(
    (value) => value !== undefined,
  );
}
