/** What a test of the model found, in rows. Pure, so that it can be tested. */

import type { TestedModel } from "../protocol";

export interface TrialRow {
  /** Whether it can; null for a mere fact. */
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
      detail: `${tokens} tokens in ${seconds.toFixed(1)} s: after “def add(a, b): return” it wrote ${wrote}.`,
    },
    found.scores
      ? {
          able: true,
          label: "Token probabilities",
          detail: `Confidence, surprises, dependences and operators work${found.way ? ` (${found.way})` : ""}.`,
        }
      : {
          able: false,
          label: "No token probabilities",
          detail:
            "Functions can be probed, but there is no overlay: the server does not say how probable a given text is.",
        },
    found.embeds
      ? { able: true, label: "Embeddings", detail: "The task “embedding” can be run." }
      : { able: false, label: "No embeddings", detail: "All tasks can be run but “embedding”." },
    {
      able: null,
      label:
        found.where === "local" ? "Runs on this machine" : `Runs at ${found.where}: your code is sent there`,
      detail: [found.context ? `${found.context.toLocaleString("en")} tokens of context` : "", facts]
        .filter(Boolean)
        .join(" · "),
    },
  ];
}
