// The package that contains the server, on a machine with only a bare Python.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { packageExtension } from "../../scripts/package.mjs";
import { e2e } from "../../scripts/paths.mjs";
import { barePython } from "./driver/bare-python.mjs";
import { environmentOf, languageServers } from "./driver/processes.mjs";
import { skip } from "./driver/requirements.mjs";
import { sleep, until } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";
import { shortModel } from "./driver/short-model.mjs";

const SCORED = { timeout: 120_000 };
const unknown = process.platform !== "linux" && "only Linux packages are made here";

describe("the package for one platform", { skip: skip || unknown }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;
  let bare;

  before(async () => {
    const folder = path.join(e2e, "run/bundled-python");
    mkdirSync(folder, { recursive: true });
    bare = await barePython(folder);
    const target = `${process.platform}-${process.arch}`;
    // The engine of .venv: a portable one takes minutes to compile.
    const vsix = await packageExtension({ target, pythons: [bare.version], portable: false, to: folder });
    assert.ok(statSync(vsix).size > 50_000_000, "it carries the model");
    const environment = {
      PATH: `${bare.bin}:/usr/bin:/bin`,
      VSCODE_CLI: "1", // no shell is started to get another PATH
      HTTPS_PROXY: "http://127.0.0.1:9", // all network requests fail
      PYTHONPATH: "",
    };
    const machine = { "counterlens.probe.maxTokens": 24 };
    session = await Session.start("bundled", {
      open: "grades.py",
      vsix,
      untouched: true,
      machine,
      environment,
    });
    vscode = session.workbench;
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  step("the first run asks which model to use; the embedded one is available", async () => {
    const question = vscode.notification("Which model should Counterlens examine?");
    await question.waitFor(SCORED); // it moves to the list of notifications after a while
    const text = await question.innerText();
    for (const way of ["Download", "Embedded", "Others…", "Server…"]) {
      assert.ok(text.includes(way), text);
    }
    await session.screenshot("first-run");
    await question.getByRole("button", { name: "Embedded" }).click();
    await question.waitFor({ state: "detached" });
    await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
  });

  step("the hover has the model's scores", async () => {
    await until(async () => {
      assert.match(await vscode.hover("current", { line: "if current > best" }), /: confidence/);
    });
    await vscode.leave();
  });

  step(
    "the server runs on the bare Python with the bundled packages, and the log gives the reason",
    async () => {
      const [pid] = languageServers(session.server);
      const folders = environmentOf(pid).PYTHONPATH.split(":");
      assert.ok(
        folders.length === 2 && folders.every((folder) => folder.startsWith(session.home.extensions)),
      );
      assert.match(
        session.log(),
        /Interpreter: .+python3 \(PATH, with the bundled packages of the extension\)/,
      );
    },
  );

  step("a probe runs: the sandbox also works with the bundled packages", async () => {
    await session.changeModel(await shortModel()); // any model has verdicts
    await vscode.codeLens("Probe counterfactually").nth(1).click();
    const report = await vscode.probed("grade", { timeout: 300_000 });
    await report.getByText("if-else-flip").first().waitFor();
  });

  step("an unsuitable interpreter is reported with the reason", async () => {
    await vscode.clearNotifications();
    session.home.writeMachineSettings({ "counterlens.interpreter": "/usr/bin/env" });
    const message = vscode.notification("Counterlens cannot start");
    await message.waitFor();
    assert.doesNotMatch(await message.innerText(), /Set Up/);
    session.home.writeMachineSettings({ "counterlens.importStrategy": "fromEnvironment" });
    await until(() => assert.match(session.log(), /does not have the counterlens package/));
  });

  step("if the packages fit no Python, the message says why, and offers an environment instead", async () => {
    await vscode.clearNotifications();
    await sleep(1_000); // the editor shows at most three new messages in 0.8 s
    const [folder] = readdirSync(session.home.extensions).filter((name) => name.startsWith("counterlens."));
    const manifest = path.join(session.home.extensions, folder, "libs/bundle.json");
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/"glibc": "[^"]*"/, '"glibc": "99.0"'));
    session.home.writeMachineSettings({});
    const message = vscode.notification("The bundled packages of Counterlens do not work with any Python");
    await message.waitFor();
    const text = await message.innerText();
    assert.match(text, /has glibc [\d.]+; the bundled packages need 99\.0/);
    assert.match(text, /Set Up…/);
  });
});
