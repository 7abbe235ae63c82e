/** "Function": known facts about the function at the cursor. */

import * as vscode from "vscode";
import { SHOW_DEPENDENCES, SHOW_MUTANTS } from "../protocol";
import { rangeOf } from "../ranges";
import type { Follower, Place } from "./follower";
import { confidenceIcon } from "./icons";
import type { ConceptRow } from "./protocol";
import { conceptWords } from "./words";

type Section = "confidence" | "dependences" | "probes";

type Row =
  | { kind: "section"; section: Section }
  | { kind: "concept"; one: ConceptRow }
  | { kind: "note"; label: string; description?: string; icon?: string; command?: vscode.Command };

const TITLES: Record<Section, [title: string, icon: string]> = {
  confidence: ["Confidence by Concept", "pulse"],
  dependences: ["Dependences", "type-hierarchy"],
  probes: ["Probes", "beaker"],
};

export class FunctionView implements vscode.Disposable, vscode.TreeDataProvider<Row> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Row>;
  private readonly following: vscode.Disposable;
  private place: Place | undefined;
  private shown = "";

  constructor(follower: Follower) {
    this.view = vscode.window.createTreeView("counterlens.function", { treeDataProvider: this });
    follower.serve(this.view);
    this.following = follower.onDidChange((place) => {
      this.view.message = follower.whyEmpty;
      this.show(place);
    });
  }

  private show(place: Place | undefined): void {
    const shown = place?.found.function ? JSON.stringify([place.document.uri, place.found]) : "";
    // A click on a row that is being redrawn is lost, and the cursor moves often.
    if (shown === this.shown) return;
    this.shown = shown;
    this.place = place?.found.function ? place : undefined;
    this.view.description = this.place?.found.function ?? "";
    this.changed.fire(undefined);
  }

  getChildren(row?: Row): Row[] {
    if (!this.place) return [];
    if (!row)
      return (["confidence", "dependences", "probes"] as const).map((section) => ({
        kind: "section",
        section,
      }));
    return row.kind === "section" ? this.rows(row.section, this.place) : [];
  }

  private rows(section: Section, { document, found }: Place): Row[] {
    const argument = { uri: document.uri.toString(), function: found.function };
    if (section === "confidence") {
      if (found.concepts.length > 0) return found.concepts.map((one) => ({ kind: "concept", one }));
      const why = found.state === "scoring" ? "being scored…" : (found.reason ?? "no part is scored");
      return [{ kind: "note", label: why, icon: found.state === "scoring" ? "loading~spin" : "info" }];
    }
    if (section === "dependences") {
      const command = {
        title: "Show Dependences",
        command: SHOW_DEPENDENCES,
        arguments: [argument],
      };
      const { dependences } = found;
      return dependences
        ? [
            {
              kind: "note",
              label: dependences.summary,
              description: dependences.method,
              icon: "graph",
              command,
            },
          ]
        : [{ kind: "note", label: "Show what the model infers…", icon: "play", command }];
    }
    const probe = { title: "Probe Function…", command: "counterlens.probeFunction" };
    const done: Row[] = found.findings.map(({ task, summary }) => ({
      kind: "note",
      label: task,
      description: summary,
      icon: "check",
    }));
    return [
      ...done,
      {
        kind: "note",
        label: done.length > 0 ? "Probe again…" : "Probe…",
        icon: "play",
        command: probe,
      },
      {
        kind: "note",
        label: "What Do the Tests Miss?",
        icon: "bug",
        command: {
          title: "What Do the Tests Miss?",
          command: SHOW_MUTANTS,
          arguments: [argument],
        },
      },
    ];
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const { Expanded, None } = vscode.TreeItemCollapsibleState;
    if (row.kind === "section") {
      const [title, icon] = TITLES[row.section];
      const item = new vscode.TreeItem(title, Expanded);
      item.iconPath = new vscode.ThemeIcon(icon);
      item.id = row.section;
      return item;
    }
    if (row.kind === "concept") return this.concept(row.one);
    const item = new vscode.TreeItem(row.label, None);
    if (row.description) item.description = row.description;
    item.tooltip = row.description ? `${row.label}: ${row.description}` : row.label;
    if (row.icon) item.iconPath = new vscode.ThemeIcon(row.icon);
    if (row.command) item.command = row.command;
    item.accessibilityInformation = { label: item.tooltip };
    return item;
  }

  /** The row of a concept, which opens its least certain place. */
  private concept(one: ConceptRow): vscode.TreeItem {
    const { label, description, tooltip, ariaLabel } = conceptWords(one);
    const item = new vscode.TreeItem(label);
    Object.assign(item, { description, tooltip, iconPath: confidenceIcon(one.level) });
    item.accessibilityInformation = { label: ariaLabel };
    const place = [this.place?.document.uri, { selection: rangeOf(one.least), preserveFocus: true }];
    item.command = {
      title: "Show the Least Certain Place",
      command: "vscode.open",
      arguments: place,
    };
    return item;
  }

  dispose(): void {
    this.following.dispose();
    this.view.dispose();
    this.changed.dispose();
  }
}
