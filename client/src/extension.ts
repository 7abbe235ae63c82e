/** Activation: creates the parts and connects them. */

import * as vscode from "vscode";
import { registerCommands, reportNoInterpreter, SHOW_ACTIONS } from "./commands";
import { Counterfactuals } from "./counterfactuals";
import { DependenceView } from "./dependences";
import { Overlay } from "./overlay";
import { ProbeReports } from "./probe";
import { Replacements } from "./replacements";
import { onDidChangeApiKey } from "./secrets";
import { Server } from "./server";
import { readSettings, type Settings } from "./settings";
import { Status } from "./status";
import { SyntaxTree } from "./tree";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Counterlens", { log: true });
  const status = new Status(SHOW_ACTIONS);
  const reports = new ProbeReports(context.extensionUri, (...texts) => counterfactuals.compare(...texts));
  let settings = loadSettings();

  const running = new Server(context, log, () => settings, reports.middleware, {
    status: (params) => status.show(params),
    scoresChanged: (params) => {
      overlay.scoresChanged(params);
      tree.scoresChanged(params);
    },
    started: () => overlay.drawAll(),
    noInterpreter: (tried) => void reportNoInterpreter(tried, log),
  });
  server = running;
  const overlay = new Overlay(running, settings.overlay.enabled);
  const counterfactuals = new Counterfactuals(running);
  const dependences = new DependenceView(context.extensionUri, running);
  const replacements = new Replacements();
  const tree = new SyntaxTree(running);
  const parts = { server: running, overlay, counterfactuals, dependences, replacements, tree, log };
  registerCommands(context, parts);

  context.subscriptions.push(
    log,
    status,
    reports,
    counterfactuals,
    dependences,
    replacements,
    tree,
    overlay,
    running,
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (!event.affectsConfiguration("counterlens")) return;
      settings = loadSettings();
      if (event.affectsConfiguration("counterlens.overlay")) overlay.setEnabled(settings.overlay.enabled);
      if (affectsStart(event)) await running.restart("its settings changed");
      else await running.settingsChanged();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void running.restart("the workspace is now trusted")),
    onDidChangeApiKey(context.secrets, () => void running.restart("the API key changed")),
  );
  void running.restart("the extension was activated");

  function loadSettings(): Settings {
    const section = vscode.workspace.getConfiguration("counterlens");
    const { settings: read, problems } = readSettings((key) => section.get(key));
    for (const problem of problems) {
      log.warn(problem);
      void vscode.window.showWarningMessage(problem);
    }
    return read;
  }
}

/** Settings that the server reads only at its start. */
function affectsStart(event: vscode.ConfigurationChangeEvent): boolean {
  const read = ["counterlens.enable", "counterlens.interpreter", "counterlens.languages"];
  return read.some((key) => event.affectsConfiguration(key));
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
