/** Asks the user once, on the first run, which model to use. */

import * as vscode from "vscode";
import { connect } from "./models/connecting";
import { fetchAndChoose, offeredCodeModels } from "./models/fetching";
import { selectModel } from "./models/selecting";
import { size } from "./models/size";
import { choose } from "./models/writing";
import type { Server } from "./server";
import { EMBEDDED_MODEL } from "./settings";

const ASKED = "counterlens.modelWasChosen";
const RECOMMENDED = "qwen2.5-coder-0.5b";

/** Asks which model to use, unless one was chosen, the recommended one is here, or the user was asked before. */
export async function askForFirstModel(
  memory: vscode.Memento,
  server: Server,
  secrets: vscode.SecretStorage,
): Promise<void> {
  if (memory.get<boolean>(ASKED)) return;
  await memory.update(ASKED, true);
  if (isChosen()) return;
  const { models, byDefault } = await offeredCodeModels(server, false);
  const recommended = models.find(({ id }) => id === RECOMMENDED);
  if (!recommended || byDefault !== EMBEDDED_MODEL) return;
  const message = `Which model should Counterlens examine? ${recommended.name} knows code, and is downloaded once (${size(recommended.bytes)}). The embedded one (SmolLM2-135M) is quicker, and weak at code. Both run on this machine, as does any GGUF file; with a server, your code is sent there.`;
  const [download, embedded, others, elsewhere] = ["Download", "Embedded", "Others…", "Server…"];
  const choice = await vscode.window.showInformationMessage(message, download, embedded, others, elsewhere);
  if (choice === download) await fetchAndChoose(server, recommended.id, recommended.name);
  if (choice === embedded) await choose({ model: EMBEDDED_MODEL });
  if (choice === others) await selectModel(server, secrets);
  if (choice === elsewhere) await connect(server, secrets);
}

function isChosen(): boolean {
  const values = vscode.workspace.getConfiguration("counterlens").inspect<string>("model");
  return [values?.globalValue, values?.workspaceValue, values?.workspaceFolderValue].some(
    (value) => value !== undefined,
  );
}
