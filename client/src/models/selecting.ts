/**
 * "Select Model": the embedded model, the files on this machine, the endpoints of the settings, and further actions.
 */

import { homedir } from "node:os";
import * as vscode from "vscode";
import type { Server } from "../server";
import { EMBEDDED_MODEL } from "../settings";
import type { CodeModels } from "./codeModels";
import { connect } from "./connecting";
import { fetchAndChoose, offeredCodeModels } from "./fetching";
import { type FoundModel, findModels, findOllamaModels, type Place, usualPlaces } from "./finding";
import { type Endpoint, type ModelRow, modelRows, type OfferedModel } from "./rows";
import { testConnection } from "./testing";
import { browse, choose } from "./writing";

/** Maximum depth of workspace folders that are searched for models. */
const WORKSPACE_DEPTH = 3;

type Item = vscode.QuickPickItem & { row: ModelRow };

/** Shows the list immediately, and adds the models that are found on the disk. */
export async function selectModel(server: Server, secrets: vscode.SecretStorage): Promise<void> {
  const row = await ask(server);
  if (!row) return;
  if (row.kind === "model") await choose(row.sets);
  if (row.kind === "fetch") await fetchAndChoose(server, row.id, row.label);
  if (row.kind === "browse") await browse();
  if (row.kind === "connect") await connect(server, secrets);
  if (row.kind === "test") await testConnection(server);
}

function ask(server: Server): Promise<ModelRow | undefined> {
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = "Counterlens: Select Model";
  picker.placeholder = "Model to Examine";
  picker.matchOnDescription = picker.matchOnDetail = true;
  const parts: Parts = { found: [], offered: [], code: { models: [], byDefault: EMBEDDED_MODEL } };
  picker.items = items(parts);
  picker.busy = true;
  let closed = false;
  const join = (more: Partial<Parts>) => {
    if (closed) return;
    Object.assign(parts, more);
    const active = picker.activeItems[0]?.row;
    picker.items = items(parts);
    const same = picker.items.find(({ row }) => active && row.label === active.label);
    if (same) picker.activeItems = [same];
  };
  // Added together, since a row that moves under the pointer leads to a wrong click.
  void Promise.all([search(() => closed), offered(), offeredCodeModels(server, false)]).then(
    async ([found, models, code]) => {
      join({ found, offered: models, code });
      if (parts.code.models.some(({ speed }) => speed === null || speed === undefined))
        join({ code: await offeredCodeModels(server, true) });
      if (!closed) picker.busy = false;
    },
  );
  return new Promise((resolve) => {
    picker.onDidAccept(() => {
      resolve(picker.selectedItems[0]?.row);
      picker.hide();
    });
    picker.onDidHide(() => {
      closed = true;
      picker.dispose();
      resolve(undefined);
    });
    picker.show();
  });
}

/** The parts of the list, each of which is added when it is known. */
interface Parts {
  found: FoundModel[];
  offered: OfferedModel[];
  code: CodeModels;
}

function items({ found, offered: models, code }: Parts): Item[] {
  const model = vscode.workspace.getConfiguration("counterlens").get<string>("model") || code.byDefault;
  const known = { model, embedded: EMBEDDED_MODEL, endpoints: endpoints() };
  return modelRows(known, found, models, code.models).map((row) =>
    row.kind === "heading"
      ? { label: row.label, kind: vscode.QuickPickItemKind.Separator, row }
      : {
          label: row.label,
          description: "description" in row ? row.description : "",
          detail: row.detail,
          row,
        },
  );
}

/** The models that the editor offers; most editors offer none. */
async function offered(): Promise<OfferedModel[]> {
  try {
    return await vscode.lm.selectChatModels();
  } catch {
    return []; // the editor has no such API, or its provider is not ready
  }
}

/** The effective endpoint, then those of the other scopes of the settings. */
function endpoints(): Endpoint[] {
  const section = vscode.workspace.getConfiguration("counterlens");
  const [address, name] = [
    section.inspect<string>("remote.baseUrl"),
    section.inspect<string>("remote.model"),
  ];
  const current = {
    baseUrl: section.get<string>("remote.baseUrl") ?? "",
    model: section.get<string>("remote.model") ?? "",
  };
  const levels = ["globalValue", "workspaceValue", "workspaceFolderValue"] as const;
  return [
    current,
    ...levels.map((level) => ({
      baseUrl: address?.[level] ?? current.baseUrl,
      model: name?.[level] ?? current.model,
    })),
  ];
}

async function search(cancelled: () => boolean): Promise<FoundModel[]> {
  const home = homedir();
  const workspace = (vscode.workspace.workspaceFolders ?? [])
    .filter(({ uri }) => uri.scheme === "file")
    .map(({ name, uri }): Place => ({ name, folder: uri.fsPath, depth: WORKSPACE_DEPTH }));
  const [files, ollama] = await Promise.all([
    findModels([...workspace, ...usualPlaces(home, process.env)], cancelled),
    findOllamaModels(home, process.env),
  ]);
  return [...files, ...ollama];
}
