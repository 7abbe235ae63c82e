/** The rows of the legend. Pure, so that it can be tested. */

import { UNDERLINES } from "./colours";
import { written } from "./numbers";
import type { OverlayResult, OverlaySpan } from "./protocol";

export interface LegendRow {
  level: number;
  label: string;
  description: string;
  detail: string;
  /** The places with this level, in text order. */
  places: OverlaySpan[];
}

/** Translations of the server's labels. Used before anything is scored; the labels of a response may differ. */
const labels = (): Record<string, string> => ({
  "below 1 %": "below 1 %",
  "1 to 5 %": "1 to 5 %",
  "5 to 20 %": "5 to 20 %",
  "20 to 50 %": "20 to 50 %",
  "50 to 80 %": "50 to 80 %",
  "80 % and more": "80 % and more",
});
const colours = () => ["strong orange", "orange", "pale yellow", "pale blue"];
const lines = (): Record<(typeof UNDERLINES)[number], string> => ({
  double: "double underline",
  dashed: "dashed underline",
  dotted: "dotted underline",
});

export function legendRows(answer: OverlayResult | undefined, underlined: boolean): LegendRow[] {
  const spans = answer?.state === "ready" ? answer.spans : undefined;
  const known = labels();
  const shown = answer?.labels.length ? answer.labels : Object.keys(known);
  return shown.map((label, level) => {
    const places = (spans ?? []).filter((span) => span.level === level).sort(inOrder);
    const style = UNDERLINES[level];
    const line = underlined && style ? `, ${lines()[style]}` : "";
    return {
      level,
      label: known[label] ?? label,
      description: spans ? count(places.length) : "",
      detail: (colours()[level] ?? "not coloured") + line,
      places,
    };
  });
}

function inOrder(a: OverlaySpan, b: OverlaySpan): number {
  const [one, two] = [a.range.start, b.range.start];
  return one.line - two.line || one.character - two.character;
}

function count(places: number): string {
  if (places === 0) return "nowhere in this file";
  return places === 1 ? "1 place in this file" : `${written(places)} places in this file`;
}

/** The first place after a position, or else the first of all. */
export function nextPlace(
  places: OverlaySpan[],
  after: { line: number; character: number },
): OverlaySpan | undefined {
  const later = places.find(({ range: { start } }) =>
    start.line === after.line ? start.character > after.character : start.line > after.line,
  );
  return later ?? places[0];
}
