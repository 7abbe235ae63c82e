/** The list of a function's counterfactuals, and the line where two texts differ. Pure, so that it can be tested. */

import type { Counterfactual, CounterfactualResult, Refusal } from "./protocol";

/** A row of the list: a heading, a counterfactual to show, or the reason why there is none. */
export type Choice =
  | { kind: "heading"; label: string }
  | { kind: "counterfactual"; label: string; description: string; detail: string; shows: Counterfactual }
  | { kind: "refused"; label: string; description: string; detail: string };

/** Counterfactuals that keep the meaning, those that break it, and refusals, each in source order. */
export function choices({ counterfactuals, refused }: CounterfactualResult): Choice[] {
  const inOrder = [...counterfactuals].sort((a, b) => a.line - b.line);
  return [
    ...section("keeps the meaning", inOrder.filter(({ preserving }) => preserving).map(offered)),
    ...section("breaks the meaning", inOrder.filter(({ preserving }) => !preserving).map(offered)),
    ...section("refused", refusals(refused)),
  ];
}

function section(label: string, rows: Choice[]): Choice[] {
  return rows.length > 0 ? [{ kind: "heading", label }, ...rows] : [];
}

function offered(one: Counterfactual): Choice {
  const assumed = one.assumptions.length > 0 ? [`assumes ${one.assumptions.join(", ")}`] : [];
  return {
    kind: "counterfactual",
    label: one.mutation,
    description: [lines([one.line]), one.concept, ...assumed].join(" · "),
    detail: sentence(one.description),
    shows: one,
  };
}

/** Merges the refusals of one mutation for one reason into one row. */
function refusals(refused: Refusal[]): Choice[] {
  const groups = new Map<string, { mutation: string; reason: string; at: number[] }>();
  for (const { mutation, line, reason } of refused) {
    const key = `${mutation}: ${reason}`;
    const group = groups.get(key) ?? { mutation, reason, at: [] };
    groups.set(key, group);
    group.at.push(line);
  }
  return Array.from(groups.values(), ({ mutation, reason, at }) => ({
    kind: "refused",
    label: mutation,
    description: lines(at),
    detail: sentence(reason),
  }));
}

/** Formats zero-based line numbers, shown counted from 1. */
function lines(zeroBased: number[]): string {
  const counted = [...new Set(zeroBased)].sort((a, b) => a - b).map((line) => line + 1);
  return counted.length === 1 ? `line ${counted.join()}` : `lines ${counted.join(", ")}`;
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

/** The title of the diff. */
export function title(functionName: string, { mutation, line }: Counterfactual): string {
  return `${functionName}: ${mutation}, line ${line + 1} (original ↔ counterfactual)`;
}

/** The first line, counted from 0, in which two texts differ, or else their last common line. */
export function firstDifference(before: string, after: string): number {
  const [a, b] = [before, after].map((text) => text.split(/\r\n|\r|\n/)) as [string[], string[]];
  const last = Math.min(a.length, b.length) - 1;
  const found = a.findIndex((line, index) => line !== b[index]);
  return found < 0 ? last : Math.min(found, last);
}
