// By hand, since it needs a quiet machine: node tests/e2e/by-hand/newcomer.mjs [FILE.vsix [MODEL]]; without a MODEL, the
// embedded one answers.
// Measures a new user's waiting time: from `code --install-extension` of the platform's package to the first mark, and
// to the first result of a probe, on the tutorial's files, with only a bare Python. Pictures of each state, in light,
// dark and high contrast, are in tests/e2e/shots/newcomer-*.png.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium as playwright } from "playwright-core";
import { packageExtension } from "../../../scripts/package.mjs";
import { e2e, root } from "../../../scripts/paths.mjs";
import { chromium } from "../../../scripts/setup/debian.mjs";
import { main, say } from "../../../scripts/terminal.mjs";
import { barePython } from "../driver/bare-python.mjs";
import { startCodeServer } from "../driver/code-server.mjs";
import { Home } from "../driver/home.mjs";
import { until } from "../driver/retry.mjs";
import { FLAGS, Session } from "../driver/session.mjs";
import { Workbench } from "../driver/workbench.mjs";

const RUN = path.join(e2e, "run/newcomer");
const PATIENT = { timeout: 120_000 };
const THEMES = {
  light: "Default Light Modern",
  dark: "Default Dark Modern",
  "high-contrast": "Default High Contrast",
};
const FINDING = /the model still wrote the code for the unflipped condition/;

/** The files that the tutorial tells its reader to write. */
function tutorialFiles() {
  const page = readFileSync(path.join(root, "docs/tutorial.md"), "utf8");
  const [program, test] = [...page.matchAll(/^```python\n(.*?)^```$/gms)].map(([, text]) => text);
  return { "larger.py": program, "test_larger.py": test };
}

class Clock {
  began = Date.now();
  last = this.began;
  rows = [];

  /** Records the time of a step that has ended. */
  stop(name) {
    const now = Date.now();
    this.rows.push([name, now - this.last, now - this.began, os.loadavg()[0]]);
    this.last = now;
  }

  /** Excludes time that the user does not wait, such as that for taking pictures. */
  async aside(body) {
    const began = Date.now();
    await body();
    this.began += Date.now() - began;
    this.last += Date.now() - began;
  }

  table() {
    const seconds = (ms) => (ms / 1000).toFixed(1);
    const rows = this.rows.map(
      ([name, own, all, load]) => `| ${name} | ${seconds(own)} | ${seconds(all)} | ${load.toFixed(1)} |`,
    );
    return ["| step | seconds | since the start | load |", "|---|---|---|---|", ...rows].join("\n");
  }
}

await main(async () => {
  for (const name of Object.keys(process.env))
    if (/^(COUNTERLENS_|PYTHON)/.test(name)) delete process.env[name];
  rmSync(RUN, { recursive: true, force: true });
  mkdirSync(RUN, { recursive: true });
  const bare = await barePython(path.join(RUN, "python"));
  const target = `${process.platform}-${process.arch}`;
  const vsix = process.argv[2] ?? (await packageExtension({ target, pythons: [bare.version], to: RUN }));
  const environment = {
    PATH: `${bare.bin}:/usr/bin:/bin`,
    VSCODE_CLI: "1",
    HTTPS_PROXY: "http://127.0.0.1:9",
    ...(process.argv[3] && { COUNTERLENS_MODEL: process.argv[3] }),
  };
  const home = new Home(path.join(RUN, "home"), environment);
  rmSync(home.cache, { recursive: true, force: true }); // facts about this machine that earlier runs have cached
  home.writeSettings({ "security.workspace.trust.enabled": true });
  const work = path.join(RUN, "larger");
  mkdirSync(work);
  for (const [name, text] of Object.entries(tutorialFiles())) writeFileSync(path.join(work, name), text);

  say(
    `load before: ${os
      .loadavg()
      .map((each) => each.toFixed(1))
      .join(" ")}, ${os.cpus().length} processors`,
  );
  const clock = new Clock();
  home.cli("--install-extension", vsix);
  clock.stop("`code --install-extension`");
  const server = await startCodeServer(home, { trustDialogs: true });
  const context = await playwright.launchPersistentContext(home.profile, {
    executablePath: chromium(),
    headless: true,
    viewport: { width: 1280, height: 840 },
    colorScheme: "dark",
    args: FLAGS,
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const vscode = new Workbench(page, server.url);
  const session = new Session("newcomer", home, work, server, context, vscode);
  try {
    await vscode.open(work, path.join(work, "larger.py"));
    clock.stop("the editor shows larger.py");
    await walk(session, clock);
  } catch (error) {
    await session.screenshot("FAILED");
    say(session.log());
    throw error;
  } finally {
    say(clock.table());
    await session.stop();
  }
});

/** Goes from the open file to the runs, as in the tutorial. */
async function walk(session, clock) {
  const { workbench: vscode, page } = session;
  const picture = (name) => clock.aside(() => session.screenshot(name));
  await picture("trust");
  await page.getByRole("button", { name: /Yes, I trust/ }).click({ timeout: 20_000 });
  clock.stop("the folder is trusted");
  await vscode.statusItem(/: ready/).waitFor(PATIENT);
  clock.stop("the status bar says ready");
  await picture("ready");
  // Nothing is coloured by default.
  await vscode.command("Counterlens: Show All Uncertainty");
  const marked = page.locator(".view-overlays .cdr[class*=ced-], .view-line span[class*=ced-]");
  await marked.first().waitFor({ state: "attached", ...PATIENT });
  clock.stop("the first mark, with *Show All Uncertainty*");
  await picture("first-mark");
  const lens = vscode.codeLens("Probe counterfactually").first();
  await lens.waitFor(PATIENT);
  await until(() => lens.click({ timeout: 2_000 }), { ms: 20_000 });
  await vscode.tab("Probe of larger").waitFor(PATIENT);
  clock.stop("the report of the probe opens");
  await picture("report");
  const report = vscode.panel("Probe of larger");
  await report.getByText(FINDING).first().waitFor(PATIENT);
  clock.stop("the report has the finding");
  await inAllThemes(session, "answer");
  await report
    .getByText("if-else-flip")
    .first()
    .evaluate((element) => element.scrollIntoView());
  await inAllThemes(session, "answer-pair");
  await vscode.tab("Probe of larger").click();
  await vscode.command("View: Close Editor");
  await vscode.hover("larger", { line: "def larger" });
  await session.screenshot("hover-name");
  await vscode.hover(">", { line: "if a > b" });
  await session.screenshot("hover");
  await vscode.leave();
  await inAllThemes(session, "marks");
  await vscode.command("View: Show Counterlens");
  await page.locator(".pane", { hasText: "Runs" }).first().waitFor();
  await inAllThemes(session, "views");
}

async function inAllThemes(session, name) {
  const settings = path.join(session.workspace, ".vscode");
  mkdirSync(settings, { recursive: true });
  const file = path.join(settings, "settings.json");
  for (const [kind, theme] of Object.entries(THEMES)) {
    writeFileSync(file, JSON.stringify({ "workbench.colorTheme": theme }));
    const shown = { light: ".vs", dark: ".vs-dark", "high-contrast": ".hc-black" }[kind];
    await session.page.locator(`.monaco-workbench${shown}`).waitFor({ timeout: 20_000 });
    await session.page.waitForTimeout(800); // a webview changes its theme after the editor
    await session.screenshot(`${name}-${kind}`);
  }
}
