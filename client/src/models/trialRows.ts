/** The results of a test of the model, as rows. Pure, so that it can be tested. */

import { written } from "../numbers";
import type { TestedModel } from "../protocol";

export interface TrialRow {
  /** Whether the model has the capability; null for a plain fact. */
  able: boolean | null;
  label: string;
  detail: string;
}

export function trialRows(found: TestedModel): TrialRow[] {
  const wrote = JSON.stringify(found.completion.trimEnd());
  const { seconds, tokens } = found;
  const facts = found.details.map(([name, value]) => `${name} ${value}`).join(" · ");
  return [
    {
      able: true,
      label: "It answers",
      detail: `${tokens} tokens in ${written(seconds, 1)} s: after “def add(a, b): return” it wrote ${wrote}.`,
    },
    found.scores
      ? {
          able: true,
          label: "Token probabilities",
          detail: found.way
            ? `Confidence, surprises, dependences and operators work (${found.way}).`
            : "Confidence, surprises, dependences and operators work.",
        }
      : {
          able: false,
          label: "No token probabilities",
          detail:
            "Functions can be probed, but there is no overlay: the server does not return the probabilities of a given text.",
        },
    found.embeds
      ? { able: true, label: "Embeddings", detail: "The task “embedding” can be run." }
      : { able: false, label: "No embeddings", detail: "All tasks except “embedding” can be run." },
    {
      able: null,
      label:
        found.where === "local" ? "Runs on this machine" : `Runs at ${found.where}: your code is sent there`,
      detail: [found.context ? `${written(found.context)} tokens of context` : "", facts]
        .filter(Boolean)
        .join(" · "),
    },
  ];
}
