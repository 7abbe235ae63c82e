// The .vsix for users: its content, and its installation into a clean VS Code.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { e2e, venvPython } from "../../scripts/paths.mjs";
import { Home } from "./driver/home.mjs";
import { packaged } from "./driver/installed.mjs";
import { skip } from "./driver/requirements.mjs";

describe("the packaged extension", { skip }, () => {
  test("installs into a clean VS Code, with only the files that it needs", async () => {
    const vsix = await packaged();
    const home = new Home(path.join(e2e, "run/package"));
    assert.match(home.cli("--install-extension", vsix), /successfully installed/);
    const { version } = JSON.parse(readFileSync(path.join(e2e, "../../client/package.json"), "utf8"));
    assert.match(
      home.cli("--list-extensions", "--show-versions"),
      new RegExp(`^counterlens\\.counterlens@${version}$`, "m"),
    );
    const folder = path.join(home.extensions, `counterlens.counterlens-${version}`);
    const files = readdirSync(folder, { recursive: true }).filter((name) =>
      statSync(path.join(folder, name)).isFile(),
    );
    const expected = [
      ".vsixmanifest",
      "changelog.md",
      "dist/extension.js",
      "dist/languageClient.js",
      "dist/panel.css",
      "dist/panel.js",
      "dist/parts.js",
      "dist/picture.css",
      "dist/picture.js",
      "LICENSE.txt",
      "media/icon.png",
      "media/view.svg",
      "package.json",
      "readme.md",
      `server/counterlens-${version}-py3-none-any.whl`,
      "server/engine.cmake",
      "server/engine.txt",
      "server/model.txt",
      "server/runtime.txt",
      "server/uv.txt",
      "syntaxes/report.tmLanguage.json",
      "walkthrough/confidence.svg",
      "walkthrough/meaning.md",
      "walkthrough/model.md",
      "walkthrough/probe.svg",
      "walkthrough/setup.md",
    ];
    assert.deepEqual(files.sort(), expected.sort());
    // The server's wheel grows with its features: it contains only the package.
    const wheel = path.join(
      folder,
      files.find((name) => name.endsWith(".whl")),
    );
    const besides = statSync(vsix).size - statSync(wheel).size;
    assert.ok(besides < 400_000, `the package has ${besides} bytes besides the server`);
    const listed = execFileSync(venvPython, ["-m", "zipfile", "-l", wheel], { encoding: "utf8" });
    const inside = listed.split("\n").slice(1).filter(Boolean);
    const own = new RegExp(`^counterlens(-${version}\\.dist-info)?/`);
    assert.deepEqual(
      inside.filter((name) => !own.test(name)),
      [],
    );
    assert.ok(statSync(wheel).size < 2_500_000, `the server has ${statSync(wheel).size} bytes`);
  });
});
