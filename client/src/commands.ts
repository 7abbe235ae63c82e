/** Commands of the command palette, the menus and the status bar. */

import * as vscode from "vscode";
import type { Completions } from "./completions";
import { chooseGranularity, ignoreConcept, showAllUncertainty, stepGranularity } from "./concepts";
import type { Counterfactuals } from "./counterfactuals";
import { functionMeant } from "./cursor";
import type { DependenceView } from "./dependences";
import type { SyntaxDiagram } from "./diagram/syntaxDiagram";
import type { Display } from "./display";
import { chooseLabel, showLegend, toggleLabel } from "./legend";
import { fitMargins } from "./margins";
import { showMissedTests } from "./missedTests";
import { selectModel } from "./models/selecting";
import { testConnection } from "./models/testing";
import type { Overlay } from "./overlay";
import {
  COMPLETE_AND_EXPLAIN,
  type CompletionArgument,
  type ConceptArgument,
  type FunctionArgument,
  IGNORE_CONCEPT,
  PREVIEW_REPLACEMENT,
  PROBE,
  type ReplacementArgument,
  SHOW_COUNTERFACTUAL,
  SHOW_DEPENDENCES,
  SHOW_MUTANTS,
} from "./protocol";
import type { Replacements } from "./replacements";
import { askForApiKey } from "./secrets";
import type { Server } from "./server";
import type { Setup } from "./setup";
import type { TaskView } from "./tasks";
import type { SyntaxTree } from "./tree";
import type { FoundRun, RunsView } from "./views/runsView";

export const SHOW_ACTIONS = "counterlens.showActions";

/** The parts of the extension that the commands use. */
export interface Parts {
  server: Server;
  overlay: Overlay;
  display: Display;
  completions: Completions;
  counterfactuals: Counterfactuals;
  dependences: DependenceView;
  tasks: TaskView;
  tree: SyntaxTree;
  diagram: SyntaxDiagram;
  runs: RunsView;
  setup: Setup;
  log: vscode.LogOutputChannel;
}

// biome-ignore lint/suspicious/noExplicitAny: the arguments of a command depend on its caller
export type Commands = Record<string, (...given: any[]) => unknown>;

/** The commands of the manifest, with their implementations. */
export function manifestCommands(
  context: vscode.ExtensionContext,
  {
    server,
    overlay,
    display,
    completions,
    counterfactuals,
    dependences,
    tasks,
    tree,
    diagram,
    runs,
    setup,
    log,
  }: Parts,
): Commands {
  return {
    "counterlens.restartServer": () => server.restart("asked for by command"),
    "counterlens.showLogs": () => log.show(),
    "counterlens.toggleOverlay": () => overlay.setEnabled(!overlay.isEnabled),
    "counterlens.showAllUncertainty": () => showAllUncertainty(display),
    "counterlens.chooseGranularity": () => chooseGranularity(display),
    "counterlens.chooseTree": () => tree.choose(),
    "counterlens.showPicture": () => diagram.show(),
    "counterlens.refreshRuns": () => runs.load(),
    "counterlens.askRepository": () => runs.ask(),
    "counterlens.resumeRun": (run?: FoundRun) => runs.resume(run),
    "counterlens.pauseRun": (run?: FoundRun) => runs.pause(run),
    "counterlens.probeAtCursor": () => probeAtCursor(server),
    "counterlens.probeFunction": () => tasks.choose("function"),
    "counterlens.probeFile": () => tasks.choose("file"),
    [COMPLETE_AND_EXPLAIN]: (argument?: CompletionArgument) => completions.complete(argument),
    [SHOW_COUNTERFACTUAL]: (argument?: FunctionArgument) => counterfactuals.show(argument),
    [SHOW_DEPENDENCES]: (argument?: FunctionArgument) => dependences.show(argument),
    [SHOW_MUTANTS]: (argument?: FunctionArgument) => showMissedTests(server, argument),
    "counterlens.setApiKey": () => askForApiKey(context.secrets),
    "counterlens.chooseInterpreter": () => chooseInterpreter(),
    "counterlens.setUp": () => setup.ask(),
    "counterlens.selectModel": () => selectModel(server, context.secrets),
    "counterlens.testConnection": () => testConnection(server),
    "counterlens.fitNow": () => fitMargins(server),
    "counterlens.showLegend": () => showLegend(server, overlay, display),
    "counterlens.finerGranularity": () => stepGranularity(display, 1),
    "counterlens.coarserGranularity": () => stepGranularity(display, -1),
    [SHOW_ACTIONS]: () => showActions(overlay),
  };
}

/** Commands that only a response of the server can trigger. */
export function serverCommands(replacements: Replacements): Commands {
  return {
    [PREVIEW_REPLACEMENT]: (argument: ReplacementArgument) => replacements.preview(argument),
    [IGNORE_CONCEPT]: (argument: ConceptArgument) => ignoreConcept(argument),
  };
}

async function probeAtCursor(server: Server): Promise<void> {
  const argument = await functionMeant(
    server,
    undefined,
    "Put the cursor into a Python function to probe it.",
  );
  if (argument) await vscode.commands.executeCommand(PROBE, argument);
}

async function chooseInterpreter(): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    title: "Python with the counterlens package",
    openLabel: "Use This Python",
    canSelectMany: false,
  });
  const python = chosen?.[0]?.fsPath;
  if (!python) return;
  const settings = vscode.workspace.getConfiguration("counterlens");
  await settings.update("interpreter", python, vscode.ConfigurationTarget.Global);
}

async function showActions(overlay: Overlay): Promise<void> {
  const actions: (vscode.QuickPickItem & { command: string; argument?: string })[] = [
    {
      label: `$(beaker) Probe Function Counterfactually`,
      command: "counterlens.probeAtCursor",
    },
    {
      label: `$(repo) Ask About This Repository…`,
      command: "counterlens.askRepository",
    },
    { label: `$(comment) Complete and Explain`, command: COMPLETE_AND_EXPLAIN },
    { label: `$(git-compare) Show Counterfactual…`, command: SHOW_COUNTERFACTUAL },
    { label: `$(type-hierarchy) Show Dependences`, command: SHOW_DEPENDENCES },
    { label: `$(bug) What Do the Tests Miss?`, command: SHOW_MUTANTS },
    {
      label: `$(type-hierarchy-sub) Show Syntax Tree Diagram`,
      command: "counterlens.showPicture",
    },
    { label: toggleLabel(overlay.isEnabled), command: "counterlens.toggleOverlay" },
    { label: `$(eye) Show All Uncertainty`, command: "counterlens.showAllUncertainty" },
    { label: chooseLabel(), command: "counterlens.chooseGranularity" },
    { label: `$(symbol-color) Show Legend`, command: "counterlens.showLegend" },
    { label: `$(server) Select Model…`, command: "counterlens.selectModel" },
    { label: `$(plug) Test Connection`, command: "counterlens.testConnection" },
    { label: `$(tools) Set Up…`, command: "counterlens.setUp" },
    { label: `$(refresh) Restart Server`, command: "counterlens.restartServer" },
    { label: `$(output) Show Logs`, command: "counterlens.showLogs" },
    {
      label: `$(gear) Settings`,
      command: "workbench.action.openSettings",
      argument: "@ext:counterlens.counterlens",
    },
  ];
  const chosen = await vscode.window.showQuickPick(actions, { title: "Counterlens" });
  if (chosen) await vscode.commands.executeCommand(chosen.command, chosen.argument);
}
