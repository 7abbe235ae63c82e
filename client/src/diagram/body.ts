/** The HTML of the diagram's page; its script adds everything else. */

import { escaped } from "../page";

interface Choice {
  value: string;
  title: string;
}

export function body(): string {
  const views = choices("view", "Tree", [
    { value: "partial", title: "Partial" },
    { value: "complete", title: "Complete" },
    { value: "sequence", title: "Sequence" },
  ]);
  const scopes = choices("scope", "Of", [
    { value: "function", title: "Function" },
    { value: "file", title: "Whole File" },
  ]);
  const tools = [
    button("indent", "Indented"),
    button("unfold", "Unfold All"),
    button("fold", "Fold All"),
    button("out", "Zoom Out", "−"),
    button("in", "Zoom In", "+"),
    button("fit", "Fit"),
  ];
  return `<header lang="en">
${views}
${scopes}
<div role="toolbar" aria-label="${escaped("Picture")}">${tools.join("")}</div>
</header>
<p id="status" role="status" lang="en"></p>
<main>
<div id="scroller"><svg id="picture" tabindex="-1" hidden></svg></div>
</main>
<footer id="foot" lang="en" hidden>
<p id="limits"></p>
<ul id="legend" aria-label="${escaped("Legend")}"></ul>
<section id="details" aria-label="${escaped("Node")}"></section>
</footer>
<div class="fonts" aria-hidden="true"><span id="font-head"></span><span id="font-figure"></span><span id="font-code"></span></div>`;
}

function choices(name: string, title: string, of: Choice[]): string {
  const radios = of.map(
    (one) =>
      `<label><input type="radio" name="${name}" value="${one.value}"><span>${escaped(one.title)}</span></label>`,
  );
  return `<fieldset><legend>${escaped(title)}</legend>${radios.join("")}</fieldset>`;
}

function button(action: string, name: string, shown = name): string {
  const named = shown === name ? "" : ` aria-label="${escaped(name)}" title="${escaped(name)}"`;
  return `<button type="button" data-action="${action}"${named}>${escaped(shown)}</button>`;
}
