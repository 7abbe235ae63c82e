/// <reference lib="dom" />
/** Below the diagram: the details of one node, and the legend of levels. */

import type { Diagram } from "../diagram/messages";
import { details, sourceOf } from "../diagram/words";
import type { TreeRow } from "../protocol";
import { element, levelLine } from "./drawing";

const [WIDTH, HEIGHT] = [22, 14];

function html<Name extends keyof HTMLElementTagNameMap>(name: Name, ...children: (Element | string)[]) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

export function showDetails(row: TreeRow | undefined, diagram: Diagram | undefined): void {
  const place = document.getElementById("details");
  place?.replaceChildren();
  if (!row || !diagram) return;
  const values = details(row, diagram).map(([name, value]) =>
    html("div", html("dt", name), html("dd", value)),
  );
  place?.append(
    html("h2", row.kind === "token" ? row.text : row.kind),
    html("dl", ...values),
    html("pre", html("code", sourceOf(row.range, diagram))),
  );
}

export function showLegend({ labels }: Diagram): void {
  const samples = labels.map((label, level) => {
    const size = { width: WIDTH, height: HEIGHT, rx: 3 };
    const box = element("svg", { width: WIDTH, height: HEIGHT, class: `level${level}`, "aria-hidden": true });
    box.append(
      element("rect", { class: "base", ...size }),
      element("rect", { class: "tint", ...size }),
      ...levelLine(level, WIDTH, HEIGHT),
    );
    return html("li", box, label);
  });
  document.getElementById("legend")?.replaceChildren(...samples);
}
