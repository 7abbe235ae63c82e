/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** The script of the panels: sends clicks as messages, and highlights the arcs of the hovered or focused line. */

declare function acquireVsCodeApi(): { postMessage(message: object): void };

const host = acquireVsCodeApi();
const lines = [...document.querySelectorAll<HTMLButtonElement>(".listing button")];

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-action]") : null;
  if (!button) return;
  const { action, pair, line } = button.dataset;
  host.postMessage({ action, ...(pair && { pair: Number(pair) }), ...(line && { line: Number(line) }) });
});

/** Dims the arcs of other lines. */
function single(line: string | undefined): void {
  for (const arc of document.querySelectorAll<SVGGElement>(".arcs g")) {
    const own = line === undefined || arc.dataset.from === line || arc.dataset.to === line;
    arc.classList.toggle("faint", !own);
  }
}

function lineAt(target: EventTarget | null): string | undefined {
  return target instanceof Element
    ? target.closest<HTMLElement>(".listing [data-line]")?.dataset.line
    : undefined;
}

document.addEventListener("mouseover", ({ target }) => single(lineAt(target)));
document.addEventListener("focusin", ({ target }) => single(lineAt(target)));

/** Makes one line the only tab stop of the listing; the arrow keys move between lines. */
function stopAt(index: number, focus: boolean): void {
  lines.forEach((button, each) => {
    button.tabIndex = each === index ? 0 : -1;
  });
  if (focus) lines[index]?.focus();
}

document.querySelector(".listing")?.addEventListener("keydown", (event) => {
  if (!(event instanceof KeyboardEvent)) return;
  const at = lines.indexOf(document.activeElement as HTMLButtonElement);
  const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: lines.length - 1 }[event.key];
  if (at < 0 || to === undefined || to < 0 || to >= lines.length) return;
  event.preventDefault();
  stopAt(to, true);
});
stopAt(0, false);

/**
 * Adds or replaces a section. The server has escaped it, and the page's policy prevents its content from running
 * scripts.
 */
function put(id: string, html: string): void {
  const main = document.querySelector("main");
  let section = document.getElementById(id);
  if (!section) {
    section = document.createElement("section");
    section.id = id;
    section.setAttribute("aria-labelledby", `head-${id}`);
    main?.append(section);
  }
  const focused = document.activeElement;
  const held = focused instanceof HTMLElement && section.contains(focused) ? focused.dataset.jump : undefined;
  section.innerHTML = html;
  if (held) section.querySelector<HTMLElement>(`[data-jump="${CSS.escape(held)}"]`)?.focus();
}

/** Moves to the heading of a section, where a screen reader continues. */
function jump(id: string): void {
  const head = document.getElementById(`head-${id}`);
  head?.scrollIntoView();
  head?.focus({ preventScroll: true });
}

document.addEventListener("click", ({ target }) => {
  const to = target instanceof Element ? target.closest<HTMLElement>("[data-jump]")?.dataset.jump : undefined;
  if (to) jump(to);
});

interface Message {
  status?: string;
  sections?: [id: string, html: string][];
  disabled?: string[];
}

window.addEventListener("message", ({ data }: MessageEvent<Message>) => {
  for (const [id, html] of data.sections ?? []) put(id, html);
  for (const button of document.querySelectorAll<HTMLButtonElement>("[role=toolbar] button")) {
    if (data.disabled) button.disabled = data.disabled.includes(button.dataset.action ?? "");
  }
  const status = document.getElementById("status");
  if (status && data.status !== undefined && status.textContent !== data.status) {
    status.textContent = data.status;
  }
});
host.postMessage({ action: "ready" });
