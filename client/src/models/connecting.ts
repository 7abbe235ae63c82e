/** "Connect to a Server": asks for its address, a key if it needs one, and one of the models that it lists. */

import * as vscode from "vscode";
import { LIST_MODELS, type ModelListing } from "../protocol";
import { forgetApiKey, storeApiKey } from "../secrets";
import type { Server } from "../server";
import { ended } from "../statusText";
import { choose } from "./writing";

const TEST = "Test Connection";

/** The title of one of the dialog's inputs. */
const title = (input: string) => `Connect to a Server: ${input}`;

export async function connect(server: Server, secrets: vscode.SecretStorage): Promise<void> {
  const baseUrl = await askForAddress();
  if (baseUrl === undefined) return;
  const { listing, key } = await models(server, baseUrl);
  if (!listing) return;
  const model = await askForModel(listing, baseUrl);
  if (model === undefined) return;
  if (key) await storeApiKey(secrets, key);
  else if (baseUrl !== current()) await forgetApiKey(secrets); // the key of one server must not be sent to another
  await choose({ "remote.baseUrl": baseUrl, "remote.model": model, model: "remote" });
  const answer = await vscode.window.showInformationMessage(
    `Counterlens now uses ${model} at ${baseUrl}.`,
    TEST,
  );
  if (answer === TEST) await vscode.commands.executeCommand("counterlens.testConnection");
}

/** The address in the settings. */
function current(): string {
  return vscode.workspace.getConfiguration("counterlens").get<string>("remote.baseUrl") ?? "";
}

async function askForAddress(): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({
    title: title("Server Address"),
    prompt: "OpenAI-compatible. Your code is sent there.",
    placeHolder: "http://localhost:8000/v1",
    value: current(),
    ignoreFocusOut: true,
    validateInput: (typed) =>
      /^https?:\/\/\S+$/.test(typed.trim()) ? undefined : "An address that begins with http:// or https://",
  });
  return text?.trim();
}

/**
 * Lists the server's models, and asks for a key only if the server needs one. Without a listing, the user cancelled.
 */
async function models(
  server: Server,
  baseUrl: string,
): Promise<{ listing: ModelListing | undefined; key: string }> {
  const unknown: ModelListing = { ok: false, error: "", hint: "", reason: "", models: [] };
  if (!server.isRunning) return { listing: unknown, key: "" };
  let key = "";
  for (;;) {
    const listing = await server.request<ModelListing>("workspace/executeCommand", {
      command: LIST_MODELS,
      arguments: [{ baseUrl, key }],
    });
    if (listing?.reason !== "the key was rejected") return { listing: listing ?? unknown, key };
    const given = await vscode.window.showInputBox({
      title: title("API Key"),
      prompt: `${ended(listing.error)} Stored in VS Code's secret storage, never in a settings file.`,
      password: true,
      ignoreFocusOut: true,
    });
    if (given === undefined) return { listing: undefined, key };
    key = given.trim();
  }
}

async function askForModel(listing: ModelListing, baseUrl: string): Promise<string | undefined> {
  if (!listing.ok && listing.reason.startsWith("offline")) {
    const anyway = "Use It Anyway";
    const message = `${ended(listing.error)} ${ended(listing.hint)}`;
    if ((await vscode.window.showWarningMessage(message, anyway)) !== anyway) return undefined;
  }
  if (listing.models.length > 0) {
    return vscode.window.showQuickPick(listing.models, {
      title: title("The Model"),
      placeHolder: `What ${baseUrl} lists`,
      ignoreFocusOut: true,
    });
  }
  const name = await vscode.window.showInputBox({
    title: title("The Model's Name on the Server"),
    prompt: listing.error ? ended(listing.error) : "The server lists no models.",
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() ? undefined : "The name under which the server knows the model"),
  });
  return name?.trim();
}
