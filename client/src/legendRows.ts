/** The rows of the legend. Pure, so that it can be tested. */

import { UNDERLINES } from "./colours";
import type { OverlayResult, OverlaySpan } from "./protocol";

export interface LegendRow {
  level: number;
  label: string;
  description: string;
  detail: string;
  /** Where code of this level is, in the order of the text. */
  places: OverlaySpan[];
}

/** Shown before anything was scored; those of an answer may differ. */
const LABELS = ["below 1 %", "1 to 5 %", "5 to 20 %", "20 to 50 %", "50 to 80 %", "80 % and more"];
const COLOURS = ["strong orange", "orange", "pale yellow", "pale blue"];
const LINES: Record<(typeof UNDERLINES)[number], string> = {
  double: "double underline",
  dashed: "dashed underline",
  dotted: "dotted underline",
};

export function legendRows(answer: OverlayResult | undefined, underlined: boolean): LegendRow[] {
  const spans = answer?.state === "ready" ? answer.spans : undefined;
  const labels = answer?.labels.length ? answer.labels : LABELS;
  return labels.map((label, level) => {
    const places = (spans ?? []).filter((span) => span.level === level).sort(inOrder);
    const style = UNDERLINES[level];
    const line = underlined && style ? `, ${LINES[style]}` : "";
    return {
      level,
      label,
      description: spans ? count(places.length) : "",
      detail: (COLOURS[level] ?? "not coloured") + line,
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
  return places === 1 ? "1 place in this file" : `${places.toLocaleString("en")} places in this file`;
}

/** The first place after a position; at the end of the text the first of all. */
export function nextPlace(
  places: OverlaySpan[],
  after: { line: number; character: number },
): OverlaySpan | undefined {
  const later = places.find(({ range: { start } }) =>
    start.line === after.line ? start.character > after.character : start.line > after.line,
  );
  return later ?? places[0];
}
