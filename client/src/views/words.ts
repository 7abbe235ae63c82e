/** What the rows of the views say, to the eye and to a screen reader. Pure, to be tested. */

import type { Counterfactual, CounterfactualResult, Refusal } from "../protocol";
import { percent } from "../rows";
import type { ConceptRow, RunRow } from "./protocol";

export interface Words {
  label: string;
  description: string;
  tooltip: string;
  /** The whole row in one sentence. */
  spoken: string;
}

export function conceptWords(one: ConceptRow): Words {
  const nodes = one.nodes === 1 ? "1 node" : `${one.nodes} nodes`;
  const least = `least certain: ${one.text}, ${percent(one.least_confidence)}`;
  return {
    label: one.name,
    description: `${percent(one.confidence)} · ${nodes}`,
    tooltip: `Mean probability ${percent(one.confidence)} over ${nodes}; ${least}.`,
    spoken: `${one.name}: ${percent(one.confidence)} over ${nodes}; ${least}, line ${one.least.start.line + 1}`,
  };
}

/** The counterfactuals that keep the meaning, those that change it, and what was refused; none is empty. */
export function groupsOf({ counterfactuals, refused }: CounterfactualResult): Group[] {
  const inOrder = [...counterfactuals].sort((a, b) => a.line - b.line);
  const groups: Group[] = [
    { kind: "group", label: "keeps the meaning", rows: inOrder.filter(({ preserving }) => preserving) },
    { kind: "group", label: "breaks the meaning", rows: inOrder.filter(({ preserving }) => !preserving) },
    { kind: "group", label: "refused", rows: [...refused].sort((a, b) => a.line - b.line) },
  ];
  return groups.filter(({ rows }) => rows.length > 0);
}

export interface Group {
  kind: "group";
  label: string;
  rows: (Counterfactual | Refusal)[];
}

export function counterfactualWords(one: Counterfactual): Words {
  const verdict = one.verdict || (one.preserving ? "not probed" : "");
  const place = `line ${one.line + 1}`;
  const assumed = one.assumptions.length > 0 ? ` Assumes ${one.assumptions.join(", ")}.` : "";
  return {
    label: one.mutation,
    description: [place, verdict].filter(Boolean).join(" · "),
    tooltip: `${one.concept}: ${one.description}.${assumed}${one.verdict ? ` Probed: ${one.verdict}.` : ""}`,
    spoken: `${one.mutation}, ${place}${verdict ? `, ${verdict}` : ""}: ${one.description}`,
  };
}

export function refusalWords({ mutation, line, reason }: Refusal): Words {
  const place = `line ${line + 1}`;
  return {
    label: mutation,
    description: `${place} · ${reason}`,
    tooltip: reason,
    spoken: `${mutation}, ${place}, refused: ${reason}`,
  };
}

/** @param name of the folder, as the workspace shows it */
export function runWords(name: string, run: RunRow | undefined): Words {
  if (!run) return { label: name, description: "", tooltip: name, spoken: `run ${name}` };
  if (run.error)
    return { label: name, description: run.error, tooltip: run.error, spoken: `${name}: ${run.error}` };
  const far = run.resume ? `${run.done} of ${run.total}, can be resumed` : `${run.total} done`;
  const what = `${run.tasks.join(", ")} on ${run.data}`;
  return {
    label: name,
    description: `${run.tasks.join(", ")} · ${far}`,
    tooltip: [what, `asked: ${run.models.join(", ")}`, far, run.folder].join("\n\n"),
    spoken: `${name}: ${what}, asked of ${run.models.join(", ")}, ${far}`,
  };
}
