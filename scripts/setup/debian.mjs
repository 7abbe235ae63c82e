// Programs of the system: found on PATH, installed with apt if permitted, otherwise named.
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { vscodeTest } from "../paths.mjs";
import { Problem, runLogged, say } from "../terminal.mjs";

/** A system requirement: a check whether it is present, and the Debian package that provides it. */
export const CMAKE = { name: "cmake", package: "cmake", present: () => onPath("cmake") };
export const COMPILER = {
  name: "a C++ compiler",
  package: "build-essential",
  present: () => (onPath("c++") || onPath("g++") || onPath("clang++")) && (onPath("make") || onPath("ninja")),
};
/** Chromium without windows of its own; it takes a tenth less processor time than the whole browser. */
export const CHROMIUM = {
  name: "Chromium",
  package: "chromium-headless-shell",
  present: () => Boolean(chromium()),
};
export const RIPGREP = { name: "ripgrep", package: "ripgrep", present: () => Boolean(onPath("rg")) };
export const BUBBLEWRAP = {
  name: "bubblewrap",
  package: "bubblewrap",
  present: () => Boolean(onPath("bwrap")),
};
/** Another editor, driven by tests/editors. */
export const NEOVIM = { name: "Neovim", package: "neovim", present: () => Boolean(onPath("nvim")) };
/** Records the network calls of programs, for tests/privacy. */
export const STRACE = { name: "strace", package: "strace", present: () => Boolean(onPath("strace")) };
/** Compiles and runs Java programs; without it their tests are skipped. */
export const JAVA = {
  name: "a Java development kit",
  package: "default-jdk-headless",
  present: () => Boolean(onPath("javac")) || Boolean(process.env.JAVA_HOME),
};
/** Runs the JUnit tests of a Java project; without it, tests of that are skipped. */
export const JUNIT = {
  name: "JUnit",
  package: "junit5",
  present: () => existsSync("/usr/share/java/junit-jupiter-engine.jar"),
};
export const FONTS = {
  name: "a monospaced font",
  package: "fonts-dejavu-core",
  present: () =>
    ["/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu-sans-mono-fonts"].some(existsSync),
};

export function onPath(command) {
  return allOnPath(command)[0];
}

/** All programs of a name on PATH, in its order; those that are the same file once. */
export function allOnPath(command) {
  const found = new Map();
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    const file = path.join(folder, command);
    try {
      accessSync(file, constants.X_OK);
      const real = realpathSync(file);
      if (!found.has(real)) found.set(real, file);
    } catch {
      // not in this folder
    }
  }
  return [...found.values()];
}

const BROWSERS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

export function chromium() {
  return BROWSERS.map(onPath).find(Boolean);
}

export function mayInstall() {
  return process.getuid?.() === 0 && Boolean(onPath("apt-get"));
}

let installing = Promise.resolve();

/**
 * Installs missing requirements if permitted, one call after the other, since apt refuses a second one meanwhile.
 * Returns those that are still missing. With nothing missing, it waits for no other call.
 */
export async function provide(requirements) {
  if (requirements.every(({ present }) => present())) return [];
  const provided = installing.then(() => provideNow(requirements));
  installing = provided.catch(() => {});
  return provided;
}

async function provideNow(requirements) {
  const missing = requirements.filter(({ present }) => !present());
  if (missing.length === 0 || !mayInstall()) return missing;
  const packages = missing.map((requirement) => requirement.package);
  say(`  Debian packages: ${packages.join(" ")}`);
  const log = path.join(vscodeTest, "logs/apt.log");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["-o", "DPkg::Lock::Timeout=600", "install", "-y", "--no-install-recommends", ...packages];
  try {
    await runLogged(`apt-get install ${packages.join(" ")}`, "apt-get", install, { log, env });
  } catch {
    // Package lists may be missing or old.
    await runLogged("apt-get update", "apt-get", ["update"], { log, env });
    await runLogged(`apt-get install ${packages.join(" ")}`, "apt-get", install, { log, env });
  }
  return requirements.filter(({ present }) => !present());
}

/** Like `provide`, for optional requirements: a failed installation is ignored. */
export async function wish(requirements) {
  try {
    return await provide(requirements);
  } catch {
    return requirements.filter(({ present }) => !present());
  }
}

export function installCommand(requirements) {
  return `sudo apt-get install ${requirements.map((requirement) => requirement.package).join(" ")}`;
}

/** Like `provide`, but a missing requirement is a Problem. */
export async function require(requirements, purpose) {
  const missing = await provide(requirements);
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(", ");
  throw new Problem(`${purpose} needs ${names}.`, `On Debian or Ubuntu: ${installCommand(missing)}`);
}
