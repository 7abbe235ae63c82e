/** The environment of a Python process: no variable brings code of a workspace into it. */

import * as path from "node:path";

const HARMLESS = ["PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONNOUSERSITE", "PYTHONUTF8"];
const PATHS = ["PYTHONPATH", "PYTHONUSERBASE"];

/**
 * An environment without the variables of Python, except for folders of the user's own packages.
 *
 * The editor may have been started in a terminal that had loaded an `.env` file, and may be in a workspace.
 *
 * @param folders the folders of the workspace
 */
export function closedEnvironment(environment: NodeJS.ProcessEnv, folders: string[]): Record<string, string> {
  const isOutside = (entry: string) =>
    path.isAbsolute(entry) && !folders.some((folder) => isWithin(entry, folder));
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const upper = name.toUpperCase(); // Windows does not distinguish them
    if (value === undefined) continue;
    if (PATHS.includes(upper)) {
      const entries = value.split(path.delimiter).filter(isOutside);
      if (entries.length > 0) kept[name] = entries.join(path.delimiter);
    } else if (!upper.startsWith("PYTHON") || HARMLESS.includes(upper)) kept[name] = value;
  }
  return kept;
}

/** Where a process of Python is started. */
export interface Start {
  cwd: string;
  env: Record<string, string>;
}

/** Whether a path is a folder or below it. */
export function isWithin(entry: string, folder: string): boolean {
  const way = path.relative(folder, entry);
  return way === "" || (!way.startsWith(`..${path.sep}`) && way !== ".." && !path.isAbsolute(way));
}
