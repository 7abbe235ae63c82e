/** The plan of a run as rows: ways to start it, then its details. Pure, so that it can be tested. */

import { t } from "../language";
import type { RunPlan } from "./protocol";

export type PlanRow =
  | { kind: "heading"; label: string }
  | { kind: "start"; icon: string; label: string; description: string; detail: string; minutes?: number }
  | { kind: "tasks" | "amount" | "fact"; icon: string; label: string; description: string; detail: string };

/** Limit that is offered if the whole run takes longer. */
const SHORT_MINUTES = 10;

export function planRows(plan: RunPlan): PlanRow[] {
  const all = plan.functions === 1 ? t("1 function") : t("{0} functions", plan.functions);
  const tasks = plan.tasks.filter(({ chosen }) => chosen).map(({ id }) => id);
  const rows: PlanRow[] = [
    {
      kind: "start",
      icon: "play",
      label: t("Ask about {0}", all),
      description: plan.seconds === null ? t("time unknown") : t("about {0}", span(plan.seconds)),
      detail: how(plan),
    },
  ];
  if (plan.seconds === null || plan.seconds > SHORT_MINUTES * 60) {
    rows.push({
      kind: "start",
      icon: "watch",
      label: t("Stop after {0} minutes", SHORT_MINUTES),
      description: "",
      detail: t("In random order, public functions first."),
      minutes: SHORT_MINUTES,
    });
  }
  if (plan.functions > 1) {
    rows.push({
      kind: "amount",
      icon: "list-ordered",
      label: t("Fewer Functions, or Less Time…"),
      description: "",
      detail: t("Public functions come first."),
    });
  }
  rows.push({
    kind: "tasks",
    icon: "beaker",
    label: t("Other Probes…"),
    description: tasks.join(", "),
    detail: "",
  });
  rows.push({ kind: "heading", label: t("the plan") });
  const from = plan.settings ? [t("Settings: {0}, and those of the editor", plan.settings)] : [];
  for (const line of [...plan.lines, ...from]) {
    rows.push({ kind: "fact", icon: "info", label: line, description: "", detail: "" });
  }
  return rows;
}

function how({ models, seconds }: RunPlan): string {
  const asked = t("models: {0}", models.join(", "));
  const pause = t("It can be paused at any time.");
  if (seconds === null) return `${asked}. ${pause}`;
  return `${asked}; ${t("at the pace of earlier runs")}. ${pause}`;
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
      label: t("{0} functions", limit),
      description:
        plan.seconds === null
          ? t("time unknown")
          : t("about {0}", span((plan.seconds * limit) / plan.functions)),
      limit,
    })),
    ...minutes.map((each) => ({ label: t("{0} minutes", each), description: "", minutes: each })),
  ];
}

/** A time in words, rounded because it is an estimate. */
export function span(seconds: number): string {
  if (seconds < 90) return t("{0} s", Math.max(5, 5 * Math.round(seconds / 5)));
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? t("{0} min", minutes) : t("{0} h", Math.round(minutes / 60));
}
