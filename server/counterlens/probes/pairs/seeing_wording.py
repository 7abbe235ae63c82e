"""Describe the reach of the tests into a hole."""

from __future__ import annotations

from counterlens.probes.pairs.record import PairRecord
from counterlens.translating import ENGLISH, Translator


def reached_sentence(pair: PairRecord, t: Translator = ENGLISH) -> str:
    """How many tests run the code after the cut, and how much of it; empty if unknown."""
    if pair.reached is None:
        return ""
    lines, tests = pair.reached.of, pair.reached.tests
    if tests == 1:
        return t(
            "One test runs the code after the cut: {ran} of its {lines} statements.",
            ran=t.number(pair.reached.lines),
            lines=t.number(lines),
        )
    return t(
        "{tests} tests run the code after the cut: {ran} of its {lines} statements.",
        tests=t.number(tests),
        ran=t.number(pair.reached.lines),
        lines=t.number(lines),
    )
