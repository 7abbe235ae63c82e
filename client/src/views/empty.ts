/** Why a view is empty, in a sentence that says what to do. Pure, to be tested. */

import { t } from "../language";
import { PROBED_LANGUAGES } from "../settings";
import type { FunctionResult } from "./protocol";

/** What the views know of where the cursor is. */
export interface Situation {
  /** Whether the editor that is in front holds a file of a language that is scored. */
  served: boolean;
  language: string;
  /** Whether the language server runs. */
  running: boolean;
  /** What it said; undefined where it did not answer. */
  found?: Pick<FunctionResult, "function"> | undefined;
}

/**
 * Why there is no function to show; empty where there is one, or where the view's own welcome says what it is for.
 *
 * @param situation undefined where no file is open
 */
export function whyEmpty(situation: Situation | undefined): string {
  if (!situation) return "";
  if (!situation.served)
    return t("Files of this kind ({0}) are not examined: see the setting Languages.", situation.language);
  if (!PROBED_LANGUAGES.includes(situation.language))
    return t("Functions are shown for Python and Java files only.");
  if (!situation.running || !situation.found)
    return t(
      "Counterlens is not running. “Counterlens: Show Logs” gives the reason; “Restart Server” tries again.",
    );
  if (situation.found.function) return "";
  return t("The cursor is not in a function. Put it into one.");
}
