"""Describe the sampled completions of a pair, with a bar."""

from __future__ import annotations

from collections import Counter

from counterlens.metrics.pass_rates import NOTHING, PassCount, RateFinding
from counterlens.probes.pairs.phrases import change_phrase
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.translating import ENGLISH, Translator

_WIDTH = 20
_SHADES = {True: "\u2588", False: "\u2591"}
_INTERVAL = "\u2592"


def drawn_sentence(pair: PairRecord, t: Translator = ENGLISH) -> str:
    """How often both sides pass, and the conclusion; empty if nothing was sampled."""
    drawn = pair.drawn
    if drawn is None or drawn.difference is None or drawn.low is None or drawn.high is None:
        return ""
    before, after = drawn.original.count, drawn.counterfactual.count
    points = {
        "points": t.number(abs(round(100 * drawn.difference))),
        "low": t.number(round(100 * drawn.low)),
        "high": t.number(round(100 * drawn.high)),
    }
    if drawn.finding == RateFinding.MOVED:
        less = drawn.difference < 0
        low, high = sorted((abs(drawn.low), abs(drawn.high)))
        points |= {"low": t.number(round(100 * low)), "high": t.number(round(100 * high))}
        said = (
            t("a drop of {points} points ({low} to {high})", **points)
            if less
            else t("a rise of {points} points ({low} to {high})", **points)
        )
    elif drawn.finding == RateFinding.HELD:
        said = t("it held, to within {points} points", points=t.number(round(100 * NOTHING)))
    else:
        said = t("too few samples to show a difference ({low} to {high} points)", **points)
    return t(
        "Before the change {passed} of {n} sampled completions pass; {done}, {now} of {m}: {said}.",
        passed=t.number(before.passed),
        n=t.number(before.n),
        done=_within(change_phrase(pair.mutation, t)),
        now=t.number(after.passed),
        m=t.number(after.n),
        said=said,
    )


def drawn_summary(record: PairsRecord, t: Translator = ENGLISH) -> str:
    """Describe the samples of all pairs of a function, beside the greedy verdicts; empty without any."""
    drawn = [(pair, pair.drawn) for pair in record.pairs if pair.drawn is not None]
    if not drawn:
        return ""
    moved = [pair for pair, draws in drawn if draws.finding == RateFinding.MOVED]
    counts = Counter(draws.finding for _, draws in drawn)
    rest = {
        "held": t.number(counts[RateFinding.HELD]),
        "open": t.number(counts[RateFinding.OPEN]),
        "n": t.number(len(drawn)),
    }
    if not moved:
        return t(
            "Sampled completions show no change beyond chance: {held} of {n} pairs held, {open} undecided "
            "for lack of samples.",
            **rest,
        )
    return t(
        "Sampled completions pass more or less often after {mutations}; {held} of {n} pairs held, {open} "
        "undecided for lack of samples.",
        mutations=t(" and ").join(dict.fromkeys(pair.mutation for pair in moved)),
        **rest,
    )


def bar(count: PassCount) -> str:
    """A pass rate as a bar of twenty characters: `\u2588` below its interval, `\u2592` in it."""
    low, high = count.interval()
    ends = round(_WIDTH * low), max(round(_WIDTH * high), round(_WIDTH * low) + 1)
    return _SHADES[True] * ends[0] + _INTERVAL * (ends[1] - ends[0]) + _SHADES[False] * (_WIDTH - ends[1])


def _within(phrase: str) -> str:
    return phrase[:1].lower() + phrase[1:]
