/** Which concepts are shown as surprising, and how fine the overlay is: what commands change in the settings. */

import * as vscode from "vscode";
import type { ConceptArgument } from "./protocol";
import type { Concept, Granularity } from "./settings";

const SETTINGS = "Settings";

/** Where a choice for this work belongs: the workspace, or without one the user. */
function target(): vscode.ConfigurationTarget {
  return vscode.workspace.workspaceFolders?.length
    ? vscode.ConfigurationTarget.Workspace
    : vscode.ConfigurationTarget.Global;
}

/** Do not show surprises of a concept any more; says how to have them back. */
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

const CHOICES: { granularity: Granularity; label: string; detail: string }[] = [
  { granularity: "token", label: "Token", detail: "Each token of the model." },
  { granularity: "leaf", label: "Leaf", detail: "Each word, operator and bracket of the syntax tree." },
  { granularity: "statement", label: "Statement", detail: "Each statement; of a loop or branch its header." },
  { granularity: "concept", label: "Concept", detail: "The smallest construct around each place." },
];

/** Let the user choose what the overlay colours. */
export async function chooseGranularity(): Promise<void> {
  const section = vscode.workspace.getConfiguration("counterlens");
  const current = section.get<Granularity>("overlay.granularity");
  const rows = CHOICES.map((choice) => ({
    ...choice,
    description: choice.granularity === current ? "now" : "",
  }));
  const chosen = await vscode.window.showQuickPick(rows, { title: "What the overlay colours" });
  if (chosen) await section.update("overlay.granularity", chosen.granularity, target());
}
