/** The texts of the views' rows, visible and for a screen reader. Pure, so that it can be tested. */

import type { Counterfactual, CounterfactualResult, Refusal } from "../protocol";
import { percent } from "../rows";
import { span } from "./planRows";
import type { ConceptRow, RunNews, RunRow } from "./protocol";

export interface Words {
  label: string;
  description: string;
  tooltip: string;
  /** The whole row in one sentence. */
  ariaLabel: string;
}

export function conceptWords(one: ConceptRow): Words {
  const nodes = one.nodes === 1 ? "1 node" : `${one.nodes} nodes`;
  const mean = percent(one.confidence);
  const least = `least certain: ${one.text}, ${percent(one.least_confidence)}`;
  return {
    label: one.name,
    description: `${mean} · ${nodes}`,
    tooltip: `Mean probability ${mean} over ${nodes}; ${least}.`,
    ariaLabel: `${one.name}: ${mean} over ${nodes}; ${least}, ${lineWords(one.least.start.line)}`,
  };
}

/** Non-empty groups: counterfactuals that keep the meaning, those that break it, and refusals. */
export function groupsOf({ counterfactuals, refused }: CounterfactualResult): Group[] {
  const inOrder = [...counterfactuals].sort((a, b) => a.line - b.line);
  const groups: Group[] = [
    { kind: "group", label: "keeps the meaning", rows: inOrder.filter(({ preserving }) => preserving) },
    { kind: "group", label: "breaks the meaning", rows: inOrder.filter(({ preserving }) => !preserving) },
    {
      kind: "group",
      label: "refused",
      refused: true,
      rows: [...refused].sort((a, b) => a.line - b.line),
    },
  ];
  return groups.filter(({ rows }) => rows.length > 0);
}

export interface Group {
  kind: "group";
  label: string;
  /** Whether it contains refusals. */
  refused?: boolean;
  rows: (Counterfactual | Refusal)[];
}

export function counterfactualWords(one: Counterfactual): Words {
  const verdict = one.verdict || (one.preserving ? "not probed" : "");
  const place = lineWords(one.line);
  const sentences = [
    `${one.concept}: ${one.description}.`,
    ...(one.assumptions.length > 0 ? [`Assumes ${one.assumptions.join(", ")}.`] : []),
    ...(one.verdict ? [`Probed: ${one.verdict}.`] : []),
  ];
  return {
    label: one.mutation,
    description: [place, verdict].filter(Boolean).join(" · "),
    tooltip: sentences.join(" "),
    ariaLabel: `${one.mutation}, ${place}${verdict ? `, ${verdict}` : ""}: ${one.description}`,
  };
}

export function refusalWords({ mutation, line, reason }: Refusal): Words {
  const place = lineWords(line);
  return {
    label: mutation,
    description: `${place} · ${reason}`,
    tooltip: reason,
    ariaLabel: `${mutation}, ${place}, refused: ${reason}`,
  };
}

/** The progress of an active run, and its remaining time. */
export function leftWords({ done, total, seconds }: RunNews): string {
  const far = `${done} of ${total}`;
  return seconds === null ? far : `${far} · about ${span(seconds)} left`;
}

/**
 * @param name of the folder, as the workspace shows it
 * @param live latest news, if the run is active here
 */
export function runWords(name: string, run: RunRow | undefined, live?: RunNews): Words {
  if (live) {
    const far = live.total > 0 ? leftWords(live) : "preparing";
    return {
      label: name,
      description: far,
      tooltip: `${name}: ${far}`,
      ariaLabel: `run ${name}, ${far}`,
    };
  }
  if (!run) return { label: name, description: "", tooltip: name, ariaLabel: `run ${name}` };
  if (run.error)
    return { label: name, description: run.error, tooltip: run.error, ariaLabel: `${name}: ${run.error}` };
  const far = run.resume ? `${run.done} of ${run.total}, can be resumed` : `${run.total} done`;
  const tasks = run.tasks.join(", ");
  const models = run.models.join(", ");
  const what = `${tasks} on ${run.data}`;
  return {
    label: name,
    description: `${tasks} · ${far}`,
    tooltip: [what, `models: ${models}`, far, run.folder].join("\n\n"),
    ariaLabel: `${name}: ${what}, ${models}, ${far}`,
  };
}

/** @param line counted from 0 */
function lineWords(line: number): string {
  return `line ${line + 1}`;
}
