// The environment of a test file: one VS Code with the packaged extension, one browser, one workspace.
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { chromium as playwright } from "playwright-core";
import { e2e, root, venvPython } from "../../../scripts/paths.mjs";
import { chromium } from "../../../scripts/setup/debian.mjs";
import { startCodeServer } from "./code-server.mjs";
import { Home } from "./home.mjs";
import { install } from "./installed.mjs";
import { shortModel } from "./short-model.mjs";
import { Workbench } from "./workbench.mjs";

const SHOTS = path.join(e2e, "shots");
const RUN = path.join(e2e, "run");

export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A session is too short for optimised code to repay the time of its compilers. */
const UNOPTIMISED = "--js-flags=--no-opt";

/** The name of the embedded model, for tests of findings that only a trained model has. */
export const EMBEDDED = "smollm2-135m";

/** Settings that show all uncertainty, like the command of that name; the default shows less. */
export const UNCERTAINTY = {
  "counterlens.diagnostics.enabled": true,
  "counterlens.overlay.enabled": true,
  "counterlens.overlay.calm": false,
  "counterlens.overlay.granularity": "leaf",
};

export class Session {
  /**
   * @param {string} name of the folder that contains the session
   * @param {{ open: string, folder?: string, example?: string, files?: Record<string, string>, settings?: object,
   *   machine?: object, model?: string, trustDialogs?: boolean, viewport?: object, vsix?: string, untouched?: boolean,
   *   environment?: Record<string, string>, extensions?: string[], proposed?: string[], watched?: boolean }} options
   *   `open`: a file of the workspace, which is a copy of `folder`, by default of tests/e2e/workspace; `example`: one
   *   of examples/ to add, `files`: others; `vsix`: the package, by default the universal one; `extensions`: others to
   *   install, of which those with ids in `proposed` may use proposed APIs; `model`: by default a short one;
   *   `untouched`: as after the installation, with neither interpreter nor model chosen; `watched`: whether the
   *   network calls of VS Code's processes are recorded
   */
  static async start(name, options) {
    const { open, example, settings = {}, trustDialogs = false, viewport } = options;
    const machine = { ...options.machine };
    const home = new Home(path.join(RUN, name), options.environment);
    const workspace = path.join(home.folder, "work");
    cpSync(options.folder ?? path.join(e2e, "workspace"), workspace, { recursive: true });
    if (example) copyFileSync(path.join(root, "examples", example), path.join(workspace, example));
    for (const [name, text] of Object.entries(options.files ?? {})) {
      writeFileSync(path.join(workspace, name), text);
    }
    home.writeSettings(settings);
    if (!options.untouched) {
      machine["counterlens.interpreter"] ??= venvPython;
      machine["counterlens.threads"] ??= 1; // other tests use the other processors, and threads wait for each other
      machine["counterlens.scoring.idleSecondsPerMinute"] ??= 6000; // a test waits for all of a document
      machine["counterlens.probe.budget"] ??= 0; // a test waits for all of a probe
      machine["counterlens.model"] ??= options.model ?? (await shortModel());
    }
    home.writeMachineSettings(machine);
    if (options.vsix) home.cli("--install-extension", options.vsix);
    else await install(home);
    for (const each of options.extensions ?? []) home.cli("--install-extension", each);
    const watched = options.watched ? home.calls : undefined;
    const server = await startCodeServer(home, { trustDialogs, proposed: options.proposed, watched });
    const context = await playwright.launchPersistentContext(home.profile, {
      executablePath: chromium(),
      headless: true,
      viewport: viewport ?? { width: 1280, height: 840 },
      colorScheme: "dark",
      args: [...FLAGS, UNOPTIMISED],
    });
    context.setDefaultTimeout(60_000); // a busy machine is slow, and no test is about that
    const page = context.pages()[0] ?? (await context.newPage());
    const session = new Session(name, home, workspace, server, context, new Workbench(page, server.url));
    session.machine = machine;
    try {
      await session.workbench.open(workspace, path.join(workspace, open));
    } catch (error) {
      await session.screenshot("did-not-open");
      await session.stop();
      throw error;
    }
    return session;
  }

  constructor(name, home, workspace, server, context, workbench) {
    Object.assign(this, { name, home, workspace, server, context, workbench });
    this.page = workbench.page;
  }

  /** The Python that has the package. */
  get interpreter() {
    return venvPython;
  }

  /** Changes the model, as the user does in the settings; waits until it is ready. */
  async changeModel(model) {
    this.machine["counterlens.model"] = model;
    this.home.writeMachineSettings(this.machine);
    const named = model === EMBEDDED ? /SmolLM2-135M-Instruct Q4_1.*: ready/ : /short.*: ready/;
    await this.workbench.statusItem(named).waitFor({ timeout: 120_000 });
  }

  /** Takes a picture without animations, since hovers and messages fade in half transparent. */
  async screenshot(name, options = {}) {
    mkdirSync(SHOTS, { recursive: true });
    const file = path.join(SHOTS, `${this.name}-${name}.png`);
    await this.page.screenshot({ path: file, animations: "disabled", ...options });
    return file;
  }

  /** Runs a test's body, and takes a picture if it fails. */
  async witness(name, body) {
    try {
      await body();
    } catch (error) {
      await this.screenshot(`FAILED-${name.replace(/\W+/g, "-")}`).catch(() => {});
      throw error;
    }
  }

  /** The extension's log. */
  log() {
    const files = this.home.logs().filter((file) => path.basename(file) === "Counterlens.log");
    return files.map((file) => readFileSync(file, "utf8")).join("\n");
  }

  async stop() {
    await this.context.close().catch(() => {});
    await this.server.stop();
    this.home.keep();
  }
}
