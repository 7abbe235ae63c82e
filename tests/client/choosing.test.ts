import assert from "node:assert/strict";
import test from "node:test";
import { choose, type Question } from "../../client/src/install/choosing";

const A = { path: "/a", origin: "PATH" };
const B = { path: "/b", origin: "the workspace's .venv" };

/** `fit`: interpreters that the bundled packages suit; `have`: those that have counterlens. */
function question(some: Partial<Question> & { fit?: string[]; have?: string[] }): Question {
  const { fit = [], have = [], ...rest } = some;
  return {
    strategy: "useBundled",
    candidates: [A, B],
    named: false,
    carries: true,
    own: undefined,
    fits: async (python) =>
      fit.includes(python)
        ? { found: { version: "1", paths: `/libs/${python}` } }
        : { reason: "is Python 3.15, which the bundled packages are not for" },
    installed: async (python) =>
      have.includes(python) ? { found: "1" } : { reason: "does not have the counterlens package" },
    ...rest,
  };
}

const path = async (some: Parameters<typeof question>[0]) => (await choose(question(some))).chosen?.path;

test("the first interpreter that the bundled packages suit is run with them, and the reason is told", async () => {
  const { chosen, tried } = await choose(question({ fit: ["/b"], have: ["/a", "/own"], own: "/own" }));
  assert.deepEqual(chosen?.environment, { PYTHONPATH: "/libs//b" });
  assert.match(chosen?.why ?? "", /the workspace's \.venv, with the bundled packages of the extension/);
  assert.deepEqual(tried, ["/a (PATH) is Python 3.15, which the bundled packages are not for"]);
});

test("where they suit none, the extension's own environment, then installed packages are used", async () => {
  assert.equal(await path({ have: ["/b", "/own"], own: "/own" }), "/own");
  const { chosen } = await choose(question({ have: ["/b"], own: undefined }));
  assert.equal(chosen?.path, "/b");
  assert.deepEqual(chosen?.environment, {});
});

test("an interpreter that the user named is not replaced by the extension's own", async () => {
  const { chosen, tried } = await choose(
    question({ candidates: [A], named: true, own: "/own", have: ["/own"] }),
  );
  assert.equal(chosen, undefined);
  assert.match(tried.at(-1) ?? "", /\/a \(PATH\) does not have the counterlens package/);
});

test("fromEnvironment takes installed packages alone", async () => {
  const strategy = "fromEnvironment";
  assert.equal(await path({ strategy, fit: ["/a"], own: "/own", have: ["/b", "/own"] }), "/b");
  assert.equal(await path({ strategy, fit: ["/a"], own: "/own", have: ["/own"] }), undefined);
});

test("the universal package has no packages to try", async () => {
  const fits = async () => assert.fail("asked");
  assert.equal(await path({ carries: false, fits, own: "/own", have: ["/own"] }), "/own");
});
