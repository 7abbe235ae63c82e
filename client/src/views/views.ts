/** The views of the Counterlens container. */

import type * as vscode from "vscode";
import type { Counterfactuals } from "../counterfactuals";
import type { ScoresChangedParams } from "../protocol";
import type { Server } from "../server";
import { CounterfactualView } from "./counterfactualView";
import { Follower } from "./follower";
import { FunctionView } from "./functionView";
import { RunsView } from "./runsView";

export class Views implements vscode.Disposable {
  private readonly follower: Follower;
  private readonly parts: vscode.Disposable[];
  readonly runs: RunsView;

  constructor(server: Server, counterfactuals: Counterfactuals) {
    this.follower = new Follower(server);
    this.runs = new RunsView(server);
    this.parts = [
      new FunctionView(this.follower),
      new CounterfactualView(this.follower, server, counterfactuals),
      this.runs,
      this.follower,
    ];
    this.follower.soon();
  }

  scoresChanged(params: ScoresChangedParams): void {
    this.follower.scoresChanged(params);
  }

  /** Called when the server is ready. */
  started(): void {
    this.follower.soon();
    void this.runs.serverStarted();
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
  }
}
