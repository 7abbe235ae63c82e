// The small package on a machine with only a bare Python: its environment is created in spite of interruptions.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { e2e } from "../../scripts/paths.mjs";
import { barePython } from "./driver/bare-python.mjs";
import { Network } from "./driver/network.mjs";
import { extensionHosts, languageServers } from "./driver/processes.mjs";
import { skip } from "./driver/requirements.mjs";
import { sleep, until } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";

const MADE = { timeout: 60_000 };

describe("the package that creates its environment", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;
  /** @type {Network} */
  let network;

  before(async () => {
    const { bin } = await barePython(path.join(e2e, "run/setup-python"));
    network = await Network.start();
    const cache = process.env.UV_CACHE_DIR ?? path.join(os.homedir(), ".cache/uv");
    // This PATH has no compiler, and no shell is started to get another one (VSCODE_CLI).
    const environment = {
      PATH: bin,
      VSCODE_CLI: "1",
      CXX: "",
      UV_CACHE_DIR: cache,
      UV_HTTP_RETRIES: "0",
      ...network.environment,
    };
    session = await Session.start("setup", { open: "grades.py", untouched: true, environment });
    vscode = session.workbench;
  });
  after(async () => {
    await session?.stop();
    network?.stop();
  });

  const step = (name, body) => test(name, () => session.witness(name, body));

  const environment = () =>
    path.join(session.home.userData, "User/globalStorage/counterlens.counterlens/environment");
  const progress = () => JSON.parse(readFileSync(`${environment()}.json`, "utf8"));

  /**
   * Clicks a button after a second: of more than three messages within 800 ms, VS Code hides the rest behind its bell.
   */
  async function press(message, button) {
    const shown = vscode.notification(message);
    await shown.waitFor(MADE);
    await sleep(1_000);
    await shown.getByRole("button", { name: button }).click();
  }

  step("it asks first, and downloads nothing before the answer", async () => {
    await vscode.notification("Counterlens needs Python packages").waitFor();
    await vscode.statusItem("Counterlens: not set up: “Set Up…”").waitFor();
    await session.screenshot("asks");
    assert.deepEqual([network.asked, existsSync(environment())], [[], false]);
    await press("Counterlens needs Python packages", "Set Up…");
    await vscode.choice("With Local Models, Prebuilt").waitFor();
    await session.screenshot("what");
    assert.deepEqual([network.asked, existsSync(environment())], [[], false]);
  });

  step("without a compiler it says so immediately, with alternatives", async () => {
    await vscode.page.keyboard.press("Enter"); // the first choice: compile
    const message = vscode.notification("no C++ compiler was found");
    await message.waitFor();
    const text = await message.innerText();
    for (const way of ["build-essential", "Try Again", "Prebuilt", "Without Local Models"]) {
      assert.ok(text.includes(way), text);
    }
    await session.screenshot("no-compiler");
  });

  step("files without a known hash are downloaded only with consent, after naming their source", async () => {
    await press("no C++ compiler was found", "Prebuilt…");
    const dialog = vscode.page.locator(".monaco-dialog-box");
    await dialog.waitFor();
    assert.match(
      await dialog.innerText(),
      /abetlen\.github\.io\/llama-cpp-python[\s\S]*not verified against a known hash/,
    );
    await session.screenshot("consent");
    await vscode.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.deepEqual(network.asked, []);
    await vscode.command("Counterlens: Set Up…");
    await vscode.choice("Without Local Models").click();
  });

  step("without a network it says so, and finished steps are kept", async () => {
    const message = vscode.notification("there is no connection");
    await message.waitFor(MADE);
    assert.match(await message.innerText(), /Choose Interpreter…/);
    assert.ok(network.asked.length > 0);
    assert.deepEqual(progress().done, ["environment"]);
    await session.screenshot("no-network");
  });

  step("it can be cancelled", async () => {
    network.state = "stalled";
    await press("there is no connection", "Try Again");
    await vscode.notification("downloading the installer").waitFor();
    await press("Setting up Counterlens", "Cancel");
    await vscode.notification("was cancelled").waitFor();
    assert.deepEqual(progress().done, ["environment"]);
  });

  step("after it is killed, it resumes where it stopped", async () => {
    await press("was cancelled", "Continue");
    await vscode.notification("downloading the installer").waitFor();
    const hosts = extensionHosts(session.server);
    assert.ok(hosts.length > 0, "there is an extension host");
    for (const pid of hosts) process.kill(pid, "SIGKILL");
    network.state = "open";
    await vscode.notification("was interrupted after step 1").waitFor();
    await session.screenshot("interrupted");
    await press("was interrupted", "Continue");
    await until(() => assert.equal(progress().complete, true), { every: 500 });
    assert.deepEqual(progress().done, ["environment", "installer", "packages", "server"]);
  });

  step("the server runs in it, and the first run asks for a model", async () => {
    await until(() => assert.equal(languageServers(session.server).length, 1));
    await until(() => assert.match(session.log(), /Interpreter: .+ \(created by the extension\)/));
    await press("Which model should Counterlens examine?", "Server…");
    await (await vscode.quickInput()).fill("http://127.0.0.1:9/v1");
    await vscode.page.keyboard.press("Enter");
    await press("127.0.0.1:9 refused the connection", "Use It Anyway");
    await vscode.page.locator(".quick-input-title", { hasText: "The Model's Name on the Server" }).waitFor();
    await (await vscode.quickInput()).fill("coder");
    await vscode.page.keyboard.press("Enter");
    await vscode.notification("Counterlens now uses coder at http://127.0.0.1:9/v1").waitFor();
    await vscode.statusItem(/coder/).waitFor();
    await session.screenshot("connected");
  });
});
