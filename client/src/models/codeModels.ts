/** Code models that are offered by name, as rows of "Select Model". Pure, so that it can be tested. */

import { written } from "../numbers";
import type { FoundModel } from "./finding";
import { size } from "./size";

/** The server's executeCommand: lists the code models that are offered. */
export const CODE_MODELS = "counterlens.codeModels";
/** The server's executeCommand: downloads one of them. */
export const FETCH_MODEL = "counterlens.fetchModel";

export interface CodeModel {
  /** Its id, also the value of the model setting. */
  id: string;
  name: string;
  repository: string;
  licence: string;
  commercial: boolean;
  parameters: number;
  /** Approximate size. */
  bytes: number;
  /** Prefixes, in lower case, of the names of other programs' files or of an Ollama name. */
  alsoKnown: string[];
  /** The path of the downloaded file; empty if it is not on this machine. */
  path: string;
  /** Approximate speed on this machine in tokens per second; null if unknown. */
  speed?: number | null;
  /** Whether the speed was measured; else it is estimated. */
  measured?: boolean;
}

/** The offered models, and the one that is asked if the settings name none. */
export interface CodeModels {
  models: CodeModel[];
  byDefault: string;
}

export interface FetchedModel {
  ok: boolean;
  error: string;
  hint: string;
  cancelled: boolean;
}

export interface CodeModelRow {
  kind: "model" | "fetch";
  label: string;
  description: string;
  detail: string;
  sets: Record<string, string>;
  /** Id of the model to download. */
  id: string;
}

/**
 * @param chosen the model of the settings
 * @param found files of other programs, some of which may be offered models
 */
export function codeModelRows(models: CodeModel[], found: FoundModel[], chosen: string): CodeModelRow[] {
  return models.map((model) => {
    const other = found.find((file) => isSame(model, file));
    const here = model.path !== "" || other !== undefined;
    const spec = model.path === "" && other ? other.spec : model.id;
    return {
      kind: here ? "model" : "fetch",
      label: model.name,
      description: [facts(model), spec === chosen ? "chosen" : ""].filter(Boolean).join(" · "),
      detail: [speed(model), where(model, other)].filter(Boolean).join(" "),
      sets: { model: spec },
      id: model.id,
    };
  });
}

/** Whether a file of another program is this model, in any quantization. */
export function isSame({ alsoKnown }: CodeModel, { name }: FoundModel): boolean {
  return alsoKnown.some((known) => name.toLowerCase().startsWith(known));
}

function facts({ licence, commercial, bytes }: CodeModel): string {
  const allowed = commercial ? licence : `${licence}: no commercial use`;
  return [allowed, `about ${size(bytes)}`].join(" · ");
}

function where({ path, repository }: CodeModel, other: FoundModel | undefined): string {
  if (path) return "On this machine.";
  if (other) return `On this machine: ${other.place}, ${other.path}.`;
  return `Downloaded from the Hugging Face hub (${repository}) or the Python registry; none of your code is sent.`;
}

function speed({ speed: tokens, measured }: CodeModel): string {
  if (tokens === null || tokens === undefined) return "";
  const shown = written(tokens, tokens < 10 ? 1 : 0);
  if (measured) return `${shown} tokens/s here.`;
  return `About ${shown} tokens/s here, estimated by size from the embedded model's speed.`;
}
