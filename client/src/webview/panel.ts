/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** In the panels: clicks become messages, and the line at the pointer or the keyboard shows its own arcs. */

declare function acquireVsCodeApi(): { postMessage(message: object): void };

const host = acquireVsCodeApi();
const lines = [...document.querySelectorAll<HTMLButtonElement>(".listing button")];

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-action]") : null;
  if (!button) return;
  const { action, pair, line } = button.dataset;
  host.postMessage({ action, ...(pair && { pair: Number(pair) }), ...(line && { line: Number(line) }) });
});

/** Arcs of other lines step back. */
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

/** One stop of the Tab key for the whole listing; the arrow keys go from line to line. */
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

window.addEventListener("message", ({ data }: MessageEvent<{ status?: string }>) => {
  const status = document.getElementById("status");
  if (status && data.status !== undefined) status.textContent = data.status;
});
host.postMessage({ action: "ready" });
