/** Finds the Pythons to try, best first. Does not use the editor's API, so that it can be tested. */

import * as path from "node:path";
import { isWithin } from "./environment";

export interface Candidate {
  path: string;
  /** Its source, for the log and the status. */
  origin: string;
}

/** The facts about the machine and the editor that are used. */
export interface Surroundings {
  /** The setting `counterlens.interpreter`. */
  setting: string;
  trusted: boolean;
  /** Paths of the workspace's folders. */
  folders: string[];
  home: string;
  /** The environment variable PATH. */
  searchPath: string;
  windows: boolean;
  exists(file: string): boolean;
  /** The selection in other extensions; undefined if they are missing, silent or broken. */
  environmentsExtension(): Promise<string | undefined>;
  pythonExtension(): Promise<string | undefined>;
}

/**
 * Unversioned names first, then newest first: packages for a new version are rarely missing, an old one may be too old.
 */
const NAMES = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"];

/**
 * Interpreters to try, best first, or only that of the setting if it is set.
 *
 * In an untrusted workspace nothing from the workspace is run: neither its `.venv`, nor an interpreter that another
 * extension selected for it, nor one that the setting or the PATH names in it.
 */
export async function candidates(around: Surroundings): Promise<Candidate[]> {
  const setting = around.setting.trim();
  if (setting !== "") {
    const expanded = expand(setting, around);
    const isBare = !/[/\\]/.test(expanded);
    const named = isBare && !around.trusted ? onPath([expanded], around)[0] : expanded;
    if (named !== undefined && mayRun(named, around))
      return [{ path: named, origin: "counterlens.interpreter" }];
  }
  const found: Candidate[] = [];
  if (around.trusted) {
    for (const folder of around.folders) {
      const python = pythonOf(path.join(folder, ".venv"), around.windows);
      if (around.exists(python)) found.push({ path: python, origin: "the workspace's .venv" });
    }
    const selected: [string, string | undefined][] = [
      ["the Python Environments extension", await around.environmentsExtension()],
      ["the Python extension", await around.pythonExtension()],
    ];
    for (const [origin, python] of selected) if (python) found.push({ path: python, origin });
  }
  for (const python of onPath(NAMES, around)) found.push({ path: python, origin: "PATH" });
  return found.filter(({ path: p }, index) => found.findIndex((other) => other.path === p) === index);
}

/** The path of an environment's interpreter. */
export function pythonOf(environment: string, windows: boolean): string {
  return windows ? path.join(environment, "Scripts", "python.exe") : path.join(environment, "bin", "python");
}

function mayRun(file: string, { trusted, folders }: Surroundings): boolean {
  return trusted || !folders.some((folder) => isWithin(file, folder));
}

function onPath(names: string[], around: Surroundings): string[] {
  const { searchPath, windows, exists } = around;
  const folders = searchPath
    .split(path.delimiter)
    .filter((each) => path.isAbsolute(each) && mayRun(each, around));
  const files = names.map((name) => (windows && path.extname(name) !== ".exe" ? `${name}.exe` : name));
  return files.flatMap((file) => {
    const folder = folders.find((each) => exists(path.join(each, file)));
    return folder === undefined ? [] : [path.join(folder, file)];
  });
}

function expand(setting: string, { home, folders }: Surroundings): string {
  const workspace = folders[0];
  const expanded = setting.replace(/^~(?=[/\\])/, home).replace(/\$\{workspaceFolder\}/g, workspace ?? "");
  // A bare command name is looked up on PATH; anything with a folder in it is a path.
  const isRelative = /[/\\]/.test(expanded) && !path.isAbsolute(expanded);
  return isRelative && workspace ? path.join(workspace, expanded) : expanded;
}
