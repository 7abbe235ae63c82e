/** The plan of a run as rows: ways to start it, then its details. Pure, so that it can be tested. */

import type { RunPlan } from "./protocol";

export type PlanRow =
  | { kind: "heading"; label: string }
  | { kind: "start"; icon: string; label: string; description: string; detail: string; minutes?: number }
  | { kind: "tasks" | "amount" | "fact"; icon: string; label: string; description: string; detail: string };

/** Limit that is offered if the whole run takes longer. */
const SHORT_MINUTES = 10;

export function planRows(plan: RunPlan): PlanRow[] {
  const all = plan.functions === 1 ? "1 function" : `${plan.functions} functions`;
  const tasks = plan.tasks.filter(({ chosen }) => chosen).map(({ id }) => id);
  const rows: PlanRow[] = [
    {
      kind: "start",
      icon: "play",
      label: `Ask about ${all}`,
      description: plan.seconds === null ? "time unknown" : `about ${span(plan.seconds)}`,
      detail: how(plan),
    },
  ];
  if (plan.seconds === null || plan.seconds > SHORT_MINUTES * 60) {
    rows.push({
      kind: "start",
      icon: "watch",
      label: `Stop after ${SHORT_MINUTES} minutes`,
      description: "",
      detail: "In random order, public functions first.",
      minutes: SHORT_MINUTES,
    });
  }
  if (plan.functions > 1) {
    rows.push({
      kind: "amount",
      icon: "list-ordered",
      label: "Fewer Functions, or Less Time…",
      description: "",
      detail: "Public functions come first.",
    });
  }
  rows.push({
    kind: "tasks",
    icon: "beaker",
    label: "Other Probes…",
    description: tasks.join(", "),
    detail: "",
  });
  rows.push({ kind: "heading", label: "the plan" });
  const from = plan.settings ? [`Settings: ${plan.settings}, and those of the editor`] : [];
  for (const line of [...plan.lines, ...from]) {
    rows.push({ kind: "fact", icon: "info", label: line, description: "", detail: "" });
  }
  return rows;
}

function how({ models, seconds }: RunPlan): string {
  const asked = `models: ${models.join(", ")}`;
  const pause = "It can be paused at any time.";
  if (seconds === null) return `${asked}. ${pause}`;
  return `${asked}; at the pace of earlier runs. ${pause}`;
}

/** A choice of how much is asked: a number of functions, or of minutes. */
export interface Amount {
  label: string;
  description: string;
  limit?: number;
  minutes?: number;
}

/** The offered amounts, with the expected time of those in functions. */
export function amounts(plan: RunPlan): Amount[] {
  const functions = [5, 10, 20, 50, 100].filter((limit) => limit < plan.functions);
  const minutes = [2, 5, 10, 30, 60].filter((each) => plan.seconds === null || 60 * each < plan.seconds);
  return [
    ...functions.map((limit) => ({
      label: `${limit} functions`,
      description:
        plan.seconds === null ? "time unknown" : `about ${span((plan.seconds * limit) / plan.functions)}`,
      limit,
    })),
    ...minutes.map((each) => ({ label: `${each} minutes`, description: "", minutes: each })),
  ];
}

/** A time in words, rounded because it is an estimate. */
export function span(seconds: number): string {
  if (seconds < 90) return `${Math.max(5, 5 * Math.round(seconds / 5))} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
