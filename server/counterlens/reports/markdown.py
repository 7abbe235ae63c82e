"""A probe as Markdown: for a file, a comment in a review, or an editor that shows no more than that."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from counterlens.counting import plural
from counterlens.metrics.summary import EffectSummary, Observation, grouped
from counterlens.probes.results import Attempt, CompletionProbe, Pair
from counterlens.reports.phrases import rests_on, sentence
from counterlens.reports.wording import likelihood, meaning, outcome

_TICKS = re.compile(r"`{3,}")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")


def probe_markdown(probes: Sequence[CompletionProbe], *, level: int = 1) -> str:
    """A report on the probes of one or more functions of a file, under headings of a level."""
    parts = [part for probe in probes for part in _probe(probe, level)]
    if len(probes) > 1:
        parts += [f"{'#' * level} All functions", *_together(probes)]
    return "\n\n".join(parts) + "\n"


def counts(found: EffectSummary) -> str:
    """How many pairs there are, by what became of them."""
    parts = [
        plural(found.pairs, "pair"),
        f"{found.average.n} informative",
        f"{found.uninformative} uninformative",
    ]
    if found.unjudged:
        parts.append(f"{found.unjudged} not judged")
    return ", ".join(parts)


def average(found: EffectSummary) -> str:
    """The average effect with its interval, its direction and the test of it; empty without pairs."""
    share = found.average
    if share.value is None or share.low is None or share.high is None or found.signed is None:
        return ""
    text = (
        f"average mutation effect {share.value:.2f} (95 % interval {share.low:.2f} to {share.high:.2f}, "
        f"{found.method}, n = {share.n}); signed {found.signed:+.2f}: {found.lost} lost, "
        f"{found.gained} gained"
    )
    return text if found.mcnemar is None else f"{text}; McNemar's exact p {found.mcnemar:.3g}"


def groups(observations: Sequence[Observation]) -> Iterator[tuple[str, dict[str, EffectSummary]]]:
    """The summaries by mutation, concept, function and file, where there is more than one of these."""
    for title, found in (
        ("mutation", grouped(observations, lambda one: one.mutation)),
        ("concept", grouped(observations, lambda one: one.concept)),
        ("function", grouped(observations, lambda one: one.function)),
        ("file", grouped(observations, lambda one: one.file)),
    ):
        if len(found) > 1:
            yield title, found


def diff_lines(before: str, after: str, context: int = 2) -> list[str]:
    """The difference of two sources, unified, without file headers."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=context)
    return list(lines)[2:]


def left_out(probe: CompletionProbe) -> list[tuple[str, str, int]]:
    """What was not asked: mutation, reason, and at how many places."""
    tally: dict[tuple[str, str], int] = {}
    for refusal in probe.refusals:
        key = refusal.mutation, f"refused: {refusal.reason}"
        tally[key] = tally.get(key, 0) + 1
    for dropped, verdict in probe.dropped:
        key = dropped.mutation, f"left out: its own program {verdict.judgement.replace('_', ' ')}"
        tally[key] = tally.get(key, 0) + 1
    return [(mutation, reason, n) for (mutation, reason), n in tally.items()]


def _probe(probe: CompletionProbe, level: int) -> Iterator[str]:
    function, path = probe.function, probe.document.path
    yield f"{'#' * level} {escaped(function.qualname)}"
    place = f"{path or '<text>'}:{function.start_line}-{function.end_line}"
    judged = f", judged by {probe.judged_by}" if probe.judged_by else ""
    yield prose(f"{probe.task} probe of {place} with {probe.model.name} ({probe.model.where}){judged}")
    yield f"**{prose(meaning(probe))}**"
    if probe.pairs:
        yield prose(f"{counts(probe.summary)}; {average(probe.summary)}".rstrip("; ") + ".")
        yield table(
            ("counterfactual", "concept", "line", "original", "counterfactual", "effect", "shows"),
            [_row(pair) for pair in probe.pairs],
        )
    if probe.why_not_judged:
        yield prose(f"Nothing can judge it: {probe.why_not_judged}.")
    if probe.note:
        yield escaped(probe.note)
    for pair in probe.pairs:
        yield from _pair(probe, pair, level + 1)
    missing = left_out(probe)
    if missing:
        yield f"{'#' * (level + 1)} Not asked"
        yield table(("mutation", "places", "why"), [(m, str(n), why) for m, why, n in missing])


