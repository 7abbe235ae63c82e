import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import test, { after } from "node:test";
import { create, hasCompiler, type SetupError } from "../../client/src/install/create";
import { graphics } from "../../client/src/install/graphics";
import { onlyOne } from "../../client/src/install/onlyOne";
import { processor } from "../../client/src/install/processor";
import { digestOf, PREBUILT_INDEX, readProgress, steps, writeProgress } from "../../client/src/install/steps";

const made: string[] = [];
after(() => {
  for (const root of made) fs.rmSync(root, { recursive: true });
});

function folders() {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "counterlens-install-"));
  made.push(root);
  const source = path.join(root, "source");
  fs.mkdirSync(source);
  fs.writeFileSync(path.join(source, "counterlens-1-py3-none-any.whl"), "");
  for (const name of ["uv", "runtime", "engine", "model"])
    fs.writeFileSync(path.join(source, `${name}.txt`), "");
  return { root, source, folder: path.join(root, "environment") };
}

const watcher = (signal = new AbortController().signal) => ({ step: () => {}, said: () => {}, signal });

test("everything but the server's own wheel and a ready-made engine is checked against the lock's hashes", () => {
  const { source, folder } = folders();
  const recipe = { base: "python3", source, folder };
  const unchecked = (engine: "compile" | "prebuilt" | "none") =>
    steps({ ...recipe, engine }, false)
      .filter(({ args }) => !args.includes("--require-hashes"))
      .map(({ name }) => name);
  assert.deepEqual(unchecked("compile"), ["environment", "server"]);
  assert.deepEqual(unchecked("prebuilt"), ["environment", "server", "engine"]);
  assert.deepEqual(unchecked("none"), ["environment", "server"]);
});

test("the author's index is asked only for a ready-made engine, which is never compiled", () => {
  const { source, folder } = folders();
  for (const engine of ["compile", "prebuilt", "none"] as const) {
    const all = steps({ base: "python3", source, folder, engine }, false);
    assert.equal(
      all.some(({ args }) => args.includes(PREBUILT_INDEX)),
      engine === "prebuilt",
    );
    assert.equal(
      all.some(({ name }) => name === "model" || name === "engine"),
      engine !== "none",
    );
  }
  const compiled = steps({ base: "python3", source, folder, engine: "compile" }, false).at(-1);
  assert.ok(compiled?.args.some((arg) => arg.endsWith(`COUNTERLENS_PROCESSOR=${processor()}`)));
  assert.ok(compiled?.args.some((arg) => arg.endsWith(`CMAKE_PROJECT_INCLUDE=${source}/engine.cmake`)));
});

test("the steps after those that were done are run, and a failure says what the program said", async () => {
  const { source, folder } = folders();
  // The environment is said to be there, but is not: the next step cannot begin.
  const progress = { digest: digestOf(source), base: "python3", engine: "none" as const, complete: false };
  writeProgress(folder, { ...progress, done: ["environment"] });
  const seen: string[] = [];
  const recipe = { base: "python3", source, folder, engine: "none" as const };
  await assert.rejects(
    create(recipe, { ...watcher(), step: ({ name }) => seen.push(name) }),
    (error: SetupError) => error.trouble === "failed" && /ENOENT/.test(error.message),
  );
  assert.deepEqual(seen, ["installer"]);
  assert.deepEqual(readProgress(folder)?.done, ["environment"]);
});

test("what was begun from other files is made anew", async () => {
  const { source, folder } = folders();
  fs.mkdirSync(folder);
  const old = { digest: "of another version", base: "false", engine: "none" as const, complete: true };
  writeProgress(folder, { ...old, done: ["environment", "installer", "packages", "server"] });
  const recipe = { base: "false", source, folder, engine: "none" as const };
  await assert.rejects(create(recipe, watcher()), /creating an environment failed/);
  assert.deepEqual(readProgress(folder)?.done, []);
});

