/** Runs tests: one request for each function, and its verdicts as the results of the tests below it. */

import * as vscode from "vscode";
import { PROBE, type ProbeArgument, type ProbeResult } from "../protocol";
import { NO_ANSWER, type Server } from "../server";
import { type Message, verdict } from "./verdict";

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

export class Runner {
  constructor(private readonly server: Server) {}

  async run(run: vscode.TestRun, groups: Group[]): Promise<void> {
    for (const group of groups) for (const test of group.tests.values()) run.enqueued(test);
    for (const group of groups) {
      if (run.token.isCancellationRequested) break;
      await this.probe(run, group);
    }
  }

  private async probe(run: vscode.TestRun, group: Group): Promise<void> {
    const asked = [...group.tests].filter(([mutation]) => !group.refused.has(mutation));
    for (const [mutation, test] of group.tests) {
      const reason = group.refused.get(mutation);
      if (reason) skip(run, test, [{ text: reason }], mutation);
    }
    if (asked.length === 0) return;
    for (const [, test] of asked) run.started(test);
    const argument: ProbeArgument = { uri: group.uri.toString(), function: group.function };
    if (!group.whole) argument.mutations = asked.map(([mutation]) => mutation);
    const call = { command: PROBE, arguments: [argument] };
    const begun = Date.now();
    const result = await this.server.request<ProbeResult>("workspace/executeCommand", call, run.token);
    if (run.token.isCancellationRequested) return; // What was not finished keeps its earlier result.
    const known = result ?? unanswered();
    const took = (Date.now() - begun) / asked.length; // They are asked together.
    if (known.summary) say(run, [{ text: known.summary }], group.function);
    for (const [mutation, test] of asked) report(run, test, known, mutation, took);
  }
}

function report(
  run: vscode.TestRun,
  test: vscode.TestItem,
  result: ProbeResult,
  mutation: string,
  took: number,
): void {
  const { state, messages } = verdict(result, mutation);
  if (state === "skipped") {
    skip(run, test, messages, mutation);
  } else if (state === "passed") {
    say(run, messages, mutation, test);
    run.passed(test, took);
  } else {
    const shownOnes = messages.map((one) => shown(test, one));
    run[state](test, shownOnes, took);
  }
}

/** A skipped test has no message of its own in the editor: its output and its label say why. */
function skip(run: vscode.TestRun, test: vscode.TestItem, messages: Message[], mutation: string): void {
  say(run, messages, mutation, test);
  run.skipped(test);
}

/** Without a place: the sentence would stand in grey behind the line of code. */
function say(run: vscode.TestRun, messages: Message[], about: string, test?: vscode.TestItem): void {
  for (const { text } of messages) {
    run.appendOutput(`${about}: ${text.replaceAll("\n", "\r\n")}\r\n`, undefined, test);
  }
}

function shown(test: vscode.TestItem, { text, line, expected, actual }: Message): vscode.TestMessage {
  const message =
    expected === undefined || actual === undefined
      ? new vscode.TestMessage(text)
      : vscode.TestMessage.diff(text, expected, actual);
  const place = line === undefined ? test.range?.start : new vscode.Position(line, 0);
  if (test.uri && place) message.location = new vscode.Location(test.uri, place);
  return message;
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
