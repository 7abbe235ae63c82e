// Runs axe-core in a page, to find barriers for people who cannot see it, or cannot see its colours.
import axe from "axe-core";

const SERIOUS = ["serious", "critical"];

/**
 * @param frame a page or frame of the browser
 * @param {{ within?: string, without?: string[] }} options `within`: a selector of the part to check;
 *   `without`: rules that do not apply to it
 * @returns {Promise<string[]>} the serious violations: rule, problem, and first location
 */
export async function seriousViolations(frame, { within = "html", without = [] } = {}) {
  await frame.evaluate(axe.source); // injected by the debugger, since the page's own policy allows no other script
  const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
  const found = await frame.evaluate(
    ([part, chosen]) => window.axe.run(part, { resultTypes: ["violations"], rules: chosen }),
    [within, rules],
  );
  if (found.passes.length === 0) throw new Error("axe-core has checked nothing");
  return found.violations
    .filter(({ impact }) => SERIOUS.includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.length} × ${nodes[0].failureSummary} ${nodes[0].html}`);
}
