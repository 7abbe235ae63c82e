"""Describes the result of the gate for the models of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterlens.counting import plural
from counterlens.evaluation.gate import GateResult


def gate_lines(found: Sequence[GateResult], least: float) -> Iterator[str]:
    """A line per model, or the reason why the gate applies to none.

    Args:
        found: Results of the models.
        least: Minimum share of pairs that must be held.
    """
    if not found:
        yield f"gate {least:.0%}: passed, because no pair was judged"
    several = len({one.task for one in found}) > 1
    for one in found:
        who = f"{one.model}, {one.task}" if several else one.model
        yield f"gate {least:.0%}: {'FAILED' if one.failed else 'passed'}, {who} {_gate_sentence(one)}"


def _gate_sentence(one: GateResult) -> str:
    share, low, high, n = one.kept.value, one.kept.low, one.kept.high, one.kept.n
    if share is None or low is None or high is None:
        return "completed no pair correctly, so it could lose no verdict"
    sentence = f"keeps {share:.0%} ({low:.0%} to {high:.0%}) of {plural(n, 'right verdict')}"
    if one.below and one.noise:
        return f"{sentence}; its verdicts also change after meaningless changes, so this may be noise"
    if share < one.least and not one.below:
        return f"{sentence}: below the limit, but too few pairs to be sure"
    return sentence
