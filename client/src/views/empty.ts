/** The reason why a view is empty, as a sentence that says what to do. Pure, so that it can be tested. */

import { PROBED_LANGUAGES } from "../settings";
import type { FunctionResult } from "./protocol";

/** The facts about the cursor that the views know. */
export interface CursorFacts {
  /** Whether the active editor has a file in a language that is scored. */
  served: boolean;
  language: string;
  running: boolean;
  /** The server's response; undefined if there was none. */
  found?: Pick<FunctionResult, "function"> | undefined;
}

/**
 * The reason why no function is shown. Empty if one is, or if the view's own welcome text explains it.
 *
 * @param facts undefined if no file is open
 */
export function whyEmpty(facts: CursorFacts | undefined): string {
  if (!facts) return "";
  if (!facts.served)
    return `Files of this kind (${facts.language}) are not examined: see the setting Languages.`;
  if (!PROBED_LANGUAGES.includes(facts.language))
    return "Functions are shown for Python and Java files only.";
  if (!facts.running || !facts.found)
    return "Counterlens is not running. “Counterlens: Show Logs” gives the reason; “Restart Server” tries again.";
  if (facts.found.function) return "";
  return "The cursor is not in a function. Move it into a function.";
}
