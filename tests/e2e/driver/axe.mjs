// axe-core in a page: what stands in the way of people who cannot see it, or not its colours.
import axe from "axe-core";

const SERIOUS = ["serious", "critical"];

/**
 * @param frame a page or frame of the browser
 * @param {{ within?: string, without?: string[] }} options `within`: a selector of the part that is looked at;
 *   `without`: rules that it cannot keep
 * @returns {Promise<string[]>} the serious violations: rule, what is wrong, and where first
 */
export async function seriousViolations(frame, { within = "html", without = [] } = {}) {
  await frame.evaluate(axe.source); // by the debugger: the page's own policy admits no other script
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
