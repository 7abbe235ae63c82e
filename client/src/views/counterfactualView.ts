/** "Counterfactuals": those of the function at the cursor, each with the result of a probe; opening one shows it. */

import * as vscode from "vscode";
import type { Counterfactuals } from "../counterfactuals";
import { COUNTERFACTUALS, type Counterfactual, type CounterfactualResult, type Refusal } from "../protocol";
import type { Server } from "../server";
import type { Follower, Place } from "./follower";
import { outcomeIcon } from "./icons";
import { counterfactualWords, type Group, groupsOf, refusalWords } from "./words";

type Row = Group | Counterfactual | Refusal;

export const OPEN = "counterlens.openCounterfactual";

export class CounterfactualView implements vscode.Disposable, vscode.TreeDataProvider<Row> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Row>;
  private readonly disposables: vscode.Disposable[];
  private groups: Group[] = [];
  private place: Place | undefined;
  /** The data that the rows were made from: moving the cursor inside a function must not create them again. */
  private made: string | undefined;

  constructor(
    private readonly follower: Follower,
    private readonly server: Server,
    private readonly counterfactuals: Counterfactuals,
  ) {
    this.view = vscode.window.createTreeView("counterlens.counterfactuals", {
      treeDataProvider: this,
      showCollapseAll: true,
    });
    follower.serve(this.view);
    this.disposables = [
      this.view,
      this.changed,
      follower.onDidChange((place) => void this.load(place)),
      this.view.onDidChangeVisibility(() => void this.load(follower.place)),
      vscode.commands.registerCommand(OPEN, (one: Counterfactual) => this.open(one)),
    ];
  }

  private async load(place: Place | undefined): Promise<void> {
    if (!this.view.visible) return;
    const name = place?.found.function;
    const made =
      place && name ? JSON.stringify([place.document.uri, name, place.found]) : this.follower.whyEmpty;
    if (made === this.made) return;
    this.made = made;
    const argument = place && name ? { uri: place.document.uri.toString(), function: name } : undefined;
    const answer = argument && (await this.ask(argument));
    if (made !== this.made) return;
    this.place = place;
    this.groups = answer ? groupsOf(answer) : [];
    this.view.description = name ?? "";
    const nothing = name ? `No mutation applies to ${name}.` : this.follower.whyEmpty;
    this.view.message = answer?.error ?? (this.groups.length > 0 ? "" : nothing);
    this.changed.fire(undefined);
  }

  private ask(argument: object): Promise<CounterfactualResult | undefined> {
    return this.server.request("workspace/executeCommand", {
      command: COUNTERFACTUALS,
      arguments: [argument],
    });
  }

  private async open(one: Counterfactual): Promise<void> {
    if (this.place) await this.counterfactuals.open(this.place.document, this.place.found.function, one);
  }

  getChildren(row?: Row): Row[] {
    if (!row) return this.groups;
    return "rows" in row ? row.rows : [];
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
    if ("rows" in row) {
      const item = new vscode.TreeItem(row.label, row.refused ? Collapsed : Expanded);
      item.description = String(row.rows.length);
      return item;
    }
    const refused = "reason" in row;
    const { label, description, tooltip, ariaLabel } = refused ? refusalWords(row) : counterfactualWords(row);
    const item = new vscode.TreeItem(label);
    item.description = description;
    item.tooltip = tooltip;
    item.iconPath = refused ? new vscode.ThemeIcon("circle-slash") : outcomeIcon(row.outcome ?? "");
    item.accessibilityInformation = { label: ariaLabel };
    if (!refused) item.command = { title: "Show the Difference", command: OPEN, arguments: [row] };
    return item;
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }
}
