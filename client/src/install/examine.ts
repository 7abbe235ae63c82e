/** Asks an interpreter what it can do. */

import { execFile } from "node:child_process";

/** What it answered, or the reason why it will not do. */
export type Answer<T> = { found: T } | { reason: string };

const RECENT = [
  "import sys",
  "if sys.version_info < (3, 11): sys.exit('is Python %d.%d; Counterlens needs 3.11 or later' % sys.version_info[:2])",
];

/** The packages that are installed for it, or the reason why they will not do. Prints counterlens's version. */
const INSTALLED = [
  ...RECENT,
  "try:",
  "    import counterlens",
  "except ImportError as error:",
  "    sys.exit('does not have the counterlens package (%s)' % error)",
  "print(counterlens.__version__)",
];

/**
 * Whether the packages that the extension carries suit it: those with native code are imported.
 * Arguments: the folder with the packages, the least version of glibc. Prints the folders for PYTHONPATH, then the
 * version.
 */
const BUNDLED = [
  ...RECENT,
  "import os, platform, sysconfig",
  "libs, glibc = sys.argv[1:3]",
  "tag = 'cp%d%d' % sys.version_info[:2]",
  "if sys.implementation.name != 'cpython': sys.exit('is %s; the bundled packages are for CPython' % sys.implementation.name)",
  "if sysconfig.get_config_var('Py_GIL_DISABLED'): sys.exit('is free-threaded; the bundled packages are for the usual build')",
  "if not os.path.isdir(os.path.join(libs, tag)): sys.exit('is Python %d.%d, which the bundled packages are not for' % sys.version_info[:2])",
  "has = platform.libc_ver()[1]",
  "number = lambda text: [int(part) for part in text.split('.') if part.isdigit()]",
  "if glibc and has and number(has) < number(glibc): sys.exit('has glibc %s; the bundled packages need %s' % (has, glibc))",
  "paths = [os.path.join(libs, tag), os.path.join(libs, 'common')]",
  "sys.path[:0] = paths",
  "try:",
  "    import counterlens, libcst.native, numpy, tree_sitter",
  "except ImportError as error:",
  "    sys.exit('cannot load the bundled packages (%s)' % error)",
  "print(os.pathsep.join(paths))",
  "print(counterlens.__version__)",
];

/** Whether an environment can be made with it. Prints its version. */
const CREATES = [
  ...RECENT,
  "try:",
  "    import ensurepip, venv",
  "except ImportError as error:",
  "    sys.exit('cannot make environments (%s); on Debian or Ubuntu: sudo apt-get install python3-venv' % error)",
  "print('%d.%d.%d' % sys.version_info[:3])",
];

/** The version of the counterlens package that is installed for an interpreter. */
export async function installed(python: string, cwd: string): Promise<Answer<string>> {
  return run(python, INSTALLED, [], cwd);
}

export interface Fit {
  version: string;
  /** For PYTHONPATH. */
  paths: string;
}

/** Whether the packages in the folder `libs` suit an interpreter. */
export async function fits(python: string, libs: string, glibc: string, cwd: string): Promise<Answer<Fit>> {
  const answer = await run(python, BUNDLED, [libs, glibc], cwd);
  if ("reason" in answer) return answer;
  const [paths = "", version = ""] = answer.found.split(/\r?\n/);
  return { found: { paths, version } };
}

/** The version of an interpreter that can make environments. */
export async function creates(python: string, cwd: string): Promise<Answer<string>> {
  return run(python, CREATES, [], cwd);
}

function run(python: string, program: string[], args: string[], cwd: string): Promise<Answer<string>> {
  return new Promise((resolve) => {
    const command = ["-c", program.join("\n"), ...args];
    execFile(python, command, { cwd, timeout: 30_000 }, (error, stdout, stderr) => {
      if (!error) return resolve({ found: stdout.trim() });
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return resolve({ reason: "does not exist" });
      resolve({ reason: stderr.trim().split("\n").at(-1)?.replace(/\.$/, "") || error.message });
    });
  });
}
