/** Creates the server's environment: asks first, shows progress, and offers actions for every problem. */

import * as vscode from "vscode";
import type { Choice } from "./install/choosing";
import { create, SetupError, type Trouble } from "./install/create";
import { candidates } from "./install/discovery";
import { creates } from "./install/examine";
import { discard, ENGINES, type Engine, PREBUILT_INDEX, readProgress } from "./install/steps";
import { ownEnvironment, ownSource, startOf, surroundings } from "./interpreter";
import { CHOOSE_INTERPRETER, SET_UP_BUTTON } from "./statusText";

const CONTINUE = "Continue";
const SHOW_LOGS = "Show Logs";
const COMPILING_NOTICE_AFTER_MS = 5_000;

export interface SetupParts {
  context: vscode.ExtensionContext;
  log: vscode.LogOutputChannel;
  /** The setting `counterlens.interpreter`. */
  interpreter(): string;
  /** Called when there is an environment. */
  done(): void;
}

export class Setup implements vscode.Disposable {
  private running = false;
  private abort = new AbortController();

  constructor(private readonly parts: SetupParts) {}

  /** Reports that no Python can run the server, and offers ways to fix that. */
  async offer({ tried, misfit }: Choice): Promise<void> {
    if (this.running) return;
    const { context, log } = this.parts;
    const named = this.parts.interpreter().trim() !== "";
    const begun = readProgress(ownEnvironment(context));
    const possible = ownSource(context) !== undefined && !named;
    let message = "Counterlens cannot start: no Python with the counterlens package was found.";
    if (named) message = `Counterlens cannot start: ${tried.at(-1) ?? ""}.`;
    else if (possible && begun?.complete)
      message = "Counterlens was updated; its Python environment must also be updated.";
    else if (possible && begun) {
      message = `Setting up Counterlens was interrupted after step ${begun.done.length}. Finished steps are not lost.`;
    } else if (possible && misfit) {
      message = `The bundled packages of Counterlens do not work with any Python on this machine: ${misfit}. Counterlens can create its own environment instead.`;
    } else if (possible) {
      message = "Counterlens needs Python packages. It can create its own environment for them.";
    }
    const first = possible ? [begun ? CONTINUE : SET_UP_BUTTON] : [];
    const choice = await vscode.window.showErrorMessage(message, ...first, CHOOSE_INTERPRETER, SHOW_LOGS);
    if (choice === SET_UP_BUTTON) await this.ask();
    if (choice === CONTINUE) await this.make(begun?.engine ?? "compile");
    if (choice === CHOOSE_INTERPRETER) await vscode.commands.executeCommand("counterlens.chooseInterpreter");
    if (choice === SHOW_LOGS) log.show();
  }

  /** Asks what to install. Nothing is downloaded before the user has chosen. */
  async ask(): Promise<void> {
    if (ownSource(this.parts.context) === undefined) {
      const message = "This copy of Counterlens was not packaged, so it cannot set up an environment.";
      void vscode.window.showInformationMessage(message);
      return;
    }
    const rows: (vscode.QuickPickItem & { engine?: Engine })[] = [
      {
        label: "$(tools) With Local Models, Compiled Here",
        description: "recommended",
        detail: "Downloads packages and a small model; compiles llama.cpp (about two minutes).",
        engine: "compile",
      },
      {
        label: "$(circuit-board) With Local Models, Compiled for the Graphics Processor",
        detail:
          "The same, for Metal on macOS, for CUDA where nvcc is installed, else for Vulkan; compiling takes longer.",
        engine: "gpu",
      },
      {
        label: "$(cloud-download) With Local Models, Prebuilt",
        detail:
          "The same, but with the author's prebuilt llama.cpp, which is not verified. Asks for confirmation.",
        engine: "prebuilt",
      },
      {
        label: "$(plug) Without Local Models",
        detail: "For a model on a server: needs no compiler and takes about a minute.",
        engine: "none",
      },
      {
        label: "$(folder-opened) Choose a Python with Counterlens…",
        detail: "Nothing is downloaded.",
      },
    ];
    const title = "Set Up Counterlens: What Should Be Installed into VS Code's Own Storage?";
    const chosen = await vscode.window.showQuickPick(rows, { title, ignoreFocusOut: true });
    if (!chosen) return;
    if (chosen.engine === "prebuilt") await this.makeFromPrebuilt();
    else if (chosen.engine) await this.make(chosen.engine);
    else await vscode.commands.executeCommand("counterlens.chooseInterpreter");
  }

  /** Asks for consent first, since the lock file has no hashes for prebuilt packages. */
  private async makeFromPrebuilt(): Promise<void> {
    const detail = `It is downloaded from ${PREBUILT_INDEX}, where the author of llama-cpp-python publishes it. Unlike everything else, it is not verified against a known hash.`;
    const fetchIt = "Download";
    const title = "Download prebuilt llama.cpp?";
    const answer = await vscode.window.showWarningMessage(title, { modal: true, detail }, fetchIt);
    if (answer === fetchIt) await this.make("prebuilt");
  }

