/** The results of a test of the model, as rows. Pure, so that it can be tested. */

import { t, written } from "../language";
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
      label: t("It answers"),
      detail: t(
        "{0} tokens in {1} s: after “def add(a, b): return” it wrote {2}.",
        tokens,
        written(seconds, 1),
        wrote,
      ),
    },
    found.scores
      ? {
          able: true,
          label: t("Token probabilities"),
          detail: found.way
            ? t("Confidence, surprises, dependences and operators work ({0}).", found.way)
            : t("Confidence, surprises, dependences and operators work."),
        }
      : {
          able: false,
          label: t("No token probabilities"),
          detail: t(
            "Functions can be probed, but there is no overlay: the server does not return the probabilities of a given text.",
          ),
        },
    found.embeds
      ? { able: true, label: t("Embeddings"), detail: t("The task “embedding” can be run.") }
      : { able: false, label: t("No embeddings"), detail: t("All tasks except “embedding” can be run.") },
    {
      able: null,
      label:
        found.where === "local"
          ? t("Runs on this machine")
          : t("Runs at {0}: your code is sent there", found.where),
      detail: [found.context ? t("{0} tokens of context", written(found.context)) : "", facts]
        .filter(Boolean)
        .join(" · "),
    },
  ];
}
