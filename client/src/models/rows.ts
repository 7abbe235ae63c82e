/** The rows of "Select Model". Pure, so that it can be tested. */

import { type CodeModel, type CodeModelRow, codeModelRows, isSame } from "./codeModels";
import type { FoundModel } from "./finding";
import { size } from "./size";

/** A row of the list: a heading, a model with the settings to write, or another action. */
export type ModelRow =
  | { kind: "heading"; label: string }
  | { kind: "model"; label: string; description: string; detail: string; sets: Record<string, string> }
  | CodeModelRow
  | { kind: "browse" | "connect" | "test"; label: string; detail: string };

/** The values in the settings, of all scopes in which the user may have set them. */
export interface Known {
  model: string;
  embedded: string;
  endpoints: Endpoint[];
}

export interface Endpoint {
  baseUrl: string;
  model: string;
}

/** A model that the editor offers to its extensions. */
export interface OfferedModel {
  id: string;
  name: string;
  vendor: string;
}

/** Prefix of such a model's name in the setting. */
const OFFERED = "editor:";

export function modelRows(
  { model, embedded, endpoints }: Known,
  found: FoundModel[],
  offered: OfferedModel[] = [],
  codeModels: CodeModel[] = [],
): ModelRow[] {
  const chosen = (isChosen: boolean) => (isChosen ? "chosen" : "");
  const code = codeModelRows(codeModels, found, model);
  const others = found.filter((file) => !codeModels.some((one) => isSame(one, file)));
  const listed =
    code.some(({ sets }) => sets.model === model) ||
    found.some(({ spec }) => spec === model) ||
    offered.some(({ id }) => `${OFFERED}${id}` === model);
  const other = model !== embedded && !model.startsWith("remote") && !listed;
  return [
    { kind: "heading", label: "on this machine" },
    {
      kind: "model",
      label: "Embedded",
      description: chosen(model === embedded),
      detail: "SmolLM2-135M-Instruct: small and quick, comes with Counterlens.",
      sets: { model: embedded },
    },
    ...(other
      ? [
          {
            kind: "model" as const,
            label: model,
            description: "chosen",
            detail: "From the settings.",
            sets: { model },
          },
        ]
      : []),
    ...(code.length > 0 ? [{ kind: "heading" as const, label: "code models, on this machine" }] : []),
    ...code,
    ...(code.length > 0 ? [{ kind: "heading" as const, label: "other files" }] : []),
    ...others.map(
      ({ path, spec, name, place, bytes }): ModelRow => ({
        kind: "model",
        label: name,
        description: [size(bytes), place, chosen(spec === model)].filter(Boolean).join(" · "),
        detail: path,
        sets: { model: spec },
      }),
    ),
    {
      kind: "browse",
      label: "Model File…",
      detail: "A GGUF file, or the ONNX file of an exported model.",
    },
    { kind: "heading", label: "on a server: your code is sent there" },
    ...once(endpoints).map(
      ({ baseUrl, model: name }, index): ModelRow => ({
        kind: "model",
        label: name,
        description: chosen(index === 0 && model === "remote"),
        detail: baseUrl,
        sets: { "remote.baseUrl": baseUrl, "remote.model": name, model: "remote" },
      }),
    ),
    {
      kind: "connect",
      label: "Connect to a Server…",
      detail: "An OpenAI-compatible address, its models, a key.",
    },
    ...offeredRows(model, offered),
    { kind: "heading", label: "the chosen one" },
    {
      kind: "test",
      label: "Test Connection",
      detail: "Tests whether the model answers, and its capabilities.",
    },
  ];
}

function offeredRows(model: string, offered: OfferedModel[]): ModelRow[] {
  if (offered.length === 0) return [];
  const rows = offered.map(
    ({ id, name, vendor }): ModelRow => ({
      kind: "model",
      label: name,
      description: [vendor, `${OFFERED}${id}` === model && "chosen"].filter(Boolean).join(" · "),
      detail: "Its completions can be probed; it returns no scores.",
      sets: { model: `${OFFERED}${id}` },
    }),
  );
  return [{ kind: "heading", label: "from the editor: your code is sent to its provider" }, ...rows];
}

/** Complete endpoints, without duplicates, in their order. */
function once(endpoints: Endpoint[]): Endpoint[] {
  const known = new Map(
    endpoints
      .filter(({ baseUrl, model }) => baseUrl && model)
      .map((one) => [`${one.baseUrl}\n${one.model}`, one]),
  );
  return [...known.values()];
}
