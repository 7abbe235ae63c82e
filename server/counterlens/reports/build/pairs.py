"""The report on the pairs of one function: changes, completions, and their meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from counterlens.confidence import Confidence
from counterlens.counting import plural
from counterlens.metrics.effects import PairOutcome
from counterlens.metrics.summary import Observation, summaries_by, summarize
from counterlens.models.base import Capability, ModelInfo
from counterlens.probes.pairs.attempts import same_code
from counterlens.probes.pairs.phrases import (
    bar,
    contested_sentence,
    drawn_sentence,
    rests_on,
    unstable_sentence,
)
from counterlens.probes.pairs.record import Likelihood, PairRecord, PairsRecord, Side
from counterlens.probes.pairs.wording import (
    figures,
    likelihood,
    meaning,
    not_asked,
    outcome,
    reached_sentence,
    sentence,
    unwritten,
)
from counterlens.probes.protocols import in_words
from counterlens.reports import document
from counterlens.reports.build.function_confidence import confidence_lines
from counterlens.reports.document import (
    Actions,
    Block,
    CodeBlock,
    Difference,
    Folded,
    Gist,
    Heading,
    Marked,
    Paragraph,
    ReportCell,
    SideBySide,
    TableBlock,
    capitalise,
)
from counterlens.reports.wording import share

_MARKS = {PairOutcome.FAILED: "uninformative", PairOutcome.NOT_JUDGED: "open"}
_GROUPS: dict[str, Callable[[Observation], str]] = {
    "function": lambda pair: pair.function,
    "file": lambda pair: pair.file.partition("::")[0] if "::" in pair.file else "",
}
_SENTENCES = (sentence, contested_sentence, unstable_sentence, drawn_sentence, reached_sentence)


def pairs_blocks(
    record: PairsRecord,
    *,
    model: ModelInfo,
    path: str | None,
    level: int = 1,
    actions: bool = False,
    confidence: Confidence | None = None,
    note: str | None = None,
) -> tuple[Block, ...]:
    """The report on one function.

    Args:
        path: Path of the function's file, as the user knows it.
        level: Level of its heading; inner headings are one and two levels deeper.
        actions: Whether each pair has buttons, for a host that can open differences: `difference` of the
            sources, and `wrote` of the model's completions.
        confidence: Scores of the document with the function.
        note: Why there are no scores.
    """
    folded = () if actions else _folded_positions(record)
    headline, *gist = _gist(record, len(folded))
    about = (
        Paragraph(_place(record, model, path), quiet=True),
        *confidence_lines(record.function, confidence, note),
    )
    blocks: list[Block] = [Heading(level, record.function)]
    if actions:  # there is little room beside the code, so the meaning comes first
        blocks += [Gist((headline,)), *about, Gist(tuple(gist))]
    else:
        blocks += [*about, Gist((headline, *gist))]
    for number, pair in enumerate(record.pairs):
        if number not in folded:
            details = _details(pair, level + 1, number if actions else None)
            blocks += [Heading(level + 1, _name(pair)), *details]
    for pair in (record.pairs[number] for number in folded):
        blocks.append(Folded(_name(pair), tuple(_details(pair, level + 1)), outcome_mark(pair), kept=True))
    return tuple(blocks)


def _folded_positions(record: PairsRecord) -> tuple[int, ...]:
    """The positions of the pairs that show nothing about the model.

    The first is not among them if all show nothing: one complete failure shows the model's output.
    """
    failed = tuple(
        number
        for number, pair in enumerate(record.pairs)
        if pair.outcome is PairOutcome.FAILED and pair.drawn is None
    )
    return failed[1:] if len(failed) == len(record.pairs) else failed


def why_not_probed(function: str, reason: str, hint: str | None) -> tuple[Block, ...]:
    """Why a function has no pairs, for example the output of its own tests.

    Args:
        function: Its name.
        hint: What to do, or the output of a test.
    """
    told = Gist((Paragraph(f"{reason}.", lead="What this means:"),))
    return Heading(1, function), told, *([CodeBlock(hint)] if hint else ())


def together(records: Sequence[PairsRecord]) -> tuple[TableBlock, ...]:
    """The effects by function and by file, if there are several: no probe's own tables have them."""
    seen: list[Observation] = [pair for record in records for pair in record.observations]
    if all(unwritten(record) for record in records):
        return ()
    from counterlens.probes.pairs.tables import EFFECTS, Effects, effect_rows  # one function has no tables

    tables = []
    for title, key in _GROUPS.items():
        groups: Effects = {(name,): summary for name, summary in summaries_by(seen, key).items()}
        if len(groups) > 1:
            tables.append(TableBlock(f"by {title}", (title, *EFFECTS), effect_rows(groups)))
    return tuple(tables)


