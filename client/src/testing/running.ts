/** Runs tests: sends one request per function, and reports its verdicts as the results of its tests. */

import * as vscode from "vscode";
import { PROBE, type ProbeArgument, type ProbeResult } from "../protocol";
import { NO_ANSWER, type Server } from "../server";
import { type State, verdict } from "./verdict";

/** The mutations of one function to probe. */
export interface Group {
  uri: vscode.Uri;
  function: string;
  /** By the mutation's id. */
  tests: Map<string, vscode.TestItem>;
  /** Mutations that do not apply to this function, with the reason. */
  refused: Map<string, string>;
  /** Whether these are all mutations of the function. */
  whole: boolean;
}

/** Notified of results as they become known. */
export interface Listener {
  /** Called with the result of a test. */
  showState(test: vscode.TestItem, state: State): void;
  /** Called with the whole result of a function that was run alone. */
  show(uri: vscode.Uri, result: ProbeResult): void;
}

export class Runner {
  constructor(
    private readonly server: Server,
    private readonly listener: Listener,
  ) {}

  async run(run: vscode.TestRun, groups: Group[]): Promise<void> {
    for (const group of groups) for (const test of group.tests.values()) run.enqueued(test);
    for (const group of groups) {
      if (run.token.isCancellationRequested) break;
      const result = await this.probe(run, group);
      if (result?.ok && groups.length === 1) this.listener.show(group.uri, result);
    }
  }

  /** Returns undefined if there was nothing to probe, or the run was cancelled. */
  private async probe(run: vscode.TestRun, group: Group): Promise<ProbeResult | undefined> {
    const asked = [...group.tests].filter(([mutation]) => !group.refused.has(mutation));
    for (const [mutation, test] of group.tests) {
      const reason = group.refused.get(mutation);
      if (reason) skip(run, test, [reason], mutation);
    }
    if (asked.length === 0) return undefined;
    for (const [, test] of asked) run.started(test);
    const argument: ProbeArgument = { uri: group.uri.toString(), function: group.function };
    if (!group.whole) argument.mutations = asked.map(([mutation]) => mutation);
    const call = { command: PROBE, arguments: [argument] };
    const begun = Date.now();
    const result = await this.server.request<ProbeResult>("workspace/executeCommand", call, run.token);
    if (run.token.isCancellationRequested) return undefined; // Unfinished tests keep their earlier results.
    const known = result ?? unanswered();
    const took = (Date.now() - begun) / asked.length; // The request probes them together.
    if (known.summary) say(run, [known.summary], group.function);
    for (const [mutation, test] of asked) this.report(run, test, known, mutation, took);
    return known;
  }

  private report(
    run: vscode.TestRun,
    test: vscode.TestItem,
    result: ProbeResult,
    mutation: string,
    took: number,
  ): void {
    const { state, messages } = verdict(result, mutation);
    this.listener.showState(test, state);
    if (state === "errored") {
      const shown = messages.map((text) => new vscode.TestMessage(text));
      run.errored(test, shown, took);
      return;
    }
    say(run, messages, mutation, test);
    // A red test would say that the code is wrong, although it is the model that did not hold; the label says that.
    if (state === "held") run.passed(test, took);
    else run.skipped(test);
  }
}

/** Marks a test as skipped. The editor shows no message for it, so its output and its label give the reason. */
function skip(run: vscode.TestRun, test: vscode.TestItem, messages: string[], mutation: string): void {
  say(run, messages, mutation, test);
  run.skipped(test);
}

/** Appends output without a location, since the editor would show it in grey behind the line of code. */
function say(run: vscode.TestRun, messages: string[], about: string, test?: vscode.TestItem): void {
  for (const text of messages) {
    run.appendOutput(`${about}: ${text.replaceAll("\n", "\r\n")}\r\n`, undefined, test);
  }
}

function unanswered(): ProbeResult {
  const nothing = { summary: "", report: "", markdown: "", html: "", function: "", source: "" };
  return {
    ok: false,
    error: NO_ANSWER,
    ...nothing,
    version: 0,
    pairs: [],
    not_asked: [],
    why_not_judged: "",
    noise: "",
  };
}
