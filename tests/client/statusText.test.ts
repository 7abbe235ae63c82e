import assert from "node:assert/strict";
import test from "node:test";
import type { StatusParams } from "../../client/src/protocol";
import { type StatusFacts, statusText, withoutPython } from "../../client/src/statusText";

const say = (status: Partial<StatusParams>, more: Partial<StatusFacts> = {}) =>
  statusText({
    status: { model: "SmolLM2", state: "ready", detail: "a.py is scored", ...status },
    unscored: "",
    trusted: true,
    overlay: true,
    ...more,
  });

test("it says how far loading and scoring are", () => {
  const loading = say({ state: "loading", steps: { done: 43, total: 100, unit: "%" } });
  assert.equal(loading.text, "SmolLM2: loading 43 %");
  const scoring = say({ state: "scoring", steps: { done: 3, total: 12, unit: "functions" } });
  assert.equal(scoring.text, "SmolLM2: scoring 3 of 12 functions");
  assert.equal(say({ state: "scoring", steps: null }).text, "SmolLM2: scoring…");
  assert.equal(say({ model: "", state: "loading" }).text, "Counterlens: loading…");
});

test("a problem is a warning, in few words where there are any", () => {
  const offline = say({ state: "error", reason: "offline: connection refused", detail: "it was refused" });
  assert.deepEqual([offline.text, offline.warns], ["SmolLM2: offline: connection refused", true]);
  assert.deepEqual(offline.details, ["It was refused."]);
  assert.equal(say({ state: "error", detail: "" }).text, "SmolLM2: problem");
  assert.deepEqual(say({ detail: "a.py is scored" }).details, ["a.py is scored."]);
});

test("without a short reason the problem itself is said, and without Python the button that helps", () => {
  const detail = "llama.cpp is not installed. Install it with: pip install 'counterlens[local]'";
  assert.equal(say({ state: "error", detail }).text, "SmolLM2: llama.cpp is not installed");
  const reason = withoutPython(true);
  assert.equal(say({ model: "", state: "error", reason }).text, "Counterlens: not set up: “Set Up…”");
  assert.match(withoutPython(false), /“Choose Interpreter…”$/);
});

test("a file that is not scored is named with its reason, shortened in the bar, in full in the tooltip", () => {
  const why = "/a/b.py has 90,000 bytes, and scoring is limited to 65,536. Raise the limit if you can wait";
  const { text, details, icon } = say({}, { unscored: why });
  assert.equal(text, "SmolLM2: file not scored: /a/b.py has 90,000 bytes");
  assert.equal(icon, "eye-closed");
  assert.ok(details.includes(`This file has no confidence: ${why}.`));
  assert.match(say({}, { unscored: "it is generated, as a file called x is" }).text, /: it is generated$/);
  const long = say({}, { unscored: "x".repeat(200) }).text;
  assert.ok(long.length < 90 && long.endsWith("…"), long);
});

test("while the model works or fails, that counts and not the file", () => {
  assert.equal(say({ state: "scoring" }, { unscored: "it is generated" }).text, "SmolLM2: scoring…");
  const failed = say(
    { state: "error", reason: "the key was rejected" },
    { unscored: "the key was rejected" },
  );
  assert.equal(failed.text, "SmolLM2: the key was rejected");
});

test("a model without margins is named, with what to do", () => {
  const advice = "Without fitted margins only failing tests mark places: Counterlens: Fit Now";
  assert.ok(say({ advice }).details.includes(`${advice}.`));
});

test("an untrusted workspace and a hidden overlay are said", () => {
  const { text, details } = say({}, { trusted: false, overlay: false });
  assert.equal(text, "SmolLM2: ready · no probes (untrusted)");
  assert.match(details.join(" "), /not trusted.*overlay is hidden/);
});
