/** The texts of the views' rows, visible and for a screen reader. Pure, so that it can be tested. */

import { t } from "../language";
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
  const nodes = one.nodes === 1 ? t("1 node") : t("{0} nodes", one.nodes);
  const mean = percent(one.confidence);
  const least = t("least certain: {0}, {1}", one.text, percent(one.least_confidence));
  return {
    label: one.name,
    description: `${mean} · ${nodes}`,
    tooltip: t("Mean probability {0} over {1}; {2}.", mean, nodes, least),
    ariaLabel: t(
      "{0}: {1} over {2}; {3}, {4}",
      one.name,
      mean,
      nodes,
      least,
      lineWords(one.least.start.line),
    ),
  };
}

/** Non-empty groups: counterfactuals that keep the meaning, those that break it, and refusals. */
export function groupsOf({ counterfactuals, refused }: CounterfactualResult): Group[] {
  const inOrder = [...counterfactuals].sort((a, b) => a.line - b.line);
  const groups: Group[] = [
    { kind: "group", label: t("keeps the meaning"), rows: inOrder.filter(({ preserving }) => preserving) },
    { kind: "group", label: t("breaks the meaning"), rows: inOrder.filter(({ preserving }) => !preserving) },
    {
      kind: "group",
      label: t("refused"),
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
  const verdict = one.verdict || (one.preserving ? t("not probed") : "");
  const place = lineWords(one.line);
  const sentences = [
    `${one.concept}: ${one.description}.`,
    ...(one.assumptions.length > 0 ? [t("Assumes {0}.", one.assumptions.join(", "))] : []),
    ...(one.verdict ? [t("Probed: {0}.", one.verdict)] : []),
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
    ariaLabel: t("{0}, {1}, refused: {2}", mutation, place, reason),
  };
}

/** The progress of an active run, and its remaining time. */
export function leftWords({ done, total, seconds }: RunNews): string {
  const far = t("{0} of {1}", done, total);
  return seconds === null ? far : `${far} · ${t("about {0} left", span(seconds))}`;
}

/**
 * @param name of the folder, as the workspace shows it
 * @param live latest news, if the run is active here
 */
export function runWords(name: string, run: RunRow | undefined, live?: RunNews): Words {
  if (live) {
    const far = live.total > 0 ? leftWords(live) : t("preparing");
    return {
      label: name,
      description: far,
      tooltip: `${name}: ${far}`,
      ariaLabel: t("run {0}, {1}", name, far),
    };
  }
  if (!run) return { label: name, description: "", tooltip: name, ariaLabel: t("run {0}", name) };
  if (run.error)
    return { label: name, description: run.error, tooltip: run.error, ariaLabel: `${name}: ${run.error}` };
  const far = run.resume ? t("{0} of {1}, can be resumed", run.done, run.total) : t("{0} done", run.total);
  const tasks = run.tasks.join(", ");
  const models = run.models.join(", ");
  const what = t("{0} on {1}", tasks, run.data);
  return {
    label: name,
    description: `${tasks} · ${far}`,
    tooltip: [what, t("models: {0}", models), far, run.folder].join("\n\n"),
    ariaLabel: t("{0}: {1}, {2}, {3}", name, what, models, far),
  };
}

/** @param line counted from 0 */
function lineWords(line: number): string {
  return t("line {0}", line + 1);
}
