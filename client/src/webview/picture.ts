/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** The script of the diagram's page: shows data from the extension, and sends the user's choices. */

import type { Measure } from "../diagram/layout";
import type { Diagram, Greeting, News, PageMessage } from "../diagram/messages";
import { showDetails, showLegend } from "./aside";
import { Scene } from "./scene";
import { Viewport } from "./viewport";

declare function acquireVsCodeApi(): {
  postMessage(message: PageMessage): void;
  getState(): SavedState | undefined;
  setState(kept: SavedState): void;
};

/** State that is kept while the page is hidden. */
interface SavedState {
  open: string[];
  closed: string[];
  all: boolean;
  scale: number | undefined;
  indented: boolean | undefined;
}

const host = acquireVsCodeApi();
const byId = <Kind extends Element = HTMLElement>(id: string) =>
  document.getElementById(id) as unknown as Kind;
const svg = byId<SVGSVGElement>("picture");
const viewport = new Viewport(
  byId("scroller"),
  (scale) => scene.scaled(scale),
  () => scene.resized(),
);
const scene: Scene = new Scene(svg, viewport, measure);
const turn = document.querySelector("[data-action=indent]");
/** These buttons are disabled for tokens, which have nothing to unfold. */
const ofTrees = document.querySelectorAll<HTMLButtonElement>("[data-action$=fold], [data-action=indent]");
let hovered: number | undefined;

/** Measures text in the fonts of hidden elements of the page, since fonts depend on the theme and the user. */
function measure(): Measure {
  const canvas = document.createElement("canvas").getContext("2d");
  const fontOf = (name: string) => {
    const { fontFamily, fontSize, fontWeight } = getComputedStyle(byId(`font-${name}`));
    return `${fontWeight} ${fontSize} ${fontFamily}`;
  };
  const fonts = { head: fontOf("head"), figure: fontOf("figure"), code: fontOf("code") };
  return (text, font) => {
    if (!canvas) return 7 * text.length;
    canvas.font = fonts[font];
    return canvas.measureText(text).width;
  };
}

/** Updates everything beside the diagram. */
function update(): void {
  const { diagram } = scene;
  const row = hovered ?? (scene.hasFocus ? scene.focused : undefined) ?? scene.marked ?? scene.focused;
  showDetails(row === undefined ? undefined : diagram?.rows[row], diagram);
  const { drawn, all } = scene.counts;
  const left = diagram?.truncated ?? 0;
  const said = [
    ...(drawn < all ? [`${drawn} of ${all} nodes are shown.`] : []),
    ...(left > 0 ? [`${left} more rows are not shown.`] : []),
  ];
  byId("limits").textContent = said.join(" ");
  const { open, closed, all: everything } = scene.folding;
  const { indented, isTurned } = scene;
  turn?.setAttribute("aria-pressed", String(isTurned));
  for (const tool of ofTrees) tool.disabled = diagram?.view === "sequence";
  host.setState({ open: [...open], closed: [...closed], all: everything, scale: viewport.chosen, indented });
}

// User input.

function rowOf(target: EventTarget | null): number | undefined {
  const group = target instanceof Element ? target.closest<SVGGElement>("[data-row]") : null;
  return group ? Number(group.dataset.row) : undefined;
}

/** Reveals a row's code, unless the diagram is stale: then its positions are wrong, as the status says. */
function reveal(row: number, go: boolean): void {
  if (!scene.diagram || document.body.dataset.condition !== "ready") return;
  scene.select(row, false);
  host.postMessage({ action: "reveal", id: scene.diagram.id, row, go });
}

svg.addEventListener("click", ({ target }) => {
  const row = rowOf(target);
  if (row === undefined) return;
  const folds = target instanceof Element && target.closest(".fold");
  if (folds) scene.fold([row], !scene.isOpen(row));
  scene.focus(row);
  if (!folds) reveal(row, false);
  update();
});
svg.addEventListener("dblclick", ({ target }) => {
  const row = rowOf(target);
  if (row !== undefined && !(target instanceof Element && target.closest(".fold"))) reveal(row, true);
});
for (const event of ["mouseover", "mouseleave"] as const) {
  svg.addEventListener(event, ({ type, target }) => {
    hovered = type === "mouseover" ? rowOf(target) : undefined;
    update();
  });
}
svg.addEventListener("focusin", ({ target }) => {
  scene.stopAt(rowOf(target) ?? scene.focused);
  update();
});
svg.addEventListener("keydown", (event) => {
  const row = rowOf(event.target);
  const command = event.ctrlKey || event.metaKey;
  if (row === undefined || event.altKey) return;
  if (event.key === "Enter" || (event.key === " " && !command)) reveal(row, command);
  else if (command || !scene.press(row, event.key)) return;
  event.preventDefault();
  update();
});

const TOOLS: Record<string, () => void> = {
  indent: () => scene.turn(),
  in: () => viewport.zoom(1.25),
  out: () => viewport.zoom(0.8),
  fit: () => viewport.fit(),
  unfold: () => scene.unfoldAll(),
  fold: () => scene.foldAll(),
};
const KEYS: Record<string, string> = { "+": "in", "-": "out", "0": "fit" };

function use(tool: string | undefined): void {
  TOOLS[tool ?? ""]?.();
  update();
}
document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-action]") : null;
  if (button) use(button.dataset.action);
});
document.addEventListener("keydown", ({ key, ctrlKey, metaKey, altKey }) => {
  if (!ctrlKey && !metaKey && !altKey && KEYS[key]) use(KEYS[key]);
});
document.addEventListener("change", ({ target }) => {
  if (target instanceof HTMLInputElement) {
    host.postMessage({ action: target.name, value: target.value } as PageMessage);
  }
});

// Messages from the extension.

function greet({ view, scope }: Greeting): void {
  for (const choice of document.querySelectorAll<HTMLInputElement>("input[type=radio]")) {
    choice.checked = choice.value === (choice.name === "view" ? view : scope);
  }
}

function show(diagram: Diagram | undefined, selected: number | undefined): void {
  const { diagram: before } = scene;
  svg.toggleAttribute("hidden", !diagram);
  byId("foot").hidden = !diagram;
  hovered = undefined;
  if (before && (before.title !== diagram?.title || before.view !== diagram.view)) viewport.reset();
  if (diagram) showLegend(diagram);
  scene.show(diagram, selected);
}

window.addEventListener("message", ({ data }: MessageEvent<News | Greeting>) => {
  if ("scope" in data) greet(data);
  if (data.condition) document.body.dataset.condition = data.condition;
  const status = byId("status");
  if (data.status !== undefined && status.textContent !== data.status) status.textContent = data.status;
  const selected = data.selected ?? undefined;
  if (data.diagram !== undefined) show(data.diagram ?? undefined, selected);
  else if (data.selected !== undefined) scene.select(selected, true);
  update();
});

const kept = host.getState();
if (kept) {
  scene.folding = { open: new Set(kept.open), closed: new Set(kept.closed), all: kept.all };
  scene.indented = kept.indented;
  if (kept.scale) viewport.choose(kept.scale);
}
host.postMessage({ action: "ready" });
