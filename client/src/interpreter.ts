/**
 * Finds the Python that runs the server: collects what the editor and its extensions know, for `install/` to choose
 * from.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import { type Choice, choose } from "./install/choosing";
import { candidates, pythonOf, type Surroundings } from "./install/discovery";
import { closedEnvironment, type Start } from "./install/environment";
import { fits, installed } from "./install/examine";
import { digestOf, readProgress } from "./install/steps";
import type { Settings } from "./settings";

export type { Interpreter } from "./install/choosing";

const WINDOWS = process.platform === "win32";
/** Time limit for the answer of another extension. */
const PATIENCE_MS = 5_000;

/** The interpreter to run the server with, or none with the reason. */
export async function findInterpreter(context: vscode.ExtensionContext, settings: Settings): Promise<Choice> {
  const libs = path.join(context.extensionPath, "libs");
  const bundle = readBundle(libs);
  const start = startOf(context);
  return choose({
    strategy: settings.importStrategy,
    candidates: await candidates(surroundings(settings.interpreter)),
    named: settings.interpreter.trim() !== "",
    carries: bundle !== undefined,
    own: ownInterpreter(context),
    fits: (python) => fits(python, libs, bundle?.glibc ?? "", start),
    installed: (python) => installed(python, start),
  });
}

/** Where Python is started: in the extension's folder, with nothing of the workspace in its environment. */
export function startOf(context: vscode.ExtensionContext): Start {
  return { cwd: context.extensionPath, env: closedEnvironment(process.env, workspaceFolders()) };
}

function workspaceFolders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
}

/** The folder of the extension's own environment. */
export function ownEnvironment(context: vscode.ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, "environment");
}

/** The source of the extension's own environment. Undefined if the extension carries all packages instead. */
export function ownSource(context: vscode.ExtensionContext): string | undefined {
  const source = path.join(context.extensionPath, "server");
  return fs.existsSync(source) ? source : undefined;
}

/** The interpreter of the extension's own environment, unless that is for another version. */
function ownInterpreter(context: vscode.ExtensionContext): string | undefined {
  const folder = ownEnvironment(context);
  const progress = readProgress(folder);
  const source = ownSource(context);
  const isCurrent = progress?.complete && (!source || progress.digest === digestOf(source));
  return isCurrent ? pythonOf(folder, WINDOWS) : undefined;
}

function readBundle(libs: string): { glibc: string } | undefined {
  try {
    return JSON.parse(fs.readFileSync(path.join(libs, "bundle.json"), "utf8"));
  } catch {
    return undefined; // the universal package has no bundle
  }
}

/** The facts about this machine and this editor. */
export function surroundings(setting: string): Surroundings {
  const folders = workspaceFolders();
  const resource = vscode.workspace.workspaceFolders?.[0]?.uri;
  return {
    setting,
    trusted: vscode.workspace.isTrusted,
    folders,
    home: process.env.HOME ?? process.env.USERPROFILE ?? "",
    searchPath: process.env.PATH ?? "",
    windows: WINDOWS,
    exists: fs.existsSync,
    environmentsExtension: () => softly(() => environmentsChoice(resource)),
    pythonExtension: () => softly(() => pythonChoice(resource)),
  };
}

/** Ignores failures and delays of other extensions: they are optional, and report their failures themselves. */
async function softly(ask: () => Promise<string | undefined>): Promise<string | undefined> {
  const tooLate = new Promise<undefined>((resolve) =>
    setTimeout(() => resolve(undefined), PATIENCE_MS).unref(),
  );
  const chosen = await Promise.race([ask().catch(() => undefined), tooLate]);
  if (!chosen || !path.isAbsolute(chosen) || !fs.existsSync(chosen)) return undefined;
  return fs.statSync(chosen).isDirectory() ? pythonOf(chosen, WINDOWS) : chosen;
}

/** The part of the Python Environments extension's API that is used here. */
interface EnvironmentsApi {
  getEnvironment(
    scope: vscode.Uri | undefined,
  ): Promise<{ execInfo?: { run?: { executable?: string } }; environmentPath?: vscode.Uri } | undefined>;
}

async function environmentsChoice(resource: vscode.Uri | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<EnvironmentsApi>("ms-python.vscode-python-envs");
  const api = await extension?.activate();
  const chosen = await api?.getEnvironment(resource);
  return chosen?.execInfo?.run?.executable ?? chosen?.environmentPath?.fsPath;
}

/** The part of the Python extension's API that is used here. */
interface PythonApi {
  environments?: { getActiveEnvironmentPath(resource?: vscode.Uri): { path: string } };
}

async function pythonChoice(resource: vscode.Uri | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  const api = await extension?.activate();
  return api?.environments?.getActiveEnvironmentPath(resource).path;
}
