import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";
import { type CodeModel, codeModelRows } from "../../client/src/models/codeModels";
import { findModels, findOllamaModels, usualPlaces } from "../../client/src/models/finding";
import { type ModelRow, modelRows } from "../../client/src/models/rows";
import { size } from "../../client/src/models/size";
import { trialRows } from "../../client/src/models/trialRows";
import type { TestedModel } from "../../client/src/protocol";
import { proxyEnvironment } from "../../client/src/proxy";

const home = mkdtempSync(path.join(tmpdir(), "counterlens-models-"));
after(() => rmSync(home, { recursive: true }));

function write(name: string, content = "GGUF and more"): string {
  const file = path.join(home, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const never = () => false;

test("models are found where programs keep them, links too, and nothing that only looks like one", async () => {
  const blob = write(".cache/huggingface/hub/models--a--b/blobs/0123");
  const linked = path.join(home, ".cache/huggingface/hub/models--a--b/snapshots/1/code.gguf");
  mkdirSync(path.dirname(linked), { recursive: true });
  symlinkSync(blob, linked);
  const studio = write(".lmstudio/models/owner/repo/big-00001-of-00002.gguf");
  write(".lmstudio/models/owner/repo/big-00002-of-00002.gguf");
  write(".lmstudio/models/owner/repo/mmproj-big.gguf");
  write("models/text.gguf", "no model");
  write("models/a/b/c/d/e/too-deep.gguf");
  const found = await findModels(usualPlaces(home, {}), never);
  assert.deepEqual(
    found.map(({ path: file, name, place }) => [file, name, place]),
    [
      [linked, "code", "Hugging Face cache"],
      [studio, "big-00001-of-00002", "LM Studio"],
    ],
  );
  assert.deepEqual(await findModels(usualPlaces(home, {}), () => true), []);
  assert.deepEqual(
    await findModels([{ name: "none", folder: path.join(home, "none"), depth: 9 }], never),
    [],
  );
});

test("exported models are folders, with their graph inside or below, and with all that they need", async () => {
  const folder = path.join(home, "exports");
  write("exports/bert/config.json", "{}");
  write("exports/bert/tokenizer.json", "{}");
  write("exports/bert/model.onnx", "graph");
  write("exports/bert/model.onnx_data", "weights");
  write("exports/half/config.json", "{}");
  write("exports/half/model.onnx", "graph");
  const cached = "exports/models--owner--repo/snapshots/12";
  write(`${cached}/config.json`, "{}");
  write(`${cached}/tokenizer.json`, "{}");
  write(`${cached}/onnx/model.onnx`, "graph");
  const found = await findModels([{ name: "here", folder, depth: 5 }], never);
  assert.deepEqual(
    found.map(({ spec, name, bytes }) => [spec, name, bytes]),
    [
      [`onnx:${path.join(folder, "bert")}`, "bert", 12],
      [`onnx:${path.join(home, cached)}`, "owner/repo", 5],
    ],
  );
});

test("Ollama's models have the names of its manifests", async () => {
  const hash = "ab".repeat(32);
  const blob = write(`.ollama/models/blobs/sha256-${hash}`);
  const layer = { mediaType: "application/vnd.ollama.image.model", digest: `sha256:${hash}` };
  write(
    ".ollama/models/manifests/registry.ollama.ai/library/coder/1b",
    JSON.stringify({ layers: [{ mediaType: "other", digest: "x" }, layer] }),
  );
  write(".ollama/models/manifests/registry.ollama.ai/me/evil/latest", '{"layers":[{"digest":"../../x"}]}');
  write(".ollama/models/manifests/registry.ollama.ai/library/broken/1b", "no json");
  const found = await findOllamaModels(home, {});
  assert.deepEqual(
    found.map(({ path: file, name, place }) => [file, name, place]),
    [[blob, "coder:1b", "Ollama"]],
  );
});

const models = (rows: ModelRow[]) => rows.flatMap((row) => (row.kind === "model" ? [row] : []));
const known = { model: "embedded", embedded: "embedded", endpoints: [] };
const file = { path: "/m/a.gguf", spec: "/m/a.gguf", name: "a", place: "~/models", bytes: 2_400_000_000 };

test("what is chosen is marked, and choosing says what is written", () => {
  const rows = models(modelRows({ ...known, model: file.path }, [file]));
  assert.deepEqual(
    rows.map(({ label, description }) => [label, description]),
    [
      ["Embedded", ""],
      ["a", "2.4 GB · ~/models · chosen"],
    ],
  );
  assert.deepEqual(rows[1]?.sets, { model: file.path });
  const elsewhere = models(modelRows({ ...known, model: "hf:a/b/c.gguf" }, [file]));
  assert.deepEqual([elsewhere[1]?.label, elsewhere[1]?.description], ["hf:a/b/c.gguf", "chosen"]);
});

test("endpoints of the settings are offered once each, incomplete ones not", () => {
  const one = { baseUrl: "http://localhost:8000/v1", model: "coder" };
  const endpoints = [one, one, { baseUrl: "", model: "x" }, { ...one, model: "other" }];
  const rows = models(modelRows({ ...known, model: "remote", endpoints }, []));
  assert.deepEqual(
    rows.map(({ label, description }) => [label, description]),
    [
      ["Embedded", ""],
      ["coder", "chosen"],
      ["other", ""],
    ],
  );
  assert.deepEqual(rows[1]?.sets, {
    "remote.baseUrl": one.baseUrl,
    "remote.model": "coder",
    model: "remote",
  });
  assert.equal(size(12_000_000), "12 MB");
});

const tested: TestedModel = {
  ok: true,
  error: "",
  hint: "",
  reason: "",
  model: "m",
  where: "local",
  completion: " a + b\n",
  tokens: 12,
  seconds: 0.31,
  scores: true,
  way: "",
  embeds: true,
  context: 8192,
  details: [["engine", "llama.cpp"]],
};

test("a test says what can be asked, and what a missing ability costs", () => {
  const [answers, scores, embeds, where] = trialRows(tested);
  assert.match(answers?.detail ?? "", /12 tokens in 0\.3 s.*" a \+ b"/);
  assert.deepEqual([scores?.able, embeds?.able, where?.able], [true, true, null]);
  assert.match(where?.detail ?? "", /8,192 tokens of context · engine llama\.cpp/);
  const remote = trialRows({ ...tested, where: "example.org", scores: false, embeds: false, context: null });
  assert.match(remote[1]?.detail ?? "", /no overlay/);
  assert.equal(remote[2]?.able, false);
  assert.match(remote[3]?.label ?? "", /example\.org: your code is sent there/);
});

test("models of the editor stand apart, with where code goes; there is no heading without them", () => {
  const known = { model: "editor:copilot/x", embedded: "smollm2-135m", endpoints: [] };
  const rows = modelRows(known, [], [{ id: "copilot/x", name: "X", vendor: "copilot" }]);
  const at = rows.findIndex(({ label }) => label.startsWith("from the editor"));
  assert.match(rows[at]?.label ?? "", /your code is sent to its provider/);
  assert.deepEqual(rows[at + 1], {
    kind: "model",
    label: "X",
    description: "copilot · chosen",
    detail: "Its completions can be probed; it returns no scores.",
    sets: { model: "editor:copilot/x" },
  });
  assert.ok(modelRows(known, []).every(({ label }) => !label.startsWith("from the editor")));
});

const CODER: CodeModel = {
  id: "coder-1b",
  name: "Coder 1B",
  repository: "o/r",
  licence: "Some Licence",
  commercial: false,
  parameters: 1_240_000_000,
  bytes: 1_100_000_000,
  alsoKnown: ["coder-1b-instruct", "coder:1b"],
  path: "",
  speed: 7.26,
};

test("a code model says licence, size and expected speed, and is fetched where it is not here", () => {
  const [row] = codeModelRows([CODER], [], "embedded");
  assert.equal(row?.kind, "fetch");
  assert.equal(row?.description, "Some Licence: no commercial use · about 1.1 GB");
  assert.match(row?.detail ?? "", /^About 7\.3 tokens\/s here, .* hub \(o\/r\)/);
  const [unknown] = codeModelRows([{ ...CODER, speed: null, commercial: true }], [], CODER.id);
  assert.match(unknown?.description ?? "", /Some Licence · about 1\.1 GB · chosen$/);
  assert.doesNotMatch(unknown?.detail ?? "", /tokens/);
});

test("a code model that is here, fetched or of another program, is used as it is, and listed once", () => {
  const [fetched] = codeModelRows([{ ...CODER, path: "/hub/x.gguf" }], [], "");
  assert.deepEqual([fetched?.kind, fetched?.sets.model], ["model", CODER.id]);
  const ollama = {
    path: "/o/blobs/sha256-1",
    spec: "/o/blobs/sha256-1",
    name: "coder:1b",
    place: "Ollama",
    bytes: 1,
  };
  const studio = {
    path: "/l/Coder-1B-Instruct-Q8_0.gguf",
    spec: "/l/Coder-1B-Instruct-Q8_0.gguf",
    name: "Coder-1B-Instruct-Q8_0",
    place: "LM Studio",
    bytes: 1,
  };
  for (const other of [ollama, studio]) {
    const [row] = codeModelRows([CODER], [other], "");
    assert.deepEqual([row?.kind, row?.sets.model], ["model", other.path]);
    assert.match(row?.detail ?? "", new RegExp(`On this machine: ${other.place}`));
    const rows = modelRows({ ...known, model: other.path }, [other, file], [], [CODER]);
    assert.deepEqual(
      rows.filter(({ kind }) => kind === "model").map(({ label }) => label),
      ["Embedded", "Coder 1B", "a"],
    );
  }
});

test("the editor's proxy is passed on, unless the environment names one", () => {
  const proxy = "http://proxy.example:3128";
  assert.deepEqual(proxyEnvironment(proxy, {}), { HTTPS_PROXY: proxy });
  assert.deepEqual(proxyEnvironment(proxy, { https_proxy: "http://other.example" }), {});
  assert.deepEqual(proxyEnvironment("", {}), {});
});