def outcome_mark(pair: PairRecord) -> Marked:
    """The outcome of a pair, in a few styled words."""
    return Marked(outcome(pair), _MARKS.get(pair.outcome, str(pair.outcome)))


def evidence_blocks(pair: PairRecord, level: int, number: int | None = None) -> Iterator[Block]:
    """The change, the completions on both sides, and the reasons for their verdicts.

    Args:
        level: Level of the sides' headings.
        number: Number of the pair, if it has buttons.
    """
    yield Difference(pair.diff)
    written = pair.original.completion is not None
    if number is not None:
        offers = (
            ("difference", "Open Difference"),
            ("wrote", "Compare What It Wrote"),
            ("explain", "Explain What It Wrote"),
        )
        yield Actions(number, _name(pair), offers if written else offers[:1])
    if written:
        original = _side("after the original", pair.original)
        mutated = _side("after the counterfactual", pair.counterfactual, *_copier(pair))
        yield SideBySide(level, (original, mutated))
    if pair.likelihood:
        yield from _likelihood(pair.likelihood)


def _place(record: PairsRecord, model: ModelInfo, path: str | None) -> str:
    details = dict(model.details)
    threads = f", {plural(int(details['threads']), 'thread')}" if "threads" in details else ""
    device = f", {model.device}" if model.device else ""
    exact = ""
    if any(pair.original.completion is not None for pair in record.pairs):
        exact = f", completions {'' if Capability.EXACT in model.capabilities else 'not '}exact"
    judged = f", judged by {record.judged_by}" if record.judged_by else ""
    protocol = in_words(record.protocol, " by the protocol {}")
    return (
        f"{capitalise(record.probe)} probe{protocol} of {path or '<text>'}:{record.start_line}-"
        f"{record.end_line} with {model.name} ({model.where}{device}{threads}{exact}){judged}"
    )


def _gist(record: PairsRecord, folded: int) -> Iterator[Block]:
    yield Paragraph(meaning(record), lead="What this means:")
    if record.note:
        yield Paragraph(f"{capitalise(record.note)}.", quiet=True)
    if record.why_not_judged:
        yield Paragraph(f"It cannot be judged: {record.why_not_judged}.")
    if record.pairs:
        yield from _summed_up(record, folded)
    # why mutations without pairs have none; and all excluded sites, folded
    columns = ("mutation", "places", "why")
    sites = not_asked(record)
    asked = {pair.mutation for pair in record.pairs}
    reasons: dict[str, list[tuple[int, str]]] = {}
    for mutation, why, n in sites:
        if mutation not in asked:
            reasons.setdefault(mutation, []).append((n, why))
    rows = []
    for mutation, some in reasons.items():
        _, main = max(some, key=lambda reason: reason[0])
        more = f", and {plural(len(some) - 1, 'more reason')}" if len(some) > 1 else ""
        rows.append((mutation, sum(n for n, _ in some), f"{main}{more}"))
    if rows:
        yield TableBlock("not asked", columns, tuple(rows), quiet=True)
    if len(sites) > len(rows):
        every = tuple((mutation, n, why) for mutation, why, n in sites)
        yield Folded("All places that were not asked", (TableBlock("not asked", columns, every, quiet=True),))


