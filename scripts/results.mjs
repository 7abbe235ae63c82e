// Counts passed, failed and skipped tests in the JUnit files of pytest and Node.
import { existsSync, readFileSync } from "node:fs";

/**
 * Adds up the results of all steps. A check counts as one test. So does a test run that failed without a failed test,
 * because it crashed or could not start: the total never hides an exit code.
 *
 * @param {{ code: number, junit?: string }[]} steps
 */
export function total(steps) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const { code, junit } of steps) {
    const found = junit && existsSync(junit) ? count(readFileSync(junit, "utf8")) : { tests: 0 };
    if (found.tests === 0) {
      sum[code === 0 ? "passed" : "failed"] += 1;
      continue;
    }
    sum.passed += found.tests - found.failed - found.skipped;
    sum.failed += code === 0 ? found.failed : Math.max(found.failed, 1);
    sum.skipped += found.skipped;
  }
  return sum;
}

/** Counts elements by their tags: text inside elements has its angle brackets escaped. */
function count(xml) {
  const number = (pattern) => xml.match(pattern)?.length ?? 0;
  return {
    tests: number(/<testcase\b/g),
    failed: number(/<(?:failure|error)\b/g),
    skipped: number(/<skipped\b/g),
  };
}
