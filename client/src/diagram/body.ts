/** The HTML of the diagram's page; its script adds everything else. */

import * as vscode from "vscode";
import { language } from "../language";
import { escaped } from "../page";

interface Choice {
  value: string;
  title: string;
}

export function body(): string {
  const views = choices("view", vscode.l10n.t("Tree"), [
    { value: "partial", title: vscode.l10n.t("Partial") },
    { value: "complete", title: vscode.l10n.t("Complete") },
    { value: "sequence", title: vscode.l10n.t("Sequence") },
  ]);
  const scopes = choices("scope", vscode.l10n.t("Of"), [
    { value: "function", title: vscode.l10n.t("Function") },
    { value: "file", title: vscode.l10n.t("Whole File") },
  ]);
  const tools = [
    button("indent", vscode.l10n.t("Indented")),
    button("unfold", vscode.l10n.t("Unfold All")),
    button("fold", vscode.l10n.t("Fold All")),
    button("out", vscode.l10n.t("Zoom Out"), "−"),
    button("in", vscode.l10n.t("Zoom In"), "+"),
    button("fit", vscode.l10n.t("Fit")),
  ];
  return `<header lang="${language()}">
${views}
${scopes}
<div role="toolbar" aria-label="${escaped(vscode.l10n.t("Picture"))}">${tools.join("")}</div>
</header>
<p id="status" role="status" lang="${language()}"></p>
<main>
<div id="scroller"><svg id="picture" tabindex="-1" hidden></svg></div>
</main>
<footer id="foot" lang="${language()}" hidden>
<p id="limits"></p>
<ul id="legend" aria-label="${escaped(vscode.l10n.t("Legend"))}"></ul>
<section id="details" aria-label="${escaped(vscode.l10n.t("Node"))}"></section>
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
