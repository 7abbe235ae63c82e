// A workspace that the user has not trusted: it is scored, but its code is not run until it is trusted.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { skip } from "./driver/requirements.mjs";
import { until } from "./driver/retry.mjs";
import { Session } from "./driver/session.mjs";

const SCORED = { timeout: 120_000 };

describe("an untrusted workspace", { skip }, () => {
  /** @type {Session} */
  let session;
  /** @type {import("./driver/workbench.mjs").Workbench} */
  let vscode;

  before(async () => {
    session = await Session.start("trust", {
      open: "grades.py",
      trustDialogs: true,
      settings: {
        "security.workspace.trust.enabled": true,
        "security.workspace.trust.startupPrompt": "never",
        "security.workspace.trust.banner": "never",
      },
      machine: { "counterlens.probe.maxTokens": 24 },
    });
    vscode = session.workbench;
  });
  after(() => session?.stop());

  const step = (name, body) => test(name, () => session.witness(name, body));

  step("is scored like any other", async () => {
    await vscode.statusItem("Restricted Mode").waitFor({ timeout: 30_000 });
    await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
    await until(async () => {
      assert.match(await vscode.hover("current", { line: "if current > best" }), /: confidence/);
    });
    await vscode.leave();
  });

  step("a probe is refused with a clear message", async () => {
    await vscode.codeLens("Probe counterfactually").nth(1).click();
    const message = vscode.notification("untrusted workspace");
    await message.waitFor({ timeout: 20_000 });
    assert.match(await message.innerText(), /trust the workspace/i);
    await session.screenshot("refused");
    await vscode.clearNotifications();
  });

  step("once it is trusted, the probe runs", async () => {
    await vscode.command("Workspaces: Manage Workspace Trust");
    await vscode.page
      .locator(".workspace-trust-editor")
      .getByRole("button", { name: "Trust", exact: true })
      .click();
    await vscode.statusItem("Restricted Mode").waitFor({ state: "detached", timeout: 20_000 });
    await vscode.quickOpen("grades.py");
    await vscode.statusItem(/SmolLM2-135M.*: ready/).waitFor(SCORED);
    await until(async () => vscode.codeLens("Probe counterfactually").nth(1).click({ timeout: 2_000 }), {
      ms: 20_000,
    });
    await vscode.tab("Probe of grade").waitFor({ timeout: 300_000 });
    assert.match(session.log(), /workspace is now trusted; the language server goes on/);
  });
});
