// The lock files that users' environments are made from are part of the one that everything is tested with.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { lockOf, lockWithout } from "../../scripts/bundle.mjs";
import { root } from "../../scripts/paths.mjs";

const read = (name) => readFileSync(path.join(root, `requirements/${name}.txt`), "utf8");
const pins = (lock) => lock.match(/^[\w.-]+==[^ ;\\]+/gm);

for (const name of ["runtime", "engine"]) {
  test(`each version in ${name}.txt is the one that is tested with`, () => {
    const tested = new Set(pins(read("dev")));
    assert.ok(pins(read(name)).length > 20);
    assert.deepEqual(
      pins(read(name)).filter((pin) => !tested.has(pin)),
      [],
    );
  });
}

test("the engine adds to the packages that run the server, and takes none away", () => {
  const engine = new Set(pins(read("engine")));
  assert.deepEqual(
    pins(read("runtime")).filter((pin) => !engine.has(pin)),
    [],
  );
  assert.ok([...engine].some((pin) => pin.startsWith("llama-cpp-python==")));
});

test("every direct dependency of the package is locked", () => {
  const declared = /^dependencies = \[$(.*?)^\]/ms.exec(
    readFileSync(path.join(root, "pyproject.toml"), "utf8"),
  )[1];
  const names = Array.from(declared.matchAll(/^\s*"([\w.-]+)/gm), (match) => match[1]);
  const locked = pins(read("runtime")).map((pin) => pin.split("==")[0]);
  assert.deepEqual(
    names.filter((name) => !locked.includes(name)),
    [],
  );
});

test("a package is taken out of a lock file with its hashes, and nothing else", () => {
  const lock =
    "a==1 \\\n    --hash=sha256:aa\nb==2 ; x \\\n    --hash=sha256:bb\n    # via a\nb-c==3 \\\n    --hash=sha256:cc\n";
  assert.equal(lockWithout("b", lock), "a==1 \\\n    --hash=sha256:aa\nb-c==3 \\\n    --hash=sha256:cc\n");
  assert.equal(lockOf("b", lock), "b==2 ; x \\\n    --hash=sha256:bb\n    # via a\n");
});
