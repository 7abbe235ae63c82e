/** The life cycle of the language server: find its Python, start it, restart it when it dies, stop it. */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { COMPLETE, type CompleteParams, type CompleteResult } from "./assistant/protocol";
import type { Choice, Interpreter } from "./install/choosing";
import { findInterpreter, ownSource, startOf } from "./interpreter";
import type { LanguageClient } from "./languageClient";
import { MORE } from "./more";
import {
  COMPLETION_BEGUN,
  type CompletionBegun,
  type InitializationOptions,
  PARTLY_SCORED,
  PROBE,
  PROBE_FACT,
  PROBE_REFINED,
  type ProbeFact,
  type ProbeRefinement,
  SCORES_CHANGED,
  type ScoresChangedParams,
  SHOW_COUNTERFACTUAL,
  SHOW_DEPENDENCES,
  STATUS,
  type StatusParams,
  TASK_NEWS,
  type TaskNews,
  TRUSTED,
} from "./protocol";
import { proxyEnvironment } from "./proxy";
import { RestartPolicy } from "./restart";
import { apiKeyEnvironment } from "./secrets";
import type { Settings } from "./settings";
import { withoutPython } from "./statusText";
import { RUN_NEWS, type RunNews } from "./views/protocol";

/** The message if a request to the server got no response. */
export const NO_ANSWER = "The language server did not answer. “Counterlens: Show Logs” gives the reason.";

/** Commands that a hover may link to. Hovers also show code, which must not be able to run any other command. */
const HOVER_COMMANDS = [MORE, PROBE, SHOW_COUNTERFACTUAL, SHOW_DEPENDENCES];

/** Language ids of the editor that share the grammar of another one. */
const GRAMMAR_ALIASES: Record<string, string[]> = { javascript: ["javascriptreact"] };

