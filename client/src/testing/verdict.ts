/** The result of a probe for one mutation, as the result of a test. It is about the model, so no test fails. */

import type { ProbedPair, ProbeResult } from "../protocol";

/** `held`; `changed`: right on one side only; `nothing`: no conclusion; `errored`: no probe. */
export type State = "held" | "changed" | "nothing" | "errored";

export interface Verdict {
  state: State;
  /** Sentences about the result. */
  messages: string[];
}

/** @param mutation its id; all its places in the function are one test, which holds if all hold */
export function verdict(result: ProbeResult, mutation: string): Verdict {
  if (!result.ok) return { state: "errored", messages: [result.error ?? ""] };
  const pairs = result.pairs.filter((pair) => pair.mutation === mutation);
  if (result.noise && pairs.length > 0) return { state: "nothing", messages: [result.noise] };
  const changed = pairs.filter(
    ({ shows, unstable }) => !unstable && (shows === "lost" || shows === "gained"),
  );
  if (changed.length > 0) return { state: "changed", messages: changed.map(messageOf) };
  const held = pairs.filter(({ shows }) => shows === "held");
  if (held.length > 0) return { state: "held", messages: held.map(messageOf) };
  if (result.why_not_judged && pairs.length > 0) {
    return { state: "nothing", messages: [result.why_not_judged] };
  }
  const reasons = result.not_asked.filter((one) => one.mutation === mutation);
  return {
    state: "nothing",
    messages: [...pairs.map(messageOf), ...reasons.map(({ reason }) => reason)],
  };
}

function messageOf({ sentence }: ProbedPair): string {
  return sentence;
}
