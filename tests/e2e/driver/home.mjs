// A temporary home for one VS Code: user data, extensions, browser profile. The user's own files are not touched.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { e2e } from "../../../scripts/paths.mjs";
import { builtInExtensions, codeServerEntry } from "../../../scripts/setup/code-server.mjs";
import { keybindings } from "./keys.mjs";

/** Files with slow measurements of how the embedded model decodes and rounds on this machine, shared by all homes. */
const FOUND_OUT = ["exact-decoding.json", "rounding.json"];
const KEPT = path.join(e2e, "run");

/** The built-in extensions that tests need: the others (git, TypeScript, …) would be started for nothing. */
const BUILT_IN = [
  ...["theme-defaults", "theme-seti"],
  ...["go", "java", "javascript", "json", "markdown-basics", "python"],
  ...["ipynb", "notebook-renderers"],
];

/** Settings for a quiet workbench that looks the same every time. */
const QUIET = {
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "update.showReleaseNotes": false,
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "workbench.enableExperiments": false,
  "workbench.settings.enableNaturalLanguageSearch": false,
  "workbench.startupEditor": "none",
  "workbench.colorTheme": "Default Dark Modern",
  "workbench.reduceMotion": "on",
  "workbench.tips.enabled": false,
  "workbench.welcomePage.walkthroughs.openOnInstall": false,
  "security.workspace.trust.enabled": false,
  "window.restoreWindows": "none",
  "window.commandCenter": false,
  "editor.accessibilitySupport": "off",
  "editor.minimap.enabled": false,
  "editor.cursorBlinking": "solid",
  "editor.hover.delay": 100,
  "git.enabled": false,
  "npm.autoDetect": "off",
  "remote.autoForwardPorts": false, // it lists the open files of all processes again and again
  "chat.commandCenter.enabled": false,
  "files.autoSave": "off",
};

/** Whether the measurements are kept already. */
export function hasNotes() {
  return FOUND_OUT.every((name) => existsSync(path.join(KEPT, name)));
}

/** Keeps the measurements in a cache for all homes. */
export function keepNotes(cache) {
  copyNotes(cache, KEPT);
}

export class Home {
  /** @param {Record<string, string>} extra environment variables of its programs */
  constructor(folder, extra = {}) {
    this.folder = folder;
    this.extra = extra;
    this.userData = path.join(folder, "user-data");
    this.extensions = path.join(folder, "extensions");
    this.builtIn = path.join(folder, "built-in");
    this.config = path.join(folder, "config.yaml");
    this.profile = path.join(folder, "chromium");
    this.calls = path.join(folder, "strace.log");
    rmSync(folder, { recursive: true, force: true });
    const folders = [this.userData, this.extensions, this.builtIn, this.profile];
    for (const each of folders) mkdirSync(each, { recursive: true });
    for (const name of BUILT_IN) {
      symlinkSync(path.join(builtInExtensions, name), path.join(this.builtIn, name));
    }
    writeFileSync(this.config, "auth: none\n");
    this.cache = path.join(folder, ".cache/counterlens");
    copyNotes(KEPT, this.cache);
  }

  /** Keeps this home's measurements for other homes. */
  keep() {
    keepNotes(this.cache);
  }

  /** Arguments after `node` that start this home's code-server. */
  command(...args) {
    const where = [
      "--config",
      this.config,
      "--user-data-dir",
      this.userData,
      "--extensions-dir",
      this.extensions,
      "--builtin-extensions-dir",
      this.builtIn,
    ];
    return [codeServerEntry, ...where, ...args];
  }

  get environment() {
    return {
      ...process.env,
      HOME: this.folder,
      XDG_CONFIG_HOME: path.join(this.folder, ".config"),
      XDG_DATA_HOME: path.join(this.folder, ".local/share"),
      XDG_CACHE_HOME: path.join(this.folder, ".cache"),
      EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: "" }),
      CS_DISABLE_GETTING_STARTED_OVERRIDE: "1",
      ...this.extra,
    };
  }

  writeSettings(settings) {
    this.write("User", { ...QUIET, ...settings });
    writeFileSync(path.join(this.userData, "User/keybindings.json"), JSON.stringify(keybindings));
  }

  /** In a browser, settings of machine scope are read from the server's machine. */
  writeMachineSettings(settings) {
    this.write("Machine", settings);
  }

  write(scope, settings) {
    const folder = path.join(this.userData, scope);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "settings.json"), JSON.stringify(settings, null, 2));
  }

  /** Runs code-server's command line to its end. */
  cli(...args) {
    const result = spawnSync(process.execPath, this.command(...args), {
      env: this.environment,
      encoding: "utf8",
    });
    if (result.status !== 0)
      throw new Error(`code-server ${args.join(" ")}: ${result.stdout}${result.stderr}`);
    return result.stdout;
  }

  /** The log files of VS Code and the extensions. */
  logs() {
    const entries = readdirSync(path.join(this.userData, "logs"), { recursive: true });
    return entries
      .filter((name) => name.endsWith(".log"))
      .map((name) => path.join(this.userData, "logs", name));
  }
}

function copyNotes(from, to) {
  for (const name of FOUND_OUT) {
    if (!existsSync(path.join(from, name))) continue;
    const copy = path.join(to, `${name}.${process.pid}`); // another session may read the notes meanwhile
    cpSync(path.join(from, name), copy);
    renameSync(copy, path.join(to, name));
  }
}
