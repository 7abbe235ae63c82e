// axe-core in a page: what stands in the way of people who cannot see it, or not its colours.
import axe from "axe-core";

const SERIOUS = ["serious", "critical"];

/**
 * @param frame a page or frame of the browser
 * @returns {Promise<string[]>} the serious violations: rule, what is wrong, and where first
 */
export async function seriousViolations(frame) {
  await frame.evaluate(axe.source); // by the debugger: the page's own policy admits no other script
  const found = await frame.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  if (found.passes.length === 0) throw new Error("axe-core has checked nothing");
  return found.violations
    .filter(({ impact }) => SERIOUS.includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.length} × ${nodes[0].failureSummary} ${nodes[0].html}`);
}