  private async make(engine: Engine): Promise<void> {
    if (this.running) return;
    this.running = true;
    try {
      const trouble = await this.tryToMake(ENGINES.includes(engine) ? engine : "compile");
      this.running = false;
      if (!trouble) this.finish();
      else await this.wayOut(trouble, engine);
    } finally {
      this.running = false;
    }
  }

  private finish(): void {
    this.parts.done();
    if (this.parts.interpreter().trim() === "") return;
    void vscode.window.showInformationMessage(
      "The environment was created. It is used when the setting counterlens.interpreter is empty.",
    );
  }

  /** @returns The problem, or undefined. */
  private async tryToMake(engine: Engine): Promise<SetupError | undefined> {
    const { context, log } = this.parts;
    const source = ownSource(context);
    if (!source) return undefined;
    const base = await this.findBase();
    if (base instanceof SetupError) return base;
    const folder = ownEnvironment(context);
    log.info(`Setting up: ${folder}, with ${base}, engine: ${engine}.`);
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: "Setting up Counterlens",
      cancellable: true,
    };
    return vscode.window.withProgress(options, async (progress, token) => {
      const abort = new AbortController();
      this.abort = abort;
      token.onCancellationRequested(() => abort.abort());
      let now = "";
      let began = Date.now();
      const clock = setInterval(() => {
        const seconds = Math.round((Date.now() - began) / 1000);
        if (Date.now() - began > COMPILING_NOTICE_AFTER_MS)
          progress.report({ message: `${now}: ${seconds} s` });
      }, 1_000);
      try {
        await create(
          { base, folder, source, engine },
          {
            step(step, index, total) {
              now = `${step.title} (${index + 1} of ${total})`;
              began = Date.now();
              log.info(`Setting up: ${now}.`);
              progress.report({ message: now, increment: index === 0 ? 0 : 100 / total });
            },
            said: (line) => log.debug(line),
            signal: abort.signal,
          },
        );
        log.info("Setting up: done.");
        return undefined;
      } catch (error) {
        const trouble = error instanceof SetupError ? error : new SetupError("failed", String(error));
        log.error(`Setting up: ${trouble.message}`);
        return trouble;
      } finally {
        clearInterval(clock);
      }
    });
  }

  /** Finds a Python that can create environments. */
  private async findBase(): Promise<string | SetupError> {
    const tried: string[] = [];
    for (const { path, origin } of await candidates(surroundings(""))) {
      const answer = await creates(path, startOf(this.parts.context));
      if ("found" in answer) return path;
      tried.push(`${path} (${origin}) ${answer.reason}`);
    }
    for (const each of tried) this.parts.log.warn(`Setting up: ${each}.`);
    const reason = tried.at(-1) ?? "there is none on the PATH";
    return new SetupError(
      "failed",
      `no Python 3.11 or later that can create environments was found: ${reason}`,
    );
  }

  /** Ends a running installer together with the window; the next one resumes it. */
  dispose(): void {
    this.abort.abort();
  }

  private async wayOut({ trouble, message }: SetupError, engine: Engine): Promise<void> {
    const { text, ways } = this.describe(trouble, message, engine);
    const choice = await vscode.window.showWarningMessage(text, ...Object.keys(ways));
    await (choice && ways[choice]?.());
  }

  private describe(
    trouble: Trouble,
    message: string,
    engine: Engine,
  ): { text: string; ways: Record<string, () => unknown> } {
    const again = () => this.make(engine);
    const without = { "Without Local Models": () => this.make("none") };
    const interpreter = {
      [CHOOSE_INTERPRETER]: () => vscode.commands.executeCommand("counterlens.chooseInterpreter"),
    };
    const logs = { [SHOW_LOGS]: () => this.parts.log.show() };
    switch (trouble) {
      case "cancelled":
        return {
          text: "Setting up Counterlens was cancelled. Finished steps are not lost.",
          ways: {
            [CONTINUE]: again,
            "Start Over": () => {
              discard(ownEnvironment(this.parts.context));
              return this.ask();
            },
          },
        };
      case "compiler":
        return {
          text: `${message} Install one (on Debian or Ubuntu: sudo apt-get install build-essential), use the prebuilt llama.cpp from the author of llama-cpp-python, or do without local models and connect to a server.`,
          ways: {
            "Try Again": again,
            "Prebuilt…": () => this.makeFromPrebuilt(),
            ...without,
          },
        };
      case "graphics":
        return {
          text: `${message} On Debian or Ubuntu: sudo apt-get install libvulkan-dev glslc spirv-headers. Without it, the processor computes everything.`,
          ways: {
            "Try Again": again,
            "For the Processor": () => this.make("compile"),
            ...logs,
          },
        };
      case "network":
        return {
          text: "Counterlens could not download its packages: there is no connection to the Python package registry. Finished steps are not lost. Without a network, install the package for your platform, which contains everything, or choose a Python with counterlens.",
          ways: { "Try Again": again, ...interpreter, ...logs },
        };
      case "busy":
        return { text: message, ways: { "Try Again": again } };
      default:
        return {
          text: `Setting up Counterlens failed: ${message}`,
          ways: {
            "Try Again": again,
            ...(engine === "none" ? interpreter : without),
            ...logs,
          },
        };
    }
  }
}
