/** The tests in the editor's Test Explorer: files, their functions, and a test per mutation, all resolved on demand. */

import * as vscode from "vscode";
import { rangeOf } from "../ranges";
import type { Server } from "../server";
import { PROBED_LANGUAGES } from "../settings";
import { Eventually } from "./eventually";
import { TEST_ITEMS, type TestItems } from "./protocol";
import type { Group } from "./running";
import type { State } from "./verdict";

/** The subject of a test: a file, one of its functions, or a mutation of one. */
interface Subject {
  uri: vscode.Uri;
  function?: string;
  mutation?: string;
  /** The reason why the mutation does not apply. */
  refused?: string;
  /** The mutation's concept, or why it does not apply. */
  what?: string;
}

/** Folders with third-party code or build output. */
const ELSEWHERE = "**/{node_modules,site-packages,.venv,venv,.tox,.nox,build,dist,__pycache__}/**";
const MOST_FILES = 2_000;

export class TestTree {
  private readonly subjects = new WeakMap<vscode.TestItem, Subject>();
  /** Items whose children are known or being requested. */
  private readonly resolved = new WeakSet<vscode.TestItem>();
  private readonly found = new Set<string>();
  private readonly edits = new Eventually(700);

  constructor(
    private readonly tests: vscode.TestController,
    private readonly server: Server,
  ) {}

  /**
   * Lists a document if it is a file that can be probed. Cells of a notebook are left out, as all would have the same
   * name.
   */
  opened(document: vscode.TextDocument): void {
    const isFile = document.uri.scheme === "file" && PROBED_LANGUAGES.includes(document.languageId);
    if (isFile && this.server.serves(document)) this.file(document.uri);
  }

  /** Removes a file that was only listed because it was open. */
  closed(document: vscode.TextDocument): void {
    const id = document.uri.toString();
    if (!this.found.has(id)) this.tests.items.delete(id);
  }

  /** After an edit, refreshes what is known of the file, and marks old results as outdated. */
  edited(document: vscode.TextDocument): void {
    const item = this.tests.items.get(document.uri.toString());
    if (!item || !this.resolved.has(item)) return;
    this.edits.do(item.id, async () => {
      this.tests.invalidateTestResults(item);
      await this.renew(item);
    });
  }

  /** Called when the server is ready. Repeats requests that failed or were answered by an earlier server. */
  async started(): Promise<void> {
    for (const [, item] of this.tests.items)
      if (this.resolved.has(item) || item.error) await this.renew(item);
  }

  /** Lists the Python files of the workspace, without reading them. */
  async search(cancel: vscode.CancellationToken): Promise<void> {
    for (const uri of await vscode.workspace.findFiles("**/*.py", ELSEWHERE, MOST_FILES, cancel)) {
      this.found.add(uri.toString());
      this.file(uri);
    }
  }

  /** Requests the children of an item, if they are not known yet. */
  async resolve(item: vscode.TestItem): Promise<void> {
    if (this.resolved.has(item)) return;
    this.resolved.add(item);
    await this.ask(item);
  }

  /** Shows the outcome in a test's label, since the icon cannot say that a model did not hold. */
  showState(item: vscode.TestItem, state: State): void {
    const subject = this.subjects.get(item);
    if (subject?.mutation === undefined) return;
    const outcomes: Record<State, string> = {
      held: "held",
      changed: "did not hold",
      nothing: "uninformative",
      errored: "",
    };
    item.label = labelled(subject, outcomes[state]);
  }

  /** The tests below some items, or these items themselves, grouped by function. */
  async groups(items: readonly vscode.TestItem[], excluded: ReadonlySet<vscode.TestItem>): Promise<Group[]> {
    const groups = new Map<vscode.TestItem, Group>();
    for (const item of items) await this.collect(item, excluded, groups);
    for (const [item, group] of groups) group.whole = group.tests.size === item.children.size;
    return [...groups.values()];
  }