test("an installer reads nothing of the folder that the editor was started in", async () => {
  const { root, source, folder } = folders();
  const seen = path.join(root, "seen");
  const base = path.join(root, "base");
  fs.writeFileSync(base, `#!/bin/sh\n(pwd; echo "$@"; env) > ${seen}\nexit 1\n`, { mode: 0o755 });
  Object.assign(process.env, { PYTHONPATH: "/code", PYTHONSTARTUP: "/code/x.py", PYTHONUSERBASE: "/code" });
  try {
    await assert.rejects(
      create({ base, source, folder, engine: "none" }, watcher()),
      /creating an environment/,
    );
  } finally {
    for (const name of ["PYTHONPATH", "PYTHONSTARTUP", "PYTHONUSERBASE"]) delete process.env[name];
  }
  const [cwd, args, ...environment] = fs.readFileSync(seen, "utf8").split("\n");
  assert.equal(cwd, fs.realpathSync(source)); // uv reads the uv.toml and pyproject.toml of its folder
  assert.equal(args, `-I -m venv ${folder}`);
  assert.deepEqual(
    environment.filter((line) => /^PYTHON(PATH|STARTUP|USERBASE)=/.test(line)),
    [],
  );
  const [, installer] = steps({ base, source, folder, engine: "none" }, false);
  assert.deepEqual(installer?.args.slice(0, 3), ["-I", "-m", "pip"]);
});

test("cancelling ends the installer at once, and what was done is kept", async () => {
  const { root, source, folder } = folders();
  const slow = path.join(root, "slow");
  fs.writeFileSync(slow, "#!/bin/sh\nsleep 60 & wait\n", { mode: 0o755 });
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 300);
  const began = Date.now();
  await assert.rejects(
    create({ base: slow, source, folder, engine: "none" }, watcher(abort.signal)),
    (error: SetupError) => error.trouble === "cancelled",
  );
  assert.ok(Date.now() - began < 20_000);
});

test("one process at a time; one that was killed holds nobody up", () => {
  const { root } = folders();
  const file = path.join(root, "lock");
  const release = onlyOne(file);
  assert.ok(release);
  assert.equal(onlyOne(file), undefined);
  release();
  fs.writeFileSync(file, "999999999"); // no such process
  const again = onlyOne(file);
  assert.ok(again);
  again();
  fs.writeFileSync(file, String(process.pid));
  const longAgo = new Date(Date.now() - 3_600_000);
  fs.utimesSync(file, longAgo, longAgo); // its number was given to another process
  const third = onlyOne(file);
  assert.ok(third);
  third();
});

test("an engine for the graphics processor is compiled with the back end of the machine", () => {
  const { source, folder, root } = folders();
  const [plain, gpu] = (["compile", "gpu"] as const).map(
    (engine) => steps({ base: "python3", source, folder, engine }, false).at(-1)?.args ?? [],
  );
  const added = gpu?.filter((arg) => !plain?.includes(arg));
  assert.deepEqual(added, [
    `--config-settings-package=llama-cpp-python:cmake.define.${graphics().option}=ON`,
  ]);
  assert.ok(plain?.includes("--reinstall-package"), "the same version of another build is replaced");
  assert.equal(graphics("darwin", { PATH: root }).option, "GGML_METAL");
  assert.deepEqual(graphics("linux", { PATH: root }), { option: "GGML_VULKAN", compiler: "glslc" });
  fs.writeFileSync(path.join(root, "nvcc"), "");
  assert.deepEqual(graphics("linux", { PATH: `/nowhere:${root}` }), {
    option: "GGML_CUDA",
    compiler: "nvcc",
  });
});

test("what compiles for the graphics processor is required before anything is downloaded", async () => {
  const { root, source, folder } = folders();
  const before = process.env.PATH;
  process.env.PATH = root;
  fs.writeFileSync(path.join(root, "g++"), "");
  try {
    const making = create({ base: "python3", source, folder, engine: "gpu" }, watcher());
    await assert.rejects(making, { trouble: "graphics", message: /needs glslc/ });
  } finally {
    process.env.PATH = before;
  }
});

test("a compiler is what CXX names, or one on the PATH", () => {
  const { root } = folders();
  assert.ok(hasCompiler({ CXX: "/opt/c++" }));
  assert.ok(!hasCompiler({ PATH: root }));
  fs.writeFileSync(path.join(root, "g++"), "");
  assert.ok(hasCompiler({ PATH: `/nowhere:${root}` }));
});
