"""Describe the stability of greedy verdicts: of a pair, and of a function."""

from __future__ import annotations

from counterlens.metrics.summary import EffectSummary, summarize
from counterlens.probes.pairs.record import PairRecord, PairsRecord, Side
from counterlens.translating import ENGLISH, Translator


def unstable_sentence(pair: PairRecord, t: Translator = ENGLISH) -> str:
    """How many alternatives of each side pass, if rounding may have decided a verdict; else empty."""
    if pair.stable is not False:
        return ""
    before, after = (
        _ways(pair.original, pair.original_right),
        _ways(pair.counterfactual, pair.counterfactual_right),
    )
    return t(
        "Unstable: some tokens were nearly tied. {passed} of {n} completions that rounding could produce "
        "pass before the change, and {now} of {m} after it.",
        passed=t.number(sum(before)),
        n=t.number(len(before)),
        now=t.number(sum(after)),
        m=t.number(len(after)),
    )


def unstable_pairs(summary: EffectSummary) -> str:
    """The number of unstable pairs, and the average effect of the stable ones; empty if all are stable."""
    stable = summary.stable
    if stable is None or stable.share.count == stable.share.n:
        return ""
    informative, average = stable.share.n, stable.average
    text = f"{informative - stable.share.count} of {informative} informative pairs unstable"
    if average.value is None or average.low is None or average.high is None:
        return text
    interval = f"{average.low:.2f} to {average.high:.2f}"
    return f"{text}: average effect of the stable ones {average.value:.2f} ({interval}, n = {average.n})"


def unstable_changes(record: PairsRecord, t: Translator = ENGLISH) -> str:
    """How many changes of a verdict rounding may explain; empty if none."""
    count = sum(pair.changed_unstably for pair in record.pairs)
    return t("{count} unstable", count=count) if count else ""


def unstable(record: PairsRecord, t: Translator = ENGLISH) -> str:
    """State that rounding may explain every change of a verdict; empty if not, or if none changed."""
    changed = [pair for pair in record.pairs if pair.effect and pair.effect.signed]
    if not changed or not all(pair.changed_unstably for pair in changed):
        return ""
    return t(
        "The verdict on {name} changed on {changed} of {n} counterfactuals, but each time some tokens were "
        "nearly tied and the other choice leads to another verdict. Rounding may be the cause, so this is no "
        "evidence of an effect.",
        name=record.name,
        changed=len(changed),
        n=t.number(summarize(record.observations).average.n),
    )


def _ways(side: Side, right: bool | None) -> list[bool]:
    """Whether each alternative passes, the greedy completion first."""
    return [bool(right), *(way.passed for way in side.ways or ())]
