"""A run as one page that needs nothing else: tables, plots, and every pair with its evidence.

The page loads nothing, and runs only the scripts that its content security policy names by their hashes:
Vega, where there are plots, and its own. Without scripts it shows the same, with still plots and no filter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from counterlens.counting import plural
from counterlens.evaluation.effects import Effects, all_tables, effects_of
from counterlens.evaluation.figures import Found
from counterlens.metrics.summary import EffectSummary
from counterlens.probes.task import Table
from counterlens.reports import markup
from counterlens.reports.evaluation import wording
from counterlens.reports.evaluation.page import plots
from counterlens.reports.evaluation.page.records import records
from counterlens.reports.tables import cell_text, figure_columns

__all__ = ["run_html"]


def run_html(found: Found) -> str:
    """The page, as one text."""
    effects = effects_of(found)
    drawn = [(task, plot) for task, one in effects.items() for plot in plots.plots(one)]
    style = _asset("page.css")
    scripts = [plots.bundle()] if drawn else []
    scripts.append(_asset("page.js"))
    title = wording.title(found)
    sections = [
        ("summary", "Summary", [*_summary(found, effects)]),
        ("plots", "Plots", [*_plots(drawn, several=len(effects) > 1)]),
        ("tables", "Tables", [*_tables(found, effects)]),
        ("records", "Functions and pairs", [*records(found)]),
        ("circumstances", "Circumstances", [*_circumstances(found)]),
    ]
    links = "".join(f'<li><a href="#{id_}">{name}</a></li>' for id_, name, _ in sections)
    body = "\n".join(
        f'<section id="{id_}" aria-labelledby="{id_}-title"><h2 id="{id_}-title">{name}</h2>\n'
        + "\n".join(parts)
        + "\n</section>"
        for id_, name, parts in sections
    )
    policy = markup.policy([style], scripts)
    loaded = "\n".join(f"<script>{script}</script>" for script in scripts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)} - Counterlens</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#summary">Skip to the summary</a>\n<header><h1>{escape(title)}</h1>\n'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>\n<main>\n{body}\n</main>\n'
        f"{loaded}\n</body>\n</html>\n"
    )


def _summary(found: Found, effects: dict[str, Effects]) -> Iterator[str]:
    yield markup.paragraph(wording.state(found))
    for task, one in effects.items():
        for model, summary in one.models.items():
            head = f"{model}, {task}" if len(effects) > 1 else model
            yield f"<p>{escape(f'{head}: {_sentence(summary)}')}.</p>"
    if found.left_out:
        count = sum(found.left_out.values())
        yield markup.paragraph(f"{count} {'function was' if count == 1 else 'functions were'} left out:")
        rows = [(escape(reason), str(count)) for reason, count in found.left_out.items()]
        yield markup.table("Left out", ("reason", "functions"), rows, {1})


def _sentence(found: EffectSummary) -> str:
    share = found.average
    if share.value is None or share.low is None or share.high is None:
        return f"none of {plural(found.pairs, 'pair')} was right on either side, so nothing can be said"
    method = "Wilson's score" if found.method == "wilson" else found.method
    text = (
        f"the verdict changed in {share.count} of {plural(share.n, 'informative pair')}, {share.value:.0%} "
        f"(95 % interval {share.low:.0%} to {share.high:.0%}, {method}); right only on the original: "
        f"{found.lost}, only on the counterfactual: {found.gained}"
    )
    return text if found.mcnemar is None else f"{text} (McNemar's exact p {found.mcnemar:.3g})"


def _plots(drawn: list[tuple[str, plots.Plot]], *, several: bool) -> Iterator[str]:
    if not plots.available():
        yield markup.paragraph(plots.EXTRA.replace("'", "`"))
    elif not drawn:
        yield markup.paragraph("There is nothing to plot.")
    for number, (task, plot) in enumerate(drawn):
        title = f"{task}: {plot.title}" if several else plot.title
        yield (
            f'<figure id="plot-{number}"><figcaption>{escape(title)}</figcaption>'
            f'<div class="plot" role="img" aria-label="{escape(plot.description)}" data-plot="{number}">'
            f"{plot.svg}</div>"
            f'<script type="application/json" data-spec="{number}">{markup.embedded(plot.spec)}</script>'
            f"<details><summary>Its figures as a table</summary>{_table(plot.table)}</details></figure>"
        )


def _tables(found: Found, effects: dict[str, Effects]) -> Iterator[str]:
    for table in all_tables(found, effects):
        yield _table(table)


def _table(table: Table) -> str:
    rows = [[escape(cell_text(cell)) for cell in row] for row in table.rows]
    caption = table.title
    drawn = markup.table(caption[:1].upper() + caption[1:], table.columns, rows, figure_columns(table))
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">{drawn}</div>{note}'
    )


def _circumstances(found: Found) -> Iterator[str]:
    yield "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in wording.circumstances(found)) + "</ul>"
    for digest, manifest in found.manifests.items():
        text = escape(json.dumps(manifest, indent=2, ensure_ascii=False))
        yield f"<details><summary>Manifest {escape(digest[:12])}</summary><pre>{text}</pre></details>"


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
