"""A probe as one HTML page: nothing is fetched, nothing is run, and colours only repeat what words say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from counterlens.probes.results import Attempt, CompletionProbe, Pair
from counterlens.reports import markup
from counterlens.reports.markdown import average, counts, diff_lines, groups, left_out, summary_cells
from counterlens.reports.markup import paragraph, table
from counterlens.reports.phrases import rests_on, sentence
from counterlens.reports.wording import likelihood, meaning, outcome

_STYLE = Path(__file__).with_name("probe.css").read_text(encoding="utf-8")


def policy() -> str:
    """The content security policy of the page: its own style, known by its hash, and nothing else."""
    return markup.policy([_STYLE])


def probe_html(probes: Sequence[CompletionProbe]) -> str:
    """A page on the probes of one or more functions of a file."""
    title = ", ".join(probe.function.qualname for probe in probes)
    parts = [probe_fragment(probe) for probe in probes]
    if len(probes) > 1:
        parts += ["<h1>All functions</h1>", *together_tables(probes)]
    return page(f"Probe of {title}", "\n".join(parts))


def page(title: str, body: str) -> str:
    """A page of its own around what is HTML already."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def probe_fragment(probe: CompletionProbe, *, buttons: bool = False, level: int = 1) -> str:
    """The report on one probe as HTML without a page around it.

    Args:
        probe: What was found.
        level: Of its heading; those inside are one and two deeper.
        buttons: Whether each pair has buttons, for a host that can open differences: `data-pair` is the
            pair's number, `data-action` is `difference` (of the sources) or `wrote` (of what the model made
            of them).
    """
    return "\n".join(_probe(probe, buttons, level))


def _probe(probe: CompletionProbe, buttons: bool, level: int) -> Iterator[str]:
    function, path = probe.function, probe.document.path
    judged = f", judged by {probe.judged_by}" if probe.judged_by else ""
    place = f"{path or '<text>'}:{function.start_line}-{function.end_line}"
    yield f"<h{level}>{escape(function.qualname)}</h{level}>"
    yield paragraph(f"{probe.task} probe of {place} with {probe.model.name} ({probe.model.where}){judged}")
    yield f"<p><strong>{escape(meaning(probe))}</strong></p>"
    if probe.pairs:
        yield paragraph(f"{counts(probe.summary)}; {average(probe.summary)}".rstrip("; ") + ".")
        yield table(
            "Pairs",
            ("counterfactual", "concept", "line", "original", "counterfactual", "shows"),
            [
                (
                    escape(pair.counterfactual.mutation),
                    escape(pair.counterfactual.concept),
                    str(pair.counterfactual.start_line),
                    _verdict(pair.original),
                    _verdict(pair.mutated),
                    escape(outcome(pair)),
                )
                for pair in probe.pairs
            ],
        )
    if probe.why_not_judged:
        yield paragraph(f"Nothing can judge it: {probe.why_not_judged}.")
    if probe.note:
        yield paragraph(probe.note)
    for number, pair in enumerate(probe.pairs):
        yield from _pair(probe, pair, number if buttons else None, level + 1)
    missing = left_out(probe)
    if missing:
        rows = [(escape(mutation), str(n), escape(why)) for mutation, why, n in missing]
        yield table("Not asked", ("mutation", "places", "why"), rows)


def _pair(probe: CompletionProbe, pair: Pair, number: int | None, level: int) -> Iterator[str]:
    found = pair.counterfactual
    yield f"<h{level}>{escape(found.mutation)}, line {found.start_line}</h{level}>"
    yield paragraph(f"{sentence(pair)} ({found.description}; {found.concept})")
    changed = markup.difference(diff_lines(probe.document.text, found.source))
    yield f'<pre aria-label="What was changed"><code>{changed}</code></pre>'
    if number is not None:
        yield _buttons(pair, number)
    if pair.original.completion is not None:
        yield '<div class="sides">'
        yield from _side("After the original the model wrote", pair.gap.before, pair.original, level + 1)
        mutated = "After the counterfactual the model wrote"
        yield from _side(mutated, pair.mutated_gap.before, pair.mutated, level + 1)
        yield "</div>"
    if pair.likelihood:
        yield paragraph(f"The true rest of the function is {likelihood(pair.likelihood)}.")
        rows = [
            (
                f"<code>{escape(repr(one.text))}</code>",
                str(one.line),
                f"{one.original:.2f}",
                f"{one.mutated:.2f}",
                f"{one.change:+.2f}",
            )
            for one in pair.likelihood.changes
        ]
        if rows:
            columns = ("token", "line", "log-probability before", "after", "change")
            yield table("The most changed tokens", columns, rows)


def _buttons(pair: Pair, number: int) -> str:
    where = escape(f"{pair.counterfactual.mutation}, line {pair.counterfactual.start_line}")
    offers = [("difference", "Open Difference")]
    if pair.original.completion is not None:
        offers.append(("wrote", "Compare What It Wrote"))
    made = (
        f'<button type="button" data-action="{action}" data-pair="{number}" '
        f'aria-label="{title}: {where}">{title}</button>'
        for action, title in offers
    )
    return f'<p class="actions">{" ".join(made)}</p>'


def _side(title: str, before: str, attempt: Attempt, level: int) -> Iterator[str]:
    asked = before.rstrip("\r\n").splitlines()[-1:]
    cut_off = ", cut off at the token limit" if attempt.finish == "length" else ""
    yield f"<section><h{level}>{escape(title)}</h{level}><p>{_verdict(attempt)}{cut_off}</p>"
    lines = [*asked, (attempt.completion or "").strip("\r\n")]
    yield f"<pre><code>{escape(chr(10).join(lines))}</code></pre>"
    evidence = attempt.verdict.evidence
    if rests_on(evidence):
        yield paragraph(f"{rests_on(evidence)}.")
    if not attempt.verdict.passed and evidence.failed:
        yield paragraph(f"Evidence: {evidence.failed}")
    if not attempt.verdict.passed and evidence.message:
        yield f"<pre>{escape(evidence.message.strip())}</pre>"
    yield "</section>"


def together_tables(probes: Sequence[CompletionProbe]) -> Iterator[str]:
    """The effects by mutation, concept, function and file, where there is more than one of these."""
    observations = [one for probe in probes for one in probe.observations]
    for title, found in groups(observations):
        columns = (title, "pairs", "informative", "changed", "effect", "95 % interval", "signed", "McNemar p")
        rows = [(escape(name), *summary_cells(summary)) for name, summary in found.items()]
        yield table(f"By {title}", columns, rows)


def _verdict(attempt: Attempt) -> str:
    judgement = attempt.verdict.judgement
    return f'<span class="{judgement}">{judgement.replace("_", " ")}</span>'
