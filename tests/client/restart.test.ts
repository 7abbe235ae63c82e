import assert from "node:assert/strict";
import test from "node:test";
import { RestartPolicy } from "../../client/src/restart";

const LIMITS = { most: 3, windowMs: 60_000, firstDelayMs: 500, longestDelayMs: 1_500 };

function policyAt() {
  const clock = { now: 1_000_000 };
  return { clock, policy: new RestartPolicy(LIMITS, () => clock.now) };
}

test("each restart in a row waits twice as long, up to the longest delay", () => {
  const { policy } = policyAt();
  assert.deepEqual([policy.next(), policy.next(), policy.next()], [500, 1000, 1500]);
});

test("after as many restarts as allowed it gives up", () => {
  const { policy } = policyAt();
  for (let i = 0; i < LIMITS.most; i++) policy.next();
  assert.equal(policy.next(), undefined);
  assert.equal(policy.next(), undefined);
});

test("restarts that lie outside the window no longer count", () => {
  const { clock, policy } = policyAt();
  for (let i = 0; i < LIMITS.most; i++) policy.next();
  clock.now += LIMITS.windowMs;
  assert.equal(policy.next(), LIMITS.firstDelayMs);
});

test("a restart by the user starts the count afresh", () => {
  const { policy } = policyAt();
  for (let i = 0; i < LIMITS.most; i++) policy.next();
  policy.reset();
  assert.equal(policy.next(), LIMITS.firstDelayMs);
});
