"""Every function of a run and every pair: what was changed, what the model wrote, why it was judged so."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from counterlens.evaluation.figures import Found
from counterlens.evaluation.store import PROBED, Item, Record
from counterlens.reports import markup
from counterlens.reports.evaluation.outcomes import WORDS, lines_of, outcome


def records(found: Found) -> Iterator[str]:
    """One block a function, with its pairs folded; a form that a script makes use of."""
    pairs = [pair for _, record in found.records for pair in record.judged_pairs]
    if pairs:
        yield _form(found, pairs)
    for item, record in found.records:
        yield from _record(item, record, several=len(found.settings.tasks) > 1)


def _form(found: Found, pairs: Sequence[Mapping[str, Any]]) -> str:
    seen = {outcome(pair) for pair in pairs}
    choices = {
        "model": [(one, one) for one in found.models],
        "mutation": [(one, one) for one in sorted({str(pair["mutation"]) for pair in pairs})],
        "outcome": [(key, words) for key, words in WORDS.items() if key in seen],
    }
    labels = "".join(
        f'<label>{name} <select name="{name}"><option value="">all</option>'
        + "".join(f'<option value="{escape(value)}">{escape(words)}</option>' for value, words in options)
        + "</select></label>"
        for name, options in choices.items()
    )
    return (
        f'<form id="filter" hidden aria-label="Which pairs are shown">{labels}'
        '<label>function <input name="function" type="search" autocomplete="off"></label>'
        '<button type="button" data-open="true">Open all shown</button>'
        '<button type="button" data-open="false">Close all</button>'
        '<output aria-live="polite"></output></form>'
    )


def _record(item: Item, record: Record, *, several: bool) -> Iterator[str]:
    task = f", {item.task}" if several else ""
    yield (
        f'<section class="record" data-model="{escape(item.model)}" data-function="{escape(item.problem)}">'
        f"<h3>{escape(item.problem)} <small>{escape(item.model + task)}, record {item.position}</small></h3>"
    )
    if record.outcome != PROBED:
        yield f"<p>Left out: {escape(record.reason)}</p>"
    pairs = record.judged_pairs
    if record.body.get("judged_by"):
        yield f"<p>Judged by {escape(str(record.body['judged_by']))}.</p>"
    if record.outcome == PROBED and record.body.get("pairs") == []:
        yield "<p>No counterfactual could be asked about.</p>"
    for number, pair in enumerate(pairs):
        yield _pair(item, number, pair)
    shown = {"judged_by", "pairs"} if pairs else {"judged_by"}
    rest = {key: value for key, value in record.body.items() if key not in shown and value}
    if rest:
        text = escape(json.dumps(rest, indent=2, ensure_ascii=False))
        yield f"<details><summary>What else was found</summary><pre>{text}</pre></details>"
    yield "</section>"


def _pair(item: Item, number: int, pair: Mapping[str, Any]) -> str:
    shown = outcome(pair)
    assumed = [str(one) for one in pair.get("assumptions", ())]
    about = f"{pair['description']}; {pair['concept']}" + (
        f"; assumes {', '.join(assumed)}" if assumed else ""
    )
    sides = "".join(
        _side(f"After the {name} the model wrote", pair[name])
        for name in ("original", "counterfactual")
        if isinstance(pair.get(name), Mapping) and pair[name].get("completion") is not None
    )
    mutation = escape(str(pair["mutation"]))
    return (
        f'<details class="pair" id="pair-{item.position}-{number}" data-outcome="{shown}" '
        f'data-mutation="{mutation}"><summary>{mutation}, {lines_of(pair)}: '
        f'<span class="outcome {shown}">{WORDS[shown]}</span></summary>'
        f"{markup.paragraph(about)}"
        f'<pre aria-label="What was changed"><code>{markup.difference(pair["diff"])}</code></pre>'
        f'<div class="sides">{sides}</div></details>'
    )


def _side(title: str, side: Mapping[str, Any]) -> str:
    verdict = str(side["verdict"])
    cut_off = ", cut off at the token limit" if side.get("finish") == "length" else ""
    parts = [
        f"<section><h4>{title}</h4>",
        f'<p><span class="verdict {escape(verdict)}">{escape(verdict.replace("_", " "))}</span>{cut_off}</p>',
        f"<pre><code>{escape(str(side['completion']).strip(chr(10)))}</code></pre>",
    ]
    if side.get("attribution"):
        strength = f"{side['strength']} evidence: " if side.get("strength") else ""
        parts.append(markup.paragraph(f"{strength}{side['attribution']}"))
    if side.get("failed"):
        parts.append(f"<p>Failed: <code>{escape(str(side['failed']))}</code></p>")
    if side.get("message") and verdict != "passed":
        parts.append(f"<pre>{escape(str(side['message']).strip())}</pre>")
    return "".join([*parts, "</section>"])
