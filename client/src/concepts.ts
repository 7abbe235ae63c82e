/** Commands that choose what is shown: which concepts are reported as surprising, and what the overlay colours. */

import * as vscode from "vscode";
import type { Display } from "./display";
import type { ConceptArgument } from "./protocol";
import { type Concept, finer, type Granularity } from "./settings";

const SETTINGS = "Settings";

/** The configuration target of such a choice: the workspace, or the user if no folder is open. */
function target(): vscode.ConfigurationTarget {
  return vscode.workspace.workspaceFolders?.length
    ? vscode.ConfigurationTarget.Workspace
    : vscode.ConfigurationTarget.Global;
}

/** Stops reporting surprises of a concept, and tells the user how to undo that. */
export async function ignoreConcept({ category }: ConceptArgument): Promise<void> {
  const section = vscode.workspace.getConfiguration("counterlens");
  const ignored = section.get<Concept[]>("diagnostics.ignoredConcepts") ?? [];
  await section.update("diagnostics.ignoredConcepts", [...new Set([...ignored, category])], target());
  const choice = await vscode.window.showInformationMessage(
    `Surprising ${category} are no longer marked in this workspace.`,
    SETTINGS,
  );
  if (choice === SETTINGS) {
    await vscode.commands.executeCommand(
      "workbench.action.openSettings",
      "counterlens.diagnostics.ignoredConcepts",
    );
  }
}

/** The settings that show everything: each uncertain word, and what surprises the model. */
const ALL = {
  "overlay.enabled": true,
  "overlay.calm": false,
  "overlay.granularity": "leaf",
  "diagnostics.enabled": true,
};

/** Shows all uncertainty, or what the settings say again. */
export async function showAllUncertainty(display: Display): Promise<void> {
  const shown = Object.entries(ALL).every(([key, value]) => display.get(key) === value);
  await display.choose(
    Object.fromEntries(Object.entries(ALL).map(([key, value]) => [key, shown ? undefined : value])),
  );
  const what = shown ? "places in doubt" : "all uncertainty";
  vscode.window.setStatusBarMessage(`Counterlens shows: ${what}`, 4000);
}

const CHOICES: { granularity: Granularity; label: string; detail: string }[] = [
  { granularity: "token", label: "Token", detail: "Each token of the model." },
  {
    granularity: "leaf",
    label: "Leaf",
    detail: "Each word, operator and bracket of the syntax tree.",
  },
  {
    granularity: "statement",
    label: "Statement",
    detail: "Each statement; for a loop or branch, its header.",
  },
  {
    granularity: "concept",
    label: "Concept",
    detail: "The smallest construct around each place.",
  },
];

/** Sets the overlay's granularity one step finer (1) or coarser (-1). */
export async function stepGranularity(display: Display, by: 1 | -1): Promise<void> {
  const granularity = finer(display.granularity, by);
  await display.choose({ "overlay.granularity": granularity });
  const chosen = CHOICES.find((choice) => choice.granularity === granularity);
  const what = chosen?.detail ?? granularity;
  vscode.window.setStatusBarMessage(`Counterlens colours: ${what}`, 4000);
}

/** Lets the user choose the overlay's granularity. */
export async function chooseGranularity(display: Display): Promise<void> {
  const current = display.granularity;
  const rows = CHOICES.map((choice) => ({
    ...choice,
    description: choice.granularity === current ? "now" : "",
  }));
  const chosen = await vscode.window.showQuickPick(rows, {
    title: "Unit that the overlay colours",
  });
  if (chosen) await display.choose({ "overlay.granularity": chosen.granularity });
}
