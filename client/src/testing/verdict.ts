/** What a probe says about one mutation, as the result of a test. */

import type { ProbedPair, ProbeResult } from "../protocol";
import { excerpt } from "./excerpt";

export interface Message {
  text: string;
  /** Of the changed place, counted from 0. */
  line?: number;
  /** The program as it should be, and as the model wrote it. */
  expected?: string;
  actual?: string;
}

/** `passed`: the model held; `failed`: the change decided; `skipped`: nothing can be said; `errored`: no probe. */
export interface Verdict {
  state: "passed" | "failed" | "skipped" | "errored";
  messages: Message[];
}

/** @param mutation its id; several places of it in the function are one test, that holds where all hold */
export function verdict(result: ProbeResult, mutation: string): Verdict {
  if (!result.ok) return { state: "errored", messages: [{ text: result.error ?? "" }] };
  const pairs = result.pairs.filter((pair) => pair.mutation === mutation);
  if (result.wavering && pairs.length > 0) return { state: "skipped", messages: [{ text: result.wavering }] };
  const changed = pairs.filter(({ shows }) => shows === "lost" || shows === "gained");
  if (changed.length > 0) return { state: "failed", messages: changed.map((pair) => failure(result, pair)) };
  const held = pairs.filter(({ shows }) => shows === "held");
  if (held.length > 0) return { state: "passed", messages: held.map(told) };
  if (result.why_not_judged && pairs.length > 0) {
    return { state: "skipped", messages: [{ text: result.why_not_judged }] };
  }
  const reasons = result.not_asked.filter((one) => one.mutation === mutation);
  return {
    state: "skipped",
    messages: [...pairs.map(told), ...reasons.map(({ reason }) => ({ text: reason }))],
  };
}

function told({ sentence, line }: ProbedPair): Message {
  return { text: sentence, line };
}

function failure(result: ProbeResult, pair: ProbedPair): Message {
  const [original, counterfactual] = pair.wrote;
  const due = pair.shows === "lost" ? pair.counterfactual : result.source;
  const wrote = pair.shows === "lost" ? counterfactual : original;
  if (wrote === undefined) return told(pair);
  return { ...told(pair), ...excerpt(result.function, due, wrote) };
}
