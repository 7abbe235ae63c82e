"""What is known about a verdict beside the tests, in plain words."""

from __future__ import annotations

from counterlens.counting import plural
from counterlens.judging.base import CheatTrial, OriginalComparison, OriginalSays, Verdict

NO_ORIGINAL = "nothing but its own tests vouches for it: there is no original to compare it with"


def facts_of(verdict: Verdict) -> list[str]:
    """What the original and the cheats say about a program that passes, a line each; empty for any other."""
    evidence = verdict.evidence
    if not verdict.passed or (evidence.comparison is None and evidence.cheats is None):
        return []
    facts = [describe_comparison(evidence.comparison) if evidence.comparison else NO_ORIGINAL]
    if evidence.cheats is not None:
        facts.append(describe_cheats(evidence.cheats))
    return facts


def describe_comparison(comparison: OriginalComparison) -> str:
    """What the original says, such as `agrees with the original on 62 inputs`."""
    reason = f"; {comparison.reason}" if comparison.reason else ""
    inputs = plural(comparison.inputs, "input")
    match comparison.agreement:
        case OriginalSays.AGREES:
            return f"agrees with the original on {inputs}{reason}"
        case OriginalSays.DIFFERS:
            where = f": {comparison.call}" if comparison.call else ""
            original = f"\n  original: {comparison.original}" if comparison.original else ""
            return f"differs from the original{where}{original}\n  this one: {comparison.other}"
    return f"not comparable with the original: {comparison.reason}"


def describe_cheats(cheats: CheatTrial) -> str:
    """Whether the tests fail for cheats, such as `the tests fail for 9 of 9 cheats`."""
    if not cheats.passing:
        return f"the tests fail for {cheats.failing} of {plural(cheats.tried, 'cheat')}"
    cheat = min(cheats.passing, key=len)
    return f"the tests pass {len(cheats.passing)} of {plural(cheats.tried, 'cheat')}, such as `{cheat}`"
