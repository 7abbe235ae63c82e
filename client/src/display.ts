/**
 * What commands chose to show in this workspace, over the settings. It is kept in the editor's storage of the workspace,
 * so that a look around leaves no file in a repository.
 */

import * as vscode from "vscode";
import type { Granularity } from "./settings";

const KEY = "counterlens.display";

type Choices = Record<string, unknown>;

export class Display implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly state: vscode.Memento) {}

  /** The value of a setting, named without `counterlens.`: the chosen one, else that of the settings. */
  get(key: string): unknown {
    return this.choices[key] ?? vscode.workspace.getConfiguration("counterlens").get(key);
  }

  get granularity(): Granularity {
    return (this.get("overlay.granularity") as Granularity | undefined) ?? "statement";
  }

  /** Chooses values; undefined returns to that of the settings. */
  async choose(values: Choices): Promise<void> {
    const entries = Object.entries({ ...this.choices, ...values }).filter(([, value]) => value !== undefined);
    await this.state.update(KEY, Object.fromEntries(entries));
    this.changed.fire();
  }

  /** Forgets the choices whose setting the user has changed since: the later word counts. */
  settingsChanged(event: vscode.ConfigurationChangeEvent): void {
    const kept = Object.entries(this.choices).filter(
      ([key]) => !event.affectsConfiguration(`counterlens.${key}`),
    );
    if (kept.length < Object.keys(this.choices).length) void this.state.update(KEY, Object.fromEntries(kept));
  }

  private get choices(): Choices {
    return this.state.get<Choices>(KEY) ?? {};
  }

  dispose(): void {
    this.changed.dispose();
  }
}
