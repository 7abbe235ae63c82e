"""Describe contested passes: programs that pass the tests, but do otherwise than the original on an input."""

from __future__ import annotations

from counterlens.metrics.summary import EffectSummary
from counterlens.probes.pairs.record import PairRecord, PairsRecord, Side
from counterlens.translating import ENGLISH, Translator


def contested_sentence(pair: PairRecord, t: Translator = ENGLISH) -> str:
    """The input on which a passing side does otherwise than the original; empty if no pass is contested."""
    sides = ((pair.original, t("before the change")), (pair.counterfactual, t("after it")))
    return " ".join(_contest_sentence(side, when, t) for side, when in sides if side.contested)


def _contest_sentence(side: Side, when: str, t: Translator) -> str:
    comparison = side.comparison
    if comparison is None or not comparison.call:
        return t("Contested: the completion {when} passes, but does otherwise than the original.", when=when)
    return t(
        "Contested: the completion {when} passes, but differs from the original on {call} (original: "
        "{original}; this one: {other}).",
        when=when,
        call=comparison.call,
        original=comparison.original,
        other=comparison.other,
    )


def contested_pairs(summary: EffectSummary) -> str:
    """The number of pairs with a contested pass, and the average effect of the others; empty without any."""
    uncontested = summary.uncontested
    if uncontested is None or not uncontested.contested.count:
        return ""
    share, average = uncontested.contested, uncontested.average
    text = f"{share.count} of {share.n} informative pairs contested"
    if average.value is None or average.low is None or average.high is None:
        return text
    interval = f"{average.low:.2f} to {average.high:.2f}"
    return f"{text}: average effect of the others {average.value:.2f} ({interval}, n = {average.n})"


def contested_count(record: PairsRecord, t: Translator = ENGLISH) -> str:
    """How many informative pairs have a contested pass; empty if none."""
    count = sum(pair.contested for pair in record.pairs if pair.effect and pair.effect.informative)
    return t("{count} contested", count=count) if count else ""
