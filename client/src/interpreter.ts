/** Finds the Python that has counterlens installed. */

import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

export interface Interpreter {
  path: string;
  /** The version of the counterlens package. */
  version: string;
}

export interface Candidate {
  path: string;
  /** Where it comes from, for the log. */
  origin: string;
}

/** Prints the package's version; fails with a reason on standard error. */
const PROGRAM = [
  "import sys",
  "if sys.version_info < (3, 11): sys.exit('is Python %d.%d; Counterlens needs 3.11 or later' % sys.version_info[:2])",
  "try:",
  "    import counterlens",
  "except ImportError as error:",
  "    sys.exit('does not have the counterlens package (%s)' % error)",
  "print(counterlens.__version__)",
].join("\n");

/** Ask an interpreter whether it can run the server: its version of counterlens, or the reason why not. */
export function examine(python: string, cwd: string): Promise<{ version: string } | { reason: string }> {
  return new Promise((resolve) => {
    execFile(python, ["-c", PROGRAM], { cwd, timeout: 20_000 }, (error, stdout, stderr) => {
      if (!error) return resolve({ version: stdout.trim() });
      const said = stderr.trim().split("\n").at(-1);
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return resolve({ reason: "does not exist" });
      resolve({ reason: said || error.message });
    });
  });
}

/**
 * Interpreters to try, best first.
 *
 * In an untrusted workspace nothing from the workspace is run: neither its `.venv` nor what the Python
 * extension selected for it.
 */
export async function candidates(setting: string): Promise<Candidate[]> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (setting.trim() !== "") {
    return [{ path: expand(setting.trim(), folder?.uri.fsPath), origin: "counterlens.interpreter" }];
  }
  const found: Candidate[] = [];
  if (vscode.workspace.isTrusted) {
    for (const { uri } of vscode.workspace.workspaceFolders ?? []) {
      const python = venvPython(path.join(uri.fsPath, ".venv"));
      if (fs.existsSync(python)) found.push({ path: python, origin: "the workspace's .venv" });
    }
    const selected = await pythonExtensionChoice(folder?.uri);
    if (selected) found.push({ path: selected, origin: "the Python extension" });
  }
  const onPath = process.platform === "win32" ? "python" : "python3";
  found.push({ path: onPath, origin: "PATH" });
  return found.filter(({ path: p }, index) => found.findIndex((other) => other.path === p) === index);
}

function venvPython(venv: string): string {
  return process.platform === "win32"
    ? path.join(venv, "Scripts", "python.exe")
    : path.join(venv, "bin", "python");
}

function expand(setting: string, workspace: string | undefined): string {
  const home = process.env.HOME ?? process.env.USERPROFILE ?? "";
  const expanded = setting.replace(/^~(?=[/\\])/, home).replace(/\$\{workspaceFolder\}/g, workspace ?? "");
  // A bare command name is looked up on PATH, anything else with a folder in it is a path.
  const isRelative = /[/\\]/.test(expanded) && !path.isAbsolute(expanded);
  return isRelative && workspace ? path.join(workspace, expanded) : expanded;
}

/** The part of the Python extension's API that is used. */
interface PythonApi {
  environments?: { getActiveEnvironmentPath(resource?: vscode.Uri): { path: string } };
}

async function pythonExtensionChoice(resource: vscode.Uri | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (!extension) return undefined;
  try {
    const api = await extension.activate();
    const chosen = api.environments?.getActiveEnvironmentPath(resource).path;
    if (!chosen || !path.isAbsolute(chosen)) return undefined;
    return fs.statSync(chosen).isDirectory() ? venvPython(chosen) : chosen;
  } catch {
    return undefined; // It is a convenience: its failures are its own to report.
  }
}