def _summed_up(record: PairsRecord, folded: int) -> Iterator[Block]:
    if unwritten(record):
        rows: tuple[tuple[ReportCell, ...], ...] = tuple(
            (*_which(pair), likelihood(pair.likelihood) if pair.likelihood else None) for pair in record.pairs
        )
        yield TableBlock("pairs", ("counterfactual", "concept", "line", "the true rest is"), rows)
        return
    summary = summarize(record.observations)
    yield Paragraph(f"{figures(summary)}.")
    note = (
        f"The details of {plural(folded, 'uninformative pair')} are omitted in the terminal."
        if folded
        else ""
    )
    for title, what, pairs, omitted in (
        ("pairs", "counterfactual", record.pairs, note),
        ("placebos", "placebo", record.placebos, ""),
    ):
        columns = (what, "concept", "line", "original", what, "effect", "shows")
        if pairs:
            quiet = pairs is record.placebos
            yield TableBlock(title, columns, tuple(map(_row, pairs)), omitted, quiet=quiet)


def _row(pair: PairRecord) -> tuple[ReportCell, ...]:
    effect, signed = pair.effect, None
    if effect is not None and effect.informative:
        signed = f"{effect.signed:+d}" if effect.signed else "0"
    return *_which(pair), _verdict(pair.original), _verdict(pair.counterfactual), signed, outcome(pair)


def _name(pair: PairRecord) -> str:
    return f"{pair.mutation}, line {pair.start_line}"


def _details(pair: PairRecord, level: int, number: int | None = None) -> Iterator[Block]:
    yield Paragraph(f"{pair.concept}: {pair.description}", quiet=True)
    sentences = (say(pair) for say in _SENTENCES)
    yield Paragraph(" ".join(filter(None, sentences)))
    yield from _pass_rate_bars(pair)
    yield from evidence_blocks(pair, level + 1, number)


def _pass_rate_bars(pair: PairRecord) -> Iterator[Block]:
    """The pass rates of both sides as bars, if there are samples."""
    if pair.drawn is None:
        return
    sides = (("as written", pair.drawn.original), ("changed", pair.drawn.counterfactual))
    rows: list[tuple[ReportCell, ...]] = []
    for side, drawn in sides:
        low, high = drawn.count.interval()
        rate = f"{100 * drawn.count.rate:.0f} % ({100 * low:.0f} to {100 * high:.0f})"
        rows.append((side, bar(drawn.count), drawn.count.passed, drawn.count.n, rate))
    title = f"completions sampled at temperature {pair.drawn.temperature:g}"
    yield TableBlock(title, ("side", "pass rate", "passed", "of", "95 % interval"), tuple(rows))


def _which(pair: PairRecord) -> tuple[ReportCell, ...]:
    return pair.mutation, pair.concept, pair.start_line


def _verdict(side: Side) -> Marked:
    return Marked(side.verdict.replace("_", " "), side.verdict)


def _side(title: str, side: Side, copier: str = "", copied: str = "") -> document.PairSide:
    wrong = side.verdict != "passed"
    return document.PairSide(
        title=title,
        prompt_end=side.prompt_end,
        text=side.completion or "",
        verdict=_verdict(side),
        cut_off=side.finish == "length",
        rests_on=rests_on(side),
        failed=side.failed or "" if wrong else "",
        message=side.message if wrong else "",
        copier=copier,
        copied=copied,
    )


def _copier(pair: PairRecord) -> tuple[str, str]:
    """The verdict of a copied completion of the counterfactual, and its code."""
    if pair.discriminating is None or pair.copier is None:
        return "", ""
    if not pair.discriminating:
        return "a copied completion passes, too", ""
    if same_code(pair.copier, pair.counterfactual.completion):
        return "the copied completion is the same, and fails", ""
    return "a copied completion fails, with this code", pair.copier


def _likelihood(effect: Likelihood) -> Iterator[Block]:
    yield Paragraph(f"The true rest of the function is {likelihood(effect)}.")
    if effect.most_changed:
        yield TableBlock(
            "the most changed tokens",
            ("token", "line", "log-probability before", "after", "change"),
            tuple(
                (
                    repr(token.text),
                    token.line,
                    _chance(token.original),
                    _chance(token.counterfactual),
                    f"{token.change:+.2f}",
                )
                for token in effect.most_changed
            ),
            quiet=True,
        )


def _chance(logprob: float) -> str:
    return f"{logprob:.2f} ({share(math.exp(logprob))})"