def _pair(probe: CompletionProbe, pair: Pair, level: int) -> Iterator[str]:
    found = pair.counterfactual
    yield f"{'#' * level} {escaped(found.mutation)}, line {found.start_line}"
    yield prose(f"{sentence(pair)} ({found.description}; {found.concept})")
    yield _fenced("\n".join(diff_lines(probe.document.text, found.source)), "diff")
    if pair.original.completion is not None:
        yield from _attempt("After the original the model wrote", pair.original, probe)
        yield from _attempt("After the counterfactual the model wrote", pair.mutated, probe)
    if pair.likelihood:
        yield escaped(f"The true rest of the function is {likelihood(pair.likelihood)}.")
        if pair.likelihood.changes:
            yield table(
                ("token", "line", "log-probability before", "after", "change"),
                [
                    (
                        repr(one.text),
                        str(one.line),
                        f"{one.original:.2f}",
                        f"{one.mutated:.2f}",
                        f"{one.change:+.2f}",
                    )
                    for one in pair.likelihood.changes
                ],
            )


def _attempt(title: str, attempt: Attempt, probe: CompletionProbe) -> Iterator[str]:
    cut_off = ", cut off at the token limit" if attempt.finish == "length" else ""
    yield f"{title} (**{attempt.verdict.judgement.replace('_', ' ')}**{cut_off}):"
    yield _fenced((attempt.completion or "").strip("\n"), probe.document.language)
    evidence = attempt.verdict.evidence
    if rests_on(evidence):
        yield prose(f"{rests_on(evidence)}.")
    if not attempt.verdict.passed and (evidence.failed or evidence.message):
        if evidence.failed:
            yield f"Evidence: {escaped(evidence.failed)}"
        if evidence.message:
            yield _fenced(evidence.message.strip("\n"), "text")


def _together(probes: Sequence[CompletionProbe]) -> Iterator[str]:
    observations = [one for probe in probes for one in probe.observations]
    for title, found in groups(observations):
        yield table(
            (title, "pairs", "informative", "changed", "effect", "95 % interval", "signed", "McNemar p"),
            [(name, *summary_cells(summary)) for name, summary in found.items()],
        )


def summary_cells(found: EffectSummary) -> tuple[str, ...]:
    """A summary as a row: pairs, informative, changed, effect, interval, signed, p."""
    share = found.average
    known = share.value is not None and share.low is not None and share.high is not None
    return (
        str(found.pairs),
        str(share.n),
        str(share.count),
        f"{share.value:.2f}" if known else "-",
        f"{share.low:.2f} to {share.high:.2f}" if known else "-",
        f"{found.signed:+.2f}" if found.signed is not None else "-",
        f"{found.mcnemar:.3g}" if found.mcnemar is not None else "-",
    )


def _row(pair: Pair) -> tuple[str, ...]:
    effect = pair.effect
    shown = (
        "-" if effect is None or not effect.informative else f"{effect.signed:+d}" if effect.signed else "0"
    )
    return (
        pair.counterfactual.mutation,
        pair.counterfactual.concept,
        str(pair.counterfactual.start_line),
        pair.original.verdict.judgement.replace("_", " "),
        pair.mutated.verdict.judgement.replace("_", " "),
        shown,
        outcome(pair),
    )


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are plain text."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text if text == "---" else escaped(text).replace("\n", " ")


def _fenced(text: str, language: str) -> str:
    """A code block whose fence is longer than any in it."""
    longest = max((len(found) for found in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def prose(text: str) -> str:
    """Our own sentences: what stands in backquotes is code, and the rest begins with a capital."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escaped(text)
    outside = (escaped(part) if i % 2 == 0 else f"`{part}`" for i, part in enumerate(parts))
    written = "".join(outside)
    return written[:1].upper() + written[1:]


def escaped(text: str) -> str:
    """Text that stands for itself."""
    return _SPECIAL.sub(r"\\\1", text)
