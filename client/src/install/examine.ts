/** Queries an interpreter for its packages and capabilities. */

import { execFile } from "node:child_process";
import type { Start } from "./environment";

/** The result, or the reason why the interpreter is unsuitable. */
export type Answer<T> = { found: T } | { reason: string };

/** A text as a Python literal; its `format` fills in the values. */
const literal = (text: string) => JSON.stringify(text);

const recent = () => [
  "import sys",
  "if sys.version_info < (3, 11):",
  `    sys.exit(${literal("is Python {0}.{1}; Counterlens needs 3.11 or later")}.format(*sys.version_info[:2]))`,
];

/** Prints the version of the counterlens package that is installed for the interpreter, or exits with a reason. */
const asksInstalled = () => [
  ...recent(),
  "try:",
  "    import counterlens",
  "except ImportError as error:",
  `    sys.exit(${literal("does not have the counterlens package ({0})")}.format(error))`,
  "print(counterlens.__version__)",
];

/**
 * Checks whether the bundled packages fit the interpreter; those with native code are imported. Arguments: the folder
 * with the packages, the minimum version of glibc. Prints the folders for PYTHONPATH, then the version.
 */
const asksFit = () => [
  ...recent(),
  "import os, platform, sysconfig",
  "libs, glibc = sys.argv[1:3]",
  "tag = 'cp%d%d' % sys.version_info[:2]",
  "if sys.implementation.name != 'cpython':",
  `    sys.exit(${literal("is {0}; the bundled packages are for CPython")}.format(sys.implementation.name))`,
  "if sysconfig.get_config_var('Py_GIL_DISABLED'):",
  `    sys.exit(${literal("is free-threaded; the bundled packages are for the default build")})`,
  "if not os.path.isdir(os.path.join(libs, tag)):",
  `    sys.exit(${literal("is Python {0}.{1}, which the bundled packages do not support")}.format(*sys.version_info[:2]))`,
  "has = platform.libc_ver()[1]",
  "number = lambda text: [int(part) for part in text.split('.') if part.isdigit()]",
  "if glibc and has and number(has) < number(glibc):",
  `    sys.exit(${literal("has glibc {0}; the bundled packages need {1}")}.format(has, glibc))`,
  "paths = [os.path.join(libs, tag), os.path.join(libs, 'common')]",
  "sys.path[:0] = paths",
  "try:",
  "    import counterlens, libcst.native, numpy, tree_sitter",
  "except ImportError as error:",
  `    sys.exit(${literal("cannot load the bundled packages ({0})")}.format(error))`,
  "print(os.pathsep.join(paths))",
  "print(counterlens.__version__)",
];

/** Checks whether the interpreter can create environments. Prints its version. */
const asksCreation = () => [
  ...recent(),
  "try:",
  "    import ensurepip, venv",
  "except ImportError as error:",
  `    sys.exit(${literal("cannot create environments ({0}); on Debian or Ubuntu: sudo apt-get install python3-venv")}.format(error))`,
  "print('%d.%d.%d' % sys.version_info[:3])",
];

/** The version of the counterlens package that is installed for an interpreter. */
export async function installed(python: string, start: Start): Promise<Answer<string>> {
  return run(python, asksInstalled(), [], start);
}

export interface Fit {
  version: string;
  /** Value of PYTHONPATH. */
  paths: string;
}

/** Whether the packages in the folder `libs` fit an interpreter. */
export async function fits(python: string, libs: string, glibc: string, start: Start): Promise<Answer<Fit>> {
  const answer = await run(python, asksFit(), [libs, glibc], start);
  if ("reason" in answer) return answer;
  const [paths = "", version = ""] = answer.found.split(/\r?\n/);
  return { found: { paths, version } };
}

/** The version of an interpreter, if it can create environments. */
export async function creates(python: string, start: Start): Promise<Answer<string>> {
  return run(python, asksCreation(), [], start);
}

function run(python: string, program: string[], args: string[], start: Start): Promise<Answer<string>> {
  return new Promise((resolve) => {
    const command = ["-c", program.join("\n"), ...args];
    const env = { ...start.env, PYTHONIOENCODING: "utf-8" };
    execFile(python, command, { cwd: start.cwd, env, timeout: 30_000 }, (error, stdout, stderr) => {
      if (!error) return resolve({ found: stdout.trim() });
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return resolve({ reason: "does not exist" });
      resolve({ reason: stderr.trim().split("\n").at(-1)?.replace(/\.$/, "") || error.message });
    });
  });
}
