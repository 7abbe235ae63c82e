/** Test Explorer: each pair of a function and a mutation is a test of the model. Off by default: see the setting. */

import * as vscode from "vscode";
import type { ProbeResult } from "../protocol";
import type { Server } from "../server";
import { Runner } from "./running";
import { TestTree } from "./tree";

export type Show = (uri: vscode.Uri, result: ProbeResult) => void;

export class TestExplorer implements vscode.Disposable {
  private listing: Listing | undefined;

  /** @param show shows the result of a function that was run alone */
  constructor(
    private readonly server: Server,
    private readonly show: Show,
    enabled: boolean,
  ) {
    this.enable(enabled);
  }

  /** Starts or stops listing the tests. */
  enable(enabled: boolean): void {
    if (enabled === (this.listing !== undefined)) return;
    this.listing?.dispose();
    this.listing = enabled ? new Listing(this.server, this.show) : undefined;
  }

  /** Called when the server is ready. */
  started(): void {
    this.listing?.started();
  }

  dispose(): void {
    this.enable(false);
  }
}

/** The tests while they are listed. */
class Listing implements vscode.Disposable {
  private readonly tests = vscode.tests.createTestController("counterlens", "Counterlens");
  private readonly tree: TestTree;
  private readonly runner: Runner;
  private readonly disposables: vscode.Disposable[];

  constructor(server: Server, show: Show) {
    this.tree = new TestTree(this.tests, server);
    this.runner = new Runner(server, { showState: (test, state) => this.tree.showState(test, state), show });
    this.tests.resolveHandler = (item) => (item ? this.tree.resolve(item) : this.listOpen());
    this.tests.refreshHandler = (cancel) => this.tree.search(cancel);
    // Not a default profile: "Run All Tests" is for the tests of the code, and should not start minutes of a model's
    // work.
    const run = (request: vscode.TestRunRequest, cancel: vscode.CancellationToken) =>
      this.run(request, cancel);
    this.tests.createRunProfile("Probe the Model", vscode.TestRunProfileKind.Run, run, false);
    this.disposables = [
      vscode.workspace.onDidOpenTextDocument((document) => this.tree.opened(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.tree.closed(document)),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) this.tree.edited(document);
      }),
    ];
    this.listOpen();
  }

  started(): void {
    void this.tree.started();
  }

  private listOpen(): void {
    for (const document of vscode.workspace.textDocuments) this.tree.opened(document);
  }

  private async run(request: vscode.TestRunRequest, cancel: vscode.CancellationToken): Promise<void> {
    const run = this.tests.createTestRun(request);
    const ended = cancel.onCancellationRequested(() => run.end());
    try {
      const asked = request.include ?? [...this.tests.items].map(([, item]) => item);
      const groups = await this.tree.groups(asked, new Set(request.exclude));
      await this.runner.run(run, groups);
    } finally {
      ended.dispose();
      run.end();
    }
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
    this.tree.dispose();
    this.tests.dispose();
  }
}
