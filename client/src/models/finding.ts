/** Models on this machine in the usual places: GGUF files, and folders exported to ONNX. Pure. */

import type { Dirent } from "node:fs";
import { open, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";

export interface FoundModel {
  path: string;
  /** Value of the model setting: the path, or `onnx:` and the path. */
  spec: string;
  /** Display name. */
  name: string;
  /** The program or folder that the model belongs to. */
  place: string;
  bytes: number;
}

export interface Place {
  name: string;
  folder: string;
  /** Maximum depth of folders below it that are searched. */
  depth: number;
}

/** Maximum number of entries that are read in all places together. */
const MOST_ENTRIES = 20_000;
const MOST_FOUND = 200;
const MAGIC = "GGUF";
const SKIPPED = new Set(["node_modules", "__pycache__"]);
/** File names of ONNX graphs, in the order of preference of the server's `models/onnx/export.py`. */
const GRAPHS = ["model.onnx", "decoder_model_merged.onnx", "decoder_model.onnx"];
const BESIDE_GRAPH = ["config.json", "tokenizer.json"];
const OLLAMA_MODEL = "application/vnd.ollama.image.model";

/** The folders that usually contain models. */
export function usualPlaces(home: string, environment: Record<string, string | undefined>): Place[] {
  const cache = environment.XDG_CACHE_HOME || path.join(home, ".cache");
  const hub =
    environment.HF_HUB_CACHE || path.join(environment.HF_HOME || path.join(cache, "huggingface"), "hub");
  return [
    { name: "Hugging Face cache", folder: hub, depth: 5 },
    { name: "LM Studio", folder: path.join(home, ".lmstudio", "models"), depth: 3 },
    { name: "LM Studio", folder: path.join(cache, "lm-studio", "models"), depth: 3 },
    {
      name: "llama.cpp cache",
      folder: environment.LLAMA_CACHE || path.join(cache, "llama.cpp"),
      depth: 3,
    },
    { name: "~/models", folder: path.join(home, "models"), depth: 4 },
    { name: "Downloads", folder: path.join(home, "Downloads"), depth: 0 },
  ];
}

/** All models in some places, without duplicates; unreadable files are left out. */
export async function findModels(places: Place[], cancelled: () => boolean): Promise<FoundModel[]> {
  const found = new Map<string, FoundModel>();
  const budget = { entries: MOST_ENTRIES };
  for (const place of places) {
    const all = await files(place.folder, place.depth, budget, cancelled);
    const candidates = [
      ...all.filter(isGguf).map((file) => () => looked(file, path.basename(file, ".gguf"), place.name)),
      ...exportFolders(all).map((folder) => () => exported(folder, all, place.name)),
    ];
    for (const look of candidates) {
      if (found.size >= MOST_FOUND || cancelled()) return [...found.values()];
      const model = await look();
      if (model && !found.has(model.path)) found.set(model.path, model);
    }
  }
  return [...found.values()];
}

/** Finds Ollama's models: plain GGUF files named by their hash, with manifests that give the models' names. */
export async function findOllamaModels(
  home: string,
  environment: Record<string, string | undefined>,
): Promise<FoundModel[]> {
  const folder = environment.OLLAMA_MODELS || path.join(home, ".ollama", "models");
  const root = path.join(folder, "manifests");
  const found: FoundModel[] = [];
  for (const manifest of await files(root, 5, { entries: 2000 }, () => false)) {
    const digest = await modelDigest(manifest);
    if (!digest) continue;
    const [, ...parts] = path.relative(root, manifest).split(path.sep);
    const named = parts[0] === "library" ? parts.slice(1) : parts;
    const name = `${named.slice(0, -1).join("/")}:${named.at(-1)}`;
    const model = await looked(path.join(folder, "blobs", digest.replace(":", "-")), name, "Ollama");
    if (model) found.push(model);
  }
  return found;
}

async function modelDigest(manifest: string): Promise<string | undefined> {
  try {
    const { layers } = JSON.parse(await readFile(manifest, "utf8"));
    const digest = layers.find((layer: { mediaType?: string }) => layer.mediaType === OLLAMA_MODEL)?.digest;
    return typeof digest === "string" && /^sha256:[0-9a-f]{64}$/.test(digest) ? digest : undefined;
  } catch {
    return undefined; // not a manifest
  }
}

type Budget = { entries: number };

function isGguf(file: string): boolean {
  return /\.gguf$/i.test(file) && !isNoModel(path.basename(file));
}

/**
 * Folders with all files of an exported model. The graph is in the folder itself, or in its `onnx` folder as on the
 * hub.
 */
function exportFolders(all: string[]): string[] {
  const there = new Set(all);
  const folders = all
    .filter((file) => GRAPHS.includes(path.basename(file)))
    .map((file) => path.dirname(file))
    .map((folder) =>
      path.basename(folder) === "onnx" && !there.has(path.join(folder, "config.json"))
        ? path.dirname(folder)
        : folder,
    );
  return [...new Set(folders)].filter((folder) =>
    BESIDE_GRAPH.every((name) => there.has(path.join(folder, name))),
  );
}

/** An exported model, with the size of its graph and of the weights beside it. */
async function exported(folder: string, all: string[], place: string): Promise<FoundModel | undefined> {
  const graphs = GRAPHS.flatMap((name) => [path.join(folder, name), path.join(folder, "onnx", name)]);
  const graph = graphs.find((file) => all.includes(file));
  if (!graph) return undefined;
  let bytes = 0;
  try {
    const parts = all.filter((file) => file.startsWith(`${graph}_data`) || file.startsWith(`${graph}.data`));
    for (const file of [graph, ...parts]) bytes += (await stat(file)).size;
  } catch {
    return undefined; // deleted, or a broken link
  }
  const cached = /models--(.+?)--(.+?)[\\/]snapshots[\\/]/.exec(`${folder}${path.sep}`);
  const name = cached ? `${cached[1]}/${cached[2]}` : path.basename(folder);
  return { path: folder, spec: `onnx:${folder}`, name, place, bytes };
}

/** Whether a file is an image projector, only a vocabulary, or a part other than the first of a split model. */
function isNoModel(name: string): boolean {
  const part = /-(\d{5})-of-\d{5}\.gguf$/i.exec(name)?.[1];
  return /mmproj|^ggml-vocab/i.test(name) || (part !== undefined && part !== "00001");
}

/** The files of a folder, down to a depth. Links to files are followed, links to folders are not. */
async function files(
  folder: string,
  depth: number,
  budget: Budget,
  cancelled: () => boolean,
): Promise<string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch {
    return []; // missing or unreadable
  }
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
    if (budget.entries-- <= 0 || cancelled()) break;
    const here = path.join(folder, entry.name);
    if (entry.isFile() || entry.isSymbolicLink()) found.push(here);
    else if (entry.isDirectory() && depth > 0 && !SKIPPED.has(entry.name)) {
      found.push(...(await files(here, depth - 1, budget, cancelled)));
    }
  }
  return found;
}

/** A model, if the file starts like a GGUF file. */
async function looked(file: string, name: string, place: string): Promise<FoundModel | undefined> {
  try {
    const { size } = await stat(file);
    const handle = await open(file);
    try {
      const { buffer } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
      return buffer.toString("latin1") === MAGIC
        ? { path: file, spec: file, name, place, bytes: size }
        : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}
