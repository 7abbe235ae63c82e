/** The choices of "Probe Function…": the available tasks, then the others with the reason. */

import type { TaskListing } from "./protocol";

type Scope = "function" | "file";

export type TaskChoice =
  | { kind: "heading"; label: string }
  | { kind: "task"; label: string; detail: string; tasks: string[]; scope: Scope }
  | { kind: "unavailable"; label: string; detail: string }
  | { kind: "scope"; label: string; detail: string; scope: Scope };

/** A time in words, rounded because it is an estimate. */
function about(seconds: number): string {
  return seconds < 90
    ? `about ${Math.max(5, 5 * Math.round(seconds / 5))} s`
    : `about ${Math.ceil(seconds / 60)} min`;
}

/**
 * @param wanted the function at the cursor or the whole file; the file if the cursor is in no function
 * @param all the id that stands for all tasks
 */
export function taskChoices(
  found: TaskListing,
  wanted: Scope,
  file: string,
  all: string,
): { title: string; choices: TaskChoice[] } {
  const scope = found.function ? wanted : "file";
  const available = found.tasks.filter((task) => task.available);
  const others = found.tasks.filter((task) => !task.available);
  const functions = found.functions === 1 ? "1 function" : `${found.functions} functions`;
  const choices: TaskChoice[] = [];
  if (available.length > 0) {
    choices.push({
      kind: "task",
      label: all,
      detail: "all available tasks below, in order",
      tasks: [all],
      scope,
    });
  }
  for (const { id, title, seconds } of available) {
    const time = seconds ? about(seconds * (scope === "function" ? 1 : found.functions)) : "";
    const detail = [title, time].filter(Boolean).join(" · ");
    choices.push({ kind: "task", label: id, detail, tasks: [id], scope });
  }
  if (found.function) {
    choices.push(
      { kind: "heading", label: "Something else" },
      scope === "function"
        ? { kind: "scope", label: "Whole file", detail: `${file}: ${functions}`, scope: "file" }
        : { kind: "scope", label: found.function, detail: "only the function", scope: "function" },
    );
  }
  if (others.length > 0) choices.push({ kind: "heading", label: "Not available here" });
  for (const { id, reason } of others) choices.push({ kind: "unavailable", label: id, detail: reason });
  const title = scope === "function" ? `Probe ${found.function}` : `Probe ${file}, ${functions}`;
  return { title, choices };
}
