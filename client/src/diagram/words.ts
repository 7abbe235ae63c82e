/**
 * The texts of a node in the diagram: in its box, for a screen reader, and as details. Pure, so that it can be tested.
 */

import type { Range } from "vscode-languageclient/node";
import { written } from "../numbers";
import type { TreeRow } from "../protocol";
import { percent } from "../rows";
import type { Diagram } from "./messages";

/** Maximum number of characters in a box, and in one with nothing beside it. */
const WIDE = 24;
const WIDER = 40;
const FAINTEST = 0.0001;
/** Maximum number of source lines that are shown of a node; the editor has all of them. */
const LINES = 7;

/** The texts in a box. */
export interface BoxText {
  head: string;
  figure: string;
  /** The source below the head; empty if the head already contains it. */
  text: string;
}

/** @param alone whether there is nothing beside the box */
export function boxTextOf({ kind, text, confidence }: TreeRow, alone = false): BoxText {
  const figure = figureOf(confidence);
  if (kind === "token") return { head: visible(text), figure, text: "" };
  const head = kind === "ERROR" ? "⚠ ERROR" : kind;
  return { head, figure, text: text === kind ? "" : cut(text, alone ? WIDER : WIDE) };
}

function figureOf(confidence: number | null): string {
  if (confidence === null) return "–";
  return confidence < FAINTEST ? `<${percent(FAINTEST)}` : percent(confidence);
}

function cut(text: string, widest = WIDE): string {
  return text.length <= widest ? text : `${text.slice(0, widest - 1)}…`;
}

/** Replaces the escapes of a whitespace token by symbols. */
function visible(text: string): string {
  if (!/^(\\[nrt]| )+$/.test(text)) return cut(text);
  return text.replaceAll("\\r", "").replaceAll("\\n", "↵").replaceAll("\\t", "→").replace(/ +/g, "␣");
}

/**
 * The visible text of a row, and then the rest, for a screen reader.
 * @param folded number of rows in it that are not drawn
 */
export function ariaLabel(
  { head, figure, text }: BoxText,
  { category, confidence }: TreeRow,
  folded: number,
): string {
  const seen = [head, figure, text].filter(Boolean).join(" ");
  const rest = [
    ...(folded > 0 ? [`${folded} folded`] : []),
    ...(confidence === null ? [percent(null)] : []),
    category,
  ];
  return `${seen} ${rest.join(", ")}`;
}

/** The details of a row, as names and values. */
export function details(row: TreeRow, { labels }: Diagram): [name: string, value: string][] {
  const { kind, category, confidence, level, minimum, bits, range } = row;
  const token = kind === "token";
  const is = level === null ? "" : ` (${labels[level] ?? level})`;
  const how = "raw, not calibrated";
  return [
    ["Concept", category],
    token
      ? ["Probability", `${percent(confidence)}${is}`]
      : ["Confidence", `${percent(confidence)}${is}${confidence === null ? "" : `, ${how}`}`],
    ...(token || minimum === null ? [] : [["Least certain token", percent(minimum)] as [string, string]]),
    ...(bits === null ? [] : [["Surprisal", `${written(bits, 1)} bits`] as [string, string]]),
    ["Place", `line ${range.start.line + 1}, column ${range.start.character + 1}`],
  ];
}

/** The source of a range without the common indentation of its lines, shortened if it is long. */
export function sourceOf({ start, end }: Range, { lines, firstLine }: Diagram): string {
  const own = lines.slice(start.line - firstLine, end.line - firstLine + 1);
  if (own.length === 0) return "";
  own[own.length - 1] = own.at(-1)?.slice(0, end.character) ?? "";
  const indent = own
    .slice(1)
    .filter((line) => line.trim())
    .map((line) => line.search(/\S/));
  const shared = Math.min(...indent, start.character);
  const [first = "", ...rest] = own;
  const shown = [first.slice(start.character), ...rest.map((line) => line.slice(shared))];
  return shown.length <= LINES ? shown.join("\n") : `${shown.slice(0, LINES - 1).join("\n")}\n…`;
}
