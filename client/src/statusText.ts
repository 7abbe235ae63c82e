/** The text of the status bar item, and the reason if nothing is shown. Pure, so that it can be tested. */

import type { ModelState, StatusParams } from "./protocol";

const ICONS: Record<ModelState, string> = {
  idle: "circle-outline",
  loading: "loading~spin",
  ready: "eye",
  scoring: "sync~spin",
  probing: "beaker",
  error: "error",
  disabled: "circle-slash",
};

const words = (): Record<ModelState, string> => ({
  idle: "idle",
  loading: "loading",
  ready: "ready",
  scoring: "scoring",
  probing: "probing…",
  error: "problem",
  disabled: "off",
});

/** Buttons of the message about a missing Python, which the status names. */
export const SET_UP_BUTTON = "Set Up…";
export const CHOOSE_INTERPRETER = "Choose Interpreter…";

/** What a person does about a missing Python, in the words of its button. */
export const withoutPython = (canSetUp: boolean): string =>
  canSetUp ? `not set up: “${SET_UP_BUTTON}”` : `no Python has counterlens: “${CHOOSE_INTERPRETER}”`;

/** The facts that determine the item's text. */
export interface StatusFacts {
  status: StatusParams;
  /** The reason why the active file has no confidence. Empty if it has or will have some, or is not supported. */
  unscored: string;
  trusted: boolean;
  overlay: boolean;
}

export interface StatusText {
  icon: string;
  /** The text in the status bar, after the icon. */
  text: string;
  /** Sentences of the tooltip, the most important first. */
  details: string[];
  /** Whether the item is shown as a warning. */
  warns: boolean;
}

export function statusText({ status, unscored, trusted, overlay }: StatusFacts): StatusText {
  const { model, state, detail } = status;
  const quiet = state === "ready" && unscored !== "";
  const name = model ? `${model}: ` : "Counterlens: ";
  const details = [detail];
  if (quiet && !detail.includes(unscored)) details.push(`This file has no confidence: ${unscored}`);
  if (status.advice) details.push(status.advice);
  if (!trusted) {
    details.push("The workspace is not trusted: code is scored, but not run or probed");
  }
  if (!overlay && state !== "disabled") details.push("The overlay is hidden");
  const bare = !trusted && state === "ready" ? ` · no probes (untrusted)` : "";
  return {
    icon: quiet ? "eye-closed" : (ICONS[state] ?? "question"),
    text: name + doing(status, unscored) + bare,
    details: details.filter((sentence) => sentence !== "").map(ended),
    warns: state === "error",
  };
}

/** The state in a few words, such as `loading 43 %`, `scoring 3 of 12 functions`, `offline: connection refused`. */
function doing({ state, reason, steps, detail }: StatusParams, unscored: string): string {
  if (state === "ready" && unscored) return `file not scored: ${brief(unscored)}`;
  if (reason) return reason;
  if (state === "error" && detail) return brief(detail);
  const word = words()[state] ?? state;
  if ((state === "loading" || state === "scoring") && steps) {
    return steps.unit === "%"
      ? `${word} ${steps.done} %`
      : `${word} ${steps.done} of ${steps.total} functions`;
  }
  return state === "loading" || state === "scoring" ? `${word}…` : word;
}

const LONGEST = 48;

/** The first clause, without advice, shortened to fit into the status bar. */
function brief(reason: string): string {
  const clause = reason.split(/[.,;] /)[0] ?? reason;
  return clause.length > LONGEST ? `${clause.slice(0, LONGEST - 1).trimEnd()}…` : clause;
}

/** Formats a text as a sentence. */
export function ended(text: string): string {
  const isName = /^\S*[./]/.test(text); // a file or host name rather than the first word of a sentence
  const begun = isName ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
