import assert from "node:assert/strict";
import * as path from "node:path";
import test from "node:test";
import { closedEnvironment, isWithin } from "../../client/src/install/environment";

const joined = (...entries: string[]) => entries.join(path.delimiter);

test("Python gets none of its variables from a folder, and keeps the user's own packages", () => {
  const environment = {
    HOME: "/home/me",
    PYTHONPATH: joined("", ".", "/code/src", "/code", "/opt/lib", "/code-2"),
    PYTHONUSERBASE: "/opt/user",
    PYTHONUTF8: "1",
    PYTHONSTARTUP: "/code/evil.py",
    PYTHONHOME: "/code",
    PYTHONWARNINGS: "error::evil.Evil",
    PYTHONINSPECT: "1",
    pythonbreakpoint: "evil.run",
    MISSING: undefined,
  };
  assert.deepEqual(closedEnvironment(environment, ["/code", "/more"]), {
    HOME: "/home/me",
    PYTHONPATH: joined("/opt/lib", "/code-2"),
    PYTHONUSERBASE: "/opt/user",
    PYTHONUTF8: "1",
  });
  assert.deepEqual(closedEnvironment({ PYTHONPATH: ":/code/src", PYTHONUSERBASE: "/code/u" }, ["/code"]), {});
});

test("a folder contains itself and what is below it", () => {
  assert.ok(isWithin("/code", "/code") && isWithin("/code/..a/b", "/code/"));
  assert.ok(!isWithin("/code-2", "/code") && !isWithin("/", "/code") && !isWithin("/code/../x", "/code"));
});
