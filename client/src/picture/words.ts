/** What a node of the picture says: in its box, to a screen reader, and in full. Pure, to be tested. */

import type { Range } from "vscode-languageclient/node";
import { t, written } from "../language";
import type { TreeRow } from "../protocol";
import { percent } from "../rows";
import type { Picture } from "./messages";

/** Characters of a box; of one that has its line for itself. */
const WIDE = 24;
const WIDER = 40;
const FAINTEST = 0.0001;
/** Lines of source that are shown of a node; all of it is in the editor. */
const LINES = 7;

/** The texts in a box. */
export interface Face {
  head: string;
  figure: string;
  /** The source below; empty where the head says it already. */
  text: string;
}

/** @param alone whether there is nothing beside the box */
export function faceOf({ kind, text, confidence }: TreeRow, alone = false): Face {
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

/** A token of blanks comes as escapes. */
function visible(text: string): string {
  if (!/^(\\[nrt]| )+$/.test(text)) return cut(text);
  return text.replaceAll("\\r", "").replaceAll("\\n", "↵").replaceAll("\\t", "→").replace(/ +/g, "␣");
}

/** What is to be seen of a row, and then the rest. @param folded rows in it that are not drawn */
export function spoken(
  { head, figure, text }: Face,
  { category, confidence }: TreeRow,
  folded: number,
): string {
  const seen = [head, figure, text].filter(Boolean).join(" ");
  const rest = [
    ...(folded > 0 ? [t("{0} folded", folded)] : []),
    ...(confidence === null ? [percent(null)] : []),
    category,
  ];
  return `${seen} ${rest.join(", ")}`;
}

/** Names and values. */
export function details(row: TreeRow, { calibrated, labels }: Picture): [name: string, value: string][] {
  const { kind, category, confidence, level, minimum, bits, range } = row;
  const token = kind === "token";
  const is = level === null ? "" : ` (${labels[level] ?? level})`;
  const how = calibrated ? t("calibrated") : t("raw, not calibrated");
  return [
    [t("Concept"), category],
    token
      ? [t("Probability"), `${percent(confidence)}${is}`]
      : [t("Confidence"), `${percent(confidence)}${is}${confidence === null ? "" : `, ${how}`}`],
    ...(token || minimum === null ? [] : [[t("Least certain token"), percent(minimum)] as [string, string]]),
    ...(bits === null ? [] : [[t("Surprisal"), t("{0} bits", written(bits, 1))] as [string, string]]),
    [t("Place"), t("line {0}, column {1}", range.start.line + 1, range.start.character + 1)],
  ];
}

/** The source of a range, without the indentation that its lines share, and cut where it is long. */
export function sourceOf({ start, end }: Range, { lines, firstLine }: Picture): string {
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
