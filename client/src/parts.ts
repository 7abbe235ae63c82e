/** Creates the parts of the extension and connects them. */

import * as vscode from "vscode";
import { EditorModels } from "./assistant/editorModels";
import type { Tool } from "./assistant/offer";
import { toolsOf } from "./assistant/tools";
import type { LevelColours } from "./colours";
import { type Commands, manifestCommands, SHOW_ACTIONS, serverCommands } from "./commands";
import { Completions } from "./completions";
import { Counterfactuals } from "./counterfactuals";
import { DependenceView } from "./dependences";
import { SyntaxDiagram } from "./diagram/syntaxDiagram";
import { Display } from "./display";
import { askForFirstModel } from "./firstModel";
import { More } from "./more";
import { Overlay } from "./overlay";
import { ProbeReports } from "./probe";
import { Replacements } from "./replacements";
import { onDidChangeApiKey } from "./secrets";
import { Server } from "./server";
import { readSettings, type Settings } from "./settings";
import { Setup } from "./setup";
import { Status } from "./status";
import { TaskView } from "./tasks";
import { TestExplorer } from "./testing/explorer";
import { SyntaxTree } from "./tree";
import { Views } from "./views/views";

/** The implementations of what was registered at activation. */
export interface Running {
  /** The commands of the manifest, by id. */
  commands: Commands;
  /** The tools of the manifest, by name. */
  tools: Record<string, Tool>;
  stop(): Promise<void>;
}

export function start(context: vscode.ExtensionContext): Running {
  const log = vscode.window.createOutputChannel("Counterlens", { log: true });
  const status = new Status(SHOW_ACTIONS);
  const reports = new ProbeReports(context.extensionUri, (...texts) => counterfactuals.compare(...texts));
  const more = new More();
  const editorModels = new EditorModels(context.globalState);
  const display = new Display(context.workspaceState);
  let settings = loadSettings();

  const running = new Server(
    context,
    log,
    () => settings,
    { ...reports.middleware, ...more.middleware },
    {
      status: (params) => status.show(params),
      scoresChanged: (params) => {
        overlay.scoresChanged(params);
        tree.scoresChanged(params);
        diagram.scoresChanged(params);
        views.scoresChanged(params);
        remember("counterlens.scored");
        status.scoresChanged(params);
      },
      partlyScored: (params) => overlay.scoresChanged(params),
      complete: (params, cancel) => editorModels.complete(params, cancel),
      taskNews: (news) => tasks.news(news),
      runNews: (news) => views.runs.news(news),
      probeFact: (news) => reports.stated(news),
      probeRefined: (news) => reports.refined(news),
      completionBegun: (news) => completions.begun(news),
      started: () => {
        overlay.drawAll();
        views.started();
        diagram.started();
        testing.started();
        remember("counterlens.running");
        void askForFirstModel(context.globalState, running, context.secrets);
      },
      interpreter: (found) => status.runsWith(found),
      noInterpreter: (choice) => void setup.offer(choice),
    },
  );
  const setup = new Setup({
    context,
    log,
    interpreter: () => settings.interpreter,
    done: () => void running.restart("its environment was made"),
  });
  const overlay = new Overlay(running, levelColours(context), settings.overlay.enabled, settings.overlay);
  status.follow(running);
  status.overlayIs(overlay.isEnabled);
  overlay.onDidToggle((shown) => status.overlayIs(shown));
  const counterfactuals = new Counterfactuals(running);
  const completions = new Completions(context.extensionUri, running, counterfactuals);
  const dependences = new DependenceView(context.extensionUri, running);
  const replacements = new Replacements();
  const tasks = new TaskView(context.extensionUri, running);
  const tree = new SyntaxTree(running);
  const diagram = new SyntaxDiagram(context.extensionUri, running);
  const views = new Views(running, counterfactuals);
  const testing = new TestExplorer(
    running,
    (uri, result) => reports.showResult(uri, result),
    settings.testExplorer.enabled,
  );
  const commands = manifestCommands(context, {
    server: running,
    overlay,
    display,
    completions,
    counterfactuals,
    dependences,
    tasks,
    tree,
    diagram,
    runs: views.runs,
    setup,
    log,
  });
  for (const [id, run] of Object.entries(serverCommands(replacements))) {
    context.subscriptions.push(vscode.commands.registerCommand(id, run));
  }

  context.subscriptions.push(
    log,
    status,
    reports,
    more,
    completions,
    counterfactuals,
    dependences,
    replacements,
    tasks,
    tree,
    diagram,
    views,
    testing,
    setup,
    overlay,
    display,
    running,
    display.onDidChange(() => {
      settings = loadSettings();
      if (settings.overlay.enabled !== overlay.isEnabled) overlay.setEnabled(settings.overlay.enabled);
      else overlay.drawAll();
      void running.settingsChanged();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (!event.affectsConfiguration("counterlens")) return;
      display.settingsChanged(event);
      settings = loadSettings();
      const { enabled, ...style } = settings.overlay;
      if (event.affectsConfiguration("counterlens.overlay.enabled")) overlay.setEnabled(enabled);
      else if (event.affectsConfiguration("counterlens.overlay")) overlay.setStyle(style);
      testing.enable(settings.testExplorer.enabled);
      if (affectsStart(event)) await running.renew("its settings changed");
      else await running.settingsChanged();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void running.trustGranted()),
    onDidChangeApiKey(context.secrets, () => void running.renew("the API key changed")),
  );
  running.startWhenNeeded();
  return { commands, tools: toolsOf(running), stop: () => running.stop() };

  function loadSettings(): Settings {
    const { settings: read, problems } = readSettings((key) => display.get(key));
    for (const problem of problems) {
      log.warn(problem);
      void vscode.window.showWarningMessage(problem);
    }
    return read;
  }
}

/** The overlay's colours in the manifest, from which fainter or stronger ones are computed. */
function levelColours({ extension }: vscode.ExtensionContext): LevelColours[] {
  const { colors } = extension.packageJSON.contributes as { colors: { defaults: LevelColours }[] };
  return colors.map(({ defaults }) => defaults);
}

/** Sets a context key that completes a step of the walkthrough. */
function remember(what: string): void {
  void vscode.commands.executeCommand("setContext", what, true);
}

/** Whether a change affects settings that the server reads only at its start. */
function affectsStart(event: vscode.ConfigurationChangeEvent): boolean {
  const read = [
    "counterlens.enable",
    "counterlens.interpreter",
    "counterlens.importStrategy",
    "counterlens.languages",
  ];
  return read.some((key) => event.affectsConfiguration(key));
}