  private async collect(
    item: vscode.TestItem,
    excluded: ReadonlySet<vscode.TestItem>,
    groups: Map<vscode.TestItem, Group>,
  ): Promise<void> {
    const subject = this.subjects.get(item);
    if (!subject || excluded.has(item)) return;
    if (subject.mutation === undefined) {
      await this.resolve(item);
      for (const [, child] of item.children) await this.collect(child, excluded, groups);
      return;
    }
    const parent = item.parent;
    if (!parent || subject.function === undefined) return;
    const { uri, function: name } = subject;
    const made = { uri, function: name, tests: new Map(), refused: new Map(), whole: false };
    const group: Group = groups.get(parent) ?? made;
    groups.set(parent, group);
    group.tests.set(subject.mutation, item);
    if (subject.refused) group.refused.set(subject.mutation, subject.refused);
  }

  private file(uri: vscode.Uri): void {
    if (this.tests.items.get(uri.toString())) return;
    const item = this.tests.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri);
    item.canResolveChildren = true;
    this.subjects.set(item, { uri });
    this.tests.items.add(item);
  }

  private async renew(item: vscode.TestItem): Promise<void> {
    await this.ask(item);
    for (const [, child] of item.children) if (this.resolved.has(child)) await this.ask(child);
  }

  private async ask(item: vscode.TestItem): Promise<void> {
    const subject = this.subjects.get(item);
    if (!subject) return;
    item.busy = true;
    try {
      const answer = await this.answer(subject);
      item.error = answer?.error ?? (answer ? undefined : "Counterlens is not running.");
      if (answer && !answer.error) {
        this.resolved.add(item);
        this.fill(item, subject, answer);
      } else {
        this.resolved.delete(item);
      }
    } finally {
      item.busy = false;
    }
  }

  private async answer({ uri, function: name }: Subject): Promise<TestItems | undefined> {
    await vscode.workspace.openTextDocument(uri); // so that the server knows it
    const argument = { uri: uri.toString(), ...(name && { function: name }) };
    const call = { command: TEST_ITEMS, arguments: [argument] };
    return this.server.request<TestItems>("workspace/executeCommand", call);
  }

  private fill(item: vscode.TestItem, subject: Subject, answer: TestItems): void {
    const children =
      subject.function === undefined
        ? answer.functions.map((one) => this.functionItem(item, subject.uri, one))
        : answer.mutations.map((one) => this.mutationItem(item, subject, one));
    item.children.replace(children);
  }

  private functionItem(
    file: vscode.TestItem,
    uri: vscode.Uri,
    { function: name, range }: TestItems["functions"][number],
  ): vscode.TestItem {
    const item = this.child(file, name, { uri, function: name });
    item.canResolveChildren = true;
    item.range = rangeOf(range);
    return item;
  }

  private mutationItem(
    parent: vscode.TestItem,
    subject: Subject,
    { mutation, concept, lines, refused }: TestItems["mutations"][number],
  ): vscode.TestItem {
    const what = refused ? `not applicable: ${refused}` : concept;
    const item = this.child(parent, mutation, { ...subject, mutation, refused, what });
    item.label = labelled({ mutation, what });
    item.sortText = `${refused ? 1 : 0}${mutation}`;
    const line = lines[0];
    item.range = line === undefined ? undefined : new vscode.Range(line, 0, line, 0);
    return item;
  }

  /** Reuses an existing item, with its results and its expanded children. */
  private child(parent: vscode.TestItem, name: string, subject: Subject): vscode.TestItem {
    const id = `${parent.id}#${name}`;
    const item = parent.children.get(id) ?? this.tests.createTestItem(id, name, subject.uri);
    this.subjects.set(item, subject);
    return item;
  }

  dispose(): void {
    this.edits.dispose();
  }
}

/** Builds a label. A description would replace the label in a screen reader. */
function labelled({ mutation, what }: Pick<Subject, "mutation" | "what">, outcome = ""): string {
  return [mutation, outcome, what].filter(Boolean).join(" · ");
}
