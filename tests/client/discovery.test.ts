import assert from "node:assert/strict";
import test from "node:test";
import { candidates, pythonOf, type Surroundings } from "../../client/src/install/discovery";

function around(some: Partial<Surroundings> & { files?: string[] }): Surroundings {
  const { files = [], ...rest } = some;
  return {
    setting: "",
    trusted: true,
    folders: ["/code"],
    home: "/home/me",
    searchPath: "/usr/local/bin:/usr/bin",
    windows: false,
    exists: (file) => files.includes(file),
    environmentsExtension: async () => undefined,
    pythonExtension: async () => undefined,
    ...rest,
  };
}

const paths = async (some: Parameters<typeof around>[0]) =>
  (await candidates(around(some))).map(({ path }) => path);

test("the setting alone is tried when it is set, with its variables expanded", async () => {
  const files = ["/code/.venv/bin/python", "/usr/bin/python3"];
  assert.deepEqual(await paths({ setting: " /opt/python ", files }), ["/opt/python"]);
  assert.deepEqual(await paths({ setting: "~/env/bin/python", files }), ["/home/me/env/bin/python"]);
  assert.deepEqual(await paths({ setting: "$" + "{workspaceFolder}/p", files }), ["/code/p"]);
  assert.deepEqual(await paths({ setting: "env/bin/python", files }), ["/code/env/bin/python"]);
  assert.deepEqual(await paths({ setting: "python3.12", files }), ["python3.12"]);
});

test("the workspace's environment, then the extensions' choices, then the PATH; each once", async () => {
  const found = await candidates(
    around({
      files: [
        "/code/.venv/bin/python",
        "/usr/bin/python3",
        "/usr/bin/python3.12",
        "/usr/local/bin/python3.12",
      ],
      environmentsExtension: async () => "/envs/a/bin/python",
      pythonExtension: async () => "/usr/bin/python3",
    }),
  );
  assert.deepEqual(
    found.map(({ path, origin }) => [path, origin]),
    [
      ["/code/.venv/bin/python", "the workspace's .venv"],
      ["/envs/a/bin/python", "the Python Environments extension"],
      ["/usr/bin/python3", "the Python extension"],
      ["/usr/local/bin/python3.12", "PATH"],
    ],
  );
});

test("in an untrusted workspace only the PATH is searched, and no other extension is asked", async () => {
  const asked = async () => assert.fail("asked");
  const some = { trusted: false, environmentsExtension: asked, pythonExtension: asked };
  const files = ["/code/.venv/bin/python", "/usr/bin/python3"];
  assert.deepEqual(await paths({ ...some, files }), ["/usr/bin/python3"]);
});

test("relative folders of the PATH are not searched: they would be the workspace's", async () => {
  const files = ["bin/python3", "./python3", "/usr/bin/python3"];
  assert.deepEqual(await paths({ searchPath: ".:bin:/usr/bin", files }), ["/usr/bin/python3"]);
  assert.deepEqual(await paths({ searchPath: "", files }), []);
});

test("an environment's interpreter", () => {
  assert.equal(pythonOf("/e", false), "/e/bin/python");
  assert.match(pythonOf("/e", true), /Scripts.python\.exe$/);
});

test("in an untrusted workspace neither the setting nor the PATH names an interpreter of the workspace", async () => {
  const files = ["/code/.venv/bin/python3", "/usr/bin/python3"];
  const searchPath = "/code/.venv/bin:/usr/bin";
  for (const setting of ["", "python3", ".venv/bin/python3", "/code/.venv/bin/python3"]) {
    assert.deepEqual(await paths({ trusted: false, setting, searchPath, files }), ["/usr/bin/python3"]);
  }
  assert.deepEqual(await paths({ searchPath, files }), ["/code/.venv/bin/python3"]);
});