export interface ServerListener {
  status(params: StatusParams): void;
  scoresChanged(params: ScoresChangedParams): void;
  partlyScored(params: ScoresChangedParams): void;
  taskNews(news: TaskNews): void;
  runNews(news: RunNews): void;
  probeFact(news: ProbeFact): void;
  probeRefined(news: ProbeRefinement): void;
  completionBegun(news: CompletionBegun): void;
  /** Sends a request to a model that the editor offers. */
  complete(params: CompleteParams, cancel: vscode.CancellationToken): Promise<CompleteResult>;
  /** Called when the server is ready and has the open documents. */
  started(): void;
  /** Called with the chosen interpreter and the reason for the choice. */
  interpreter(found: Interpreter): void;
  /** Called when no interpreter has the counterlens package. */
  noInterpreter(choice: Choice): void;
}

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  /** The Python that the server was last started with. */
  private python = "";
  private readonly policy = new RestartPolicy();
  /** Starts and stops run one after the other, in the order of the requests. */
  private queue: Promise<void> = Promise.resolve();
  private retry: NodeJS.Timeout | undefined;
  private held: vscode.Disposable[] = [];
  /** Whether the server has been needed yet; until then, no interpreter is searched for and nothing is started. */
  private needed = false;
  private readonly opening: vscode.Disposable;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly settings: () => Settings,
    private readonly middleware: Middleware,
    private readonly listener: ServerListener,
  ) {
    this.opening = vscode.workspace.onDidOpenTextDocument((document) => this.opened(document));
  }

  /** Starts the server once a document of an enabled language is open. */
  startWhenNeeded(): void {
    const detail = "The server starts when a file of an enabled language is open (counterlens.languages).";
    this.listener.status({ model: "", state: "idle", detail });
    for (const document of vscode.workspace.textDocuments) this.opened(document);
  }

  private opened(document: vscode.TextDocument): void {
    if (!this.needed && this.serves(document)) void this.restart(`a file of ${document.languageId} is open`);
  }

  /** Whether a document belongs to the server. */
  serves(document: vscode.TextDocument): boolean {
    return vscode.languages.match(this.selector, document) > 0;
  }

  /** Matches files and notebook cells, each of which is a separate document. */
  private get selector(): { scheme: string; language: string }[] {
    const languages = this.settings().languages.flatMap((language) => [
      language,
      ...(GRAMMAR_ALIASES[language] ?? []),
    ]);
    const schemes = ["file", "vscode-notebook-cell"];
    return languages.flatMap((language) => schemes.map((scheme) => ({ scheme, language })));
  }

  /** Starts or restarts the server, because the user asked for it or because it is needed. */
  restart(reason: string): Promise<void> {
    this.needed = true;
    this.policy.reset();
    return this.enqueue(reason);
  }

  /** Applies a change that the server reads only at its start. */
  async renew(reason: string): Promise<void> {
    if (this.needed) await this.restart(reason);
    else this.startWhenNeeded();
  }

  /**
   * Called when the workspace becomes trusted. Restarts the server if its Python changes, and otherwise notifies it.
   */
  async trustGranted(): Promise<void> {
    if (!this.needed) return this.startWhenNeeded();
    this.policy.reset();
    this.queue = this.queue.then(async () => {
      if (!(await this.sendTrust())) await this.replaceNow("the workspace is now trusted");
    });
    return this.queue;
  }

  /** Notifies the server of trust. Returns false if it has to be restarted instead. */
  private async sendTrust(): Promise<boolean> {
    if (!this.client || !this.isRunning) return false;
    const { chosen } = await findInterpreter(this.context, this.settings());
    if (chosen?.path !== this.python) return false;
    try {
      await this.client.sendNotification(TRUSTED);
    } catch (error) {
      this.log.debug(`Telling of the trust: ${error}`);
      return false;
    }
    await this.sendSettings(); // workspace settings now apply
    this.log.info("The workspace is now trusted; the language server goes on.");
    return true;
  }

  stop(): Promise<void> {
    clearTimeout(this.retry);
    this.queue = this.queue.then(() => this.stopNow());
    return this.queue;
  }

  /** Sends a request. Returns undefined if the server is not running or does not respond. */
  async request<Result>(
    method: string,
    params: object,
    cancel?: vscode.CancellationToken,
  ): Promise<Result | undefined> {
    const client = this.client;
    if (!client?.isRunning()) return undefined;
    try {
      // An undefined token would count as a second parameter.
      return await (cancel
        ? client.sendRequest<Result>(method, params, cancel)
        : client.sendRequest<Result>(method, params));
    } catch (error) {
      this.log.debug(`${method}: ${error}`);
      return undefined;
    }
  }

  /** Waits for all requested starts, and returns whether the server runs. */
  async whenStarted(): Promise<boolean> {
    await this.queue;
    return this.isRunning;
  }

  get isRunning(): boolean {
    return this.client?.isRunning() ?? false;
  }

  /**
   * Sends the settings. A server that is still starting gets them when it is ready, since it may have started with old
   * ones.
   */
  settingsChanged(): Promise<void> {
    this.queue = this.queue.then(() => this.sendSettings());
    return this.queue;
  }

  private async sendSettings(): Promise<void> {
    if (!this.client || !this.isRunning) return;
    try {
      await this.client.sendNotification("workspace/didChangeConfiguration", {
        settings: { counterlens: this.settings() },
      });
    } catch (error) {
      this.log.debug(`Sending the settings: ${error}`); // It died, and restarts with the new settings.
    }
  }

  private enqueue(reason: string): Promise<void> {
    clearTimeout(this.retry);
    this.queue = this.queue.then(() => this.replaceNow(reason));
    return this.queue;
  }

  private async replaceNow(reason: string): Promise<void> {
    this.log.info(`Starting the language server: ${reason}.`);
    await this.stopNow();
    await this.startNow();
  }

  /** The middleware of the features, with commands that outlive a restart. */
  private get patientMiddleware(): Middleware {
    return {
      ...this.middleware,
      executeCommand: async (command, args, next) => {
        const { client } = this;
        await this.queue; // a server that is about to be replaced would refuse or lose it
        const again = () => vscode.commands.executeCommand(command, ...args);
        if (this.client !== client) return again();
        try {
          return await (this.middleware.executeCommand?.(command, args, next) ?? next(command, args));
        } catch (error) {
          if (this.client === client) throw error;
          await this.queue;
          return again();
        }
      },
    };
  }

  /** While no server runs, its commands wait for the next one. */
  private holdCommands(commands: string[]): void {
    this.releaseCommands();
    this.held = commands.map((command) =>
      vscode.commands.registerCommand(command, async (...args: unknown[]) => {
        if (await this.whenStarted()) await vscode.commands.executeCommand(command, ...args);
        else void vscode.window.showWarningMessage(NO_ANSWER);
      }),
    );
  }

  private releaseCommands(): void {
    for (const command of this.held) command.dispose();
    this.held = [];
  }

  private async startNow(): Promise<void> {
    if (!this.settings().enable) {
      this.listener.status({
        model: "",
        state: "disabled",
        detail: "counterlens.enable is off.",
        reason: "off (counterlens.enable)",
      });
      return;
    }
    const starting = "Starting the language server.";
    this.listener.status({ model: "", state: "loading", detail: starting });
    const interpreter = await this.findInterpreter();
    if (!interpreter) return;
    const client = await this.createClient(interpreter);
    this.client = client;
    this.python = interpreter.path;
    this.releaseCommands();
    try {
      await client.start();
    } catch (error) {
      this.log.error(`The language server did not start: ${error}`);
      this.died(client);
      return;
    }
    this.log.info("The language server is running.");
    this.listener.started();
  }

  private async findInterpreter(): Promise<Interpreter | undefined> {
    const choice = await findInterpreter(this.context, this.settings());
    const { chosen } = choice;
    for (const why of choice.tried) this.log.warn(`Interpreter: ${why}.`);
    if (chosen) {
      this.log.info(`Interpreter: ${chosen.path} (${chosen.why}), counterlens ${chosen.version}.`);
      this.listener.interpreter(chosen);
      return chosen;
    }
    const canSetUp = ownSource(this.context) !== undefined && this.settings().interpreter.trim() === "";
    const reason = withoutPython(canSetUp);
    const detail = "No Python with the counterlens package was found. The log lists those that were tried.";
    this.listener.status({ model: "", state: "error", detail, reason });
    this.listener.noInterpreter(choice);
    return undefined;
  }

  private async createClient(interpreter: Interpreter): Promise<LanguageClient> {
    const initializationOptions: InitializationOptions = {
      settings: this.settings(),
      trusted: vscode.workspace.isTrusted,
      showsResults: true,
    };
    const { languageClient } = await import("./languageClient");
    const start = startOf(this.context);
    const client = languageClient(
      {
        command: interpreter.path,
        // A module in the workspace must not shadow one of the server's.
        args: ["-P", "-m", "counterlens", "serve", "--stdio"],
        options: {
          cwd: start.cwd,
          // The client library passes only this environment to the command: by default no PATH, no HOME, no proxy.
          env: {
            ...start.env,
            ...proxyEnvironment(vscode.workspace.getConfiguration("http").get("proxy"), process.env),
            ...interpreter.environment,
            ...(await apiKeyEnvironment(this.context.secrets)),
          },
        },
      },
      {
        documentSelector: this.selector,
        initializationOptions,
        middleware: this.patientMiddleware,
        markdown: { isTrusted: { enabledCommands: HOVER_COMMANDS } },
        outputChannel: this.log,
      },
      (client) => this.died(client),
    );
    client.onNotification(STATUS, (params: StatusParams) => this.listener.status(params));
    client.onNotification(SCORES_CHANGED, (params: ScoresChangedParams) =>
      this.listener.scoresChanged(params),
    );
    client.onNotification(PARTLY_SCORED, (params: ScoresChangedParams) => this.listener.partlyScored(params));
    client.onRequest(COMPLETE, (params: CompleteParams, cancel: vscode.CancellationToken) =>
      this.listener.complete(params, cancel),
    );
    client.onNotification(PROBE_FACT, (news: ProbeFact) => this.listener.probeFact(news));
    client.onNotification(PROBE_REFINED, (news: ProbeRefinement) => this.listener.probeRefined(news));
    client.onNotification(COMPLETION_BEGUN, (news: CompletionBegun) => this.listener.completionBegun(news));
    client.onNotification(TASK_NEWS, (news: TaskNews) => this.listener.taskNews(news));
    client.onNotification(RUN_NEWS, (news: RunNews) => this.listener.runNews(news));
    return client;
  }

  private died(client: LanguageClient): void {
    if (this.client !== client) return; // stopped on purpose
    this.client = undefined;
    void client.dispose().catch(() => undefined);
    const delay = this.policy.next();
    if (delay === undefined) {
      const detail =
        "The language server keeps stopping. Check the log, then use “Counterlens: Restart Server” to try again.";
      this.log.error(detail);
      const reason = "the server keeps stopping";
      this.listener.status({ model: "", state: "error", detail, reason });
      return;
    }
    this.log.warn(`The language server stopped unexpectedly; starting it again in ${delay} ms.`);
    const restarting = "The language server stopped; restarting.";
    this.listener.status({ model: "", state: "loading", detail: restarting });
    this.retry = setTimeout(() => void this.enqueue("it stopped unexpectedly"), delay);
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (!client) return;
    const commands = client.initializeResult?.capabilities.executeCommandProvider?.commands ?? [];
    try {
      await client.dispose();
    } catch (error) {
      this.log.debug(`Stopping: ${error}`);
    }
    this.holdCommands(commands);
  }

  dispose(): void {
    this.opening.dispose();
    void this.stop().then(() => this.releaseCommands());
  }
}
