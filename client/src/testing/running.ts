/** Runs tests: one request for each function, and its verdicts as the results of the tests below it. */

import * as vscode from "vscode";
import { PROBE, type ProbeArgument, type ProbeResult } from "../protocol";
import { NO_ANSWER, type Server } from "../server";
import { type State, verdict } from "./verdict";

/** The mutations of one function to ask about. */
export interface Group {
  uri: vscode.Uri;
  function: string;
  /** By the mutation's id. */
  tests: Map<string, vscode.TestItem>;
  /** Mutations that change nothing here, with the reason. */
  refused: Map<string, string>;
  /** Whether these are all that the function has. */
  whole: boolean;
}

/** What is told as it becomes known. */
export interface Listener {
  /** What came of a test. */
  tell(test: vscode.TestItem, state: State): void;
  /** The whole result of a function that was run alone. */
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

  /** Undefined where there was nothing to ask, or nobody waits any more. */
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
    if (run.token.isCancellationRequested) return undefined; // What was not finished keeps its earlier result.
    const known = result ?? unanswered();
    const took = (Date.now() - begun) / asked.length; // They are asked together.
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
    this.listener.tell(test, state);
    if (state === "errored") {
      const shown = messages.map((text) => new vscode.TestMessage(text));
      run.errored(test, shown, took);
      return;
    }
    say(run, messages, mutation, test);
    // A red test would say that the code is wrong: what did not hold is the model, which the label says.
    if (state === "held") run.passed(test, took);
    else run.skipped(test);
  }
}

/** A skipped test has no message of its own in the editor: its output and its label say why. */
function skip(run: vscode.TestRun, test: vscode.TestItem, messages: string[], mutation: string): void {
  say(run, messages, mutation, test);
  run.skipped(test);
}

/** Without a place: the sentence would stand in grey behind the line of code. */
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
    wavering: "",
  };
}
