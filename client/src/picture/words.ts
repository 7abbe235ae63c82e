/** What a node of the picture says: in its box, to a screen reader, and in full. Pure, to be tested. */

import type { Range } from "vscode-languageclient/node";
import { t, written } from "../language";
import type { TreeRow } from "../protocol";
import { percent } from "../rows";
import type { Picture } from "./messages";

const WIDEST = 24;
/** Lines of source that are shown of a node. */
const LINES = 12;

/** The texts in a box. */
export interface Face {
  head: string;
  figure: string;
  /** The source below; empty where the head says it already. */
  text: string;
}

export function faceOf({ kind, text, confidence }: TreeRow): Face {
  const figure = confidence === null ? "–" : percent(confidence);
  if (kind === "token") return { head: visible(text), figure, text: "" };
  const head = kind === "ERROR" ? "⚠ ERROR" : kind;
  return { head, figure, text: text === kind ? "" : cut(text) };
}

function cut(text: string): string {
  return text.length <= WIDEST ? text : `${text.slice(0, WIDEST - 1)}…`;
}

/** A token of blanks comes as escapes. */
function visible(text: string): string {
  if (!/^(\\[nrt]| )+$/.test(text)) return cut(text);
  return text.replaceAll("\\r", "").replaceAll("\\n", "↵").replaceAll("\\t", "→").replace(/ +/g, "␣");
}

export function spoken(row: TreeRow): string {
  const { kind, category, text, confidence } = row;
  return kind === "token"
    ? t("{0}: probability {1}, {2}", text, percent(confidence), category)
    : t("{0}: confidence {1}, {2}. {3}", kind, percent(confidence), category, text);
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
  const indent = own.slice(1).filter((line) => line.trim()).map((line) => line.search(/\S/));
  const shared = Math.min(...indent, start.character);
  const [first = "", ...rest] = own;
  const shown = [first.slice(start.character), ...rest.map((line) => line.slice(shared))];
  return shown.length <= LINES ? shown.join("\n") : `${shown.slice(0, LINES).join("\n")}\n…`;
}
