import assert from "node:assert/strict";
import test from "node:test";
import { faded, swatch, themeColour } from "../../client/src/colours";
import { legendRows, nextPlace } from "../../client/src/legendRows";
import type { OverlayResult, OverlaySpan } from "../../client/src/protocol";
import { finer } from "../../client/src/settings";

const span = (level: number, line: number, character = 0): OverlaySpan => ({
  range: { start: { line, character }, end: { line, character: character + 1 } },
  level,
  confidence: 0.5,
  kind: "identifier",
  category: "operators",
});

const answer: OverlayResult = {
  version: 1,
  state: "ready",
  granularity: "leaf",
  levels: 6,
  labels: ["below 1 %", "1 to 5 %", "5 to 20 %", "20 to 50 %", "50 to 80 %", "80 % and more"],
  spans: [span(0, 9), span(0, 2, 4), span(1, 3)],
};

test("each level has its label, its colour and line in words, and how often it occurs", () => {
  const rows = legendRows(answer, true);
  assert.deepEqual(
    rows.map(({ label }) => label),
    answer.labels,
  );
  assert.deepEqual(
    rows.slice(0, 3).map(({ description }) => description),
    ["2 places in this file", "1 place in this file", "nowhere in this file"],
  );
  assert.equal(rows[0]?.detail, "strong orange, double underline");
  assert.equal(rows[5]?.detail, "not coloured");
  assert.equal(legendRows(answer, false)[0]?.detail, "strong orange");
});

test("without a scored file the legend still says what the levels mean, and counts nothing", () => {
  const rows = legendRows(undefined, true);
  assert.equal(rows.length, 6);
  assert.ok(rows.every(({ label, description }) => label && !description));
});

test("choosing a level goes to its next place, and round at the end", () => {
  const places = legendRows(answer, true)[0]?.places ?? [];
  assert.equal(nextPlace(places, { line: 0, character: 0 })?.range.start.line, 2);
  assert.equal(nextPlace(places, { line: 2, character: 4 })?.range.start.line, 9);
  assert.equal(nextPlace(places, { line: 9, character: 1 })?.range.start.line, 2);
  assert.equal(nextPlace([], { line: 0, character: 0 }), undefined);
});

test("opacity scales a colour, and never hides the text", () => {
  assert.equal(faded("#11223380", 50), "#11223340");
  assert.equal(faded("#11223380", 200), "#112233cc");
  assert.equal(faded("#00000000", 200), "#00000000");
  const colours = { dark: "#1", light: "#2", highContrast: "#3", highContrastLight: "#4" };
  assert.deepEqual(
    [1, 2, 3, 4].map((kind) => themeColour(colours, kind)),
    ["#2", "#1", "#3", "#4"],
  );
  assert.match(swatch("#f5793a66", 0, "#000000"), /^<svg .*fill-opacity="0.40".*<\/svg>$/);
});

test("the granularity goes finer and coarser, and stops at the ends", () => {
  assert.equal(finer("leaf", 1), "token");
  assert.equal(finer("token", 1), "token");
  assert.equal(finer("leaf", -2), "concept");
  assert.equal(finer("concept", -1), "concept");
});
