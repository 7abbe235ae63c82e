"""Describe the evidence of pairs: changes, samples, the noise floor, stability, contested passes.

Sampled completions have a bar. The noise floor is that of one function, or of many. Verdicts are unstable if
rounding may have decided them. A pass is contested if its program does otherwise than the original on an
input.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from counterlens.counting import plural
from counterlens.judging.base import describe_cheats, describe_comparison
from counterlens.metrics.effects import Proportion
from counterlens.metrics.pass_rates import NOTHING, PassCount, RateFinding
from counterlens.metrics.summary import EffectSummary, summarize
from counterlens.probes.pairs.record import PairRecord, PairsRecord, Side

if TYPE_CHECKING:
    from counterlens.metrics.noise_floor import AboveFloor

_DONE = {
    "if-else-flip": ("With the branches flipped", "the code for the unflipped condition"),
    "independent-swap": (
        "With two independent statements swapped",
        "the code that followed in their old order",
    ),
    "for-while-convert": ("With the loop converted", "the code for the original loop"),
    "refactor-condition": ("With the condition rewritten", "the code for the original condition"),
    "loop-unroll": ("With the loop unrolled", "the code for the original loop"),
    "partial-unroll": ("With the loop partly unrolled", "the code for the original loop"),
    "def-use-break": ("With the second use of a variable renamed", "the code with the old name"),
    "operand-swap": ("With the operands swapped", "the code for the original operands"),
    "reorder-parameters": ("With the parameters reordered", "the code for their old order"),
    "rename-random": ("With a variable renamed at random", "the code with the old name"),
    "rename-shuffle": ("With the variables' names swapped", "the code with the original names"),
    "rename-generic": ("With a variable given a generic name", "the code with the old name"),
    "annotate-strip": ("Without the annotations", "the code that it wrote with them"),
    "annotate-shuffle": ("With the annotations permuted", "the code that it wrote before"),
    "var-types": ("With declared types and `var` exchanged", "the code that it wrote before"),
    "blank-line": ("With a blank line added or removed", "the code that it wrote before"),
    "comment-move": ("With a comment moved by a line", "the code that it wrote before"),
    "docstring-quotes": ("With other quotation marks around the docstring", "the code that it wrote before"),
    "same-prompt": ("Sent the same prompt again", "the code that it wrote before"),
}
_WIDTH = 20
_SHADES = {True: "\u2588", False: "\u2591"}
_INTERVAL = "\u2592"


def rests_on(side: Side) -> str:
    """The facts behind a verdict: its tests, what the original says, and cheats; empty if nothing was run."""
    if not side.tests:
        return ""
    facts = [f"{side.attribution}, {plural(side.tests, 'case')}"]
    if side.comparison is not None:
        facts.append(describe_comparison(side.comparison).replace("\n ", ";"))
    if side.cheats is not None:
        facts.append(describe_cheats(side.cheats))
    return "; ".join(facts)


def change_phrase(mutation: str) -> str:
    """The change of a mutation, as the beginning of a sentence."""
    phrases = _DONE.get(mutation)
    return phrases[0] if phrases else f"After {mutation}"


def ignoring_phrase(mutation: str) -> str:
    """The meaning of ignoring a mutation, as the object of a sentence."""
    phrases = _DONE.get(mutation)
    return phrases[1] if phrases else "what it wrote before the change"


def contested_sentence(pair: PairRecord) -> str:
    """The input on which a passing side does otherwise than the original; empty if no pass is contested."""
    sides = ((pair.original, "before the change"), (pair.counterfactual, "after it"))
    return " ".join(_contest_sentence(side, when) for side, when in sides if side.contested)


def _contest_sentence(side: Side, when: str) -> str:
    comparison = side.comparison
    if comparison is None or not comparison.call:
        return f"Contested: the completion {when} passes, but does otherwise than the original."
    return (
        f"Contested: the completion {when} passes, but differs from the original on {comparison.call} "
        f"(original: {comparison.original}; this one: {comparison.other})."
    )


def contested_pairs(summary: EffectSummary) -> str:
    """The number of pairs with a contested pass, and the average effect of the others; empty without any."""
    uncontested = summary.uncontested
    if uncontested is None or not uncontested.contested.count:
        return ""
    share, average = uncontested.contested, uncontested.average
    return with_average(f"{share.count} of {share.n} informative pairs contested", " of the others", average)


def with_average(text: str, of: str, average: Proportion) -> str:
    """A count of pairs, and the average effect of them or of others, if it is known."""
    if average.value is None or average.low is None or average.high is None:
        return text
    interval = f"{average.low:.2f} to {average.high:.2f}"
    return f"{text}: average effect{of} {average.value:.2f} ({interval}, n = {average.n})"


def contested_count(record: PairsRecord) -> str:
    """How many informative pairs have a contested pass; empty if none."""
    count = sum(pair.contested for pair in record.pairs if pair.effect and pair.effect.informative)
    return f"{count} contested" if count else ""


def drawn_sentence(pair: PairRecord) -> str:
    """How often both sides pass, and the conclusion; empty if nothing was sampled."""
    drawn = pair.drawn
    if drawn is None or drawn.difference is None or drawn.low is None or drawn.high is None:
        return ""
    before, after = drawn.original.count, drawn.counterfactual.count
    low, high = drawn.low, drawn.high
    if drawn.finding == RateFinding.MOVED:
        less = drawn.difference < 0
        low, high = sorted((abs(drawn.low), abs(drawn.high)))
        points = abs(round(100 * drawn.difference))
        said = f"a {'drop' if less else 'rise'} of {points:,} points ({_points(low)} to {_points(high)})"
    elif drawn.finding == RateFinding.HELD:
        said = f"it held, to within {round(100 * NOTHING):,} points"
    else:
        said = f"too few samples to show a difference ({_points(low)} to {_points(high)} points)"
    return (
        f"Before the change {before.passed:,} of {before.n:,} sampled completions pass; "
        f"{_within(change_phrase(pair.mutation))}, {after.passed:,} of {after.n:,}: {said}."
    )


def _points(share: float) -> str:
    return f"{round(100 * share):,}"


def drawn_summary(record: PairsRecord) -> str:
    """Describe the samples of all pairs of a function, beside the greedy verdicts; empty without any."""
    drawn = [(pair, pair.drawn) for pair in record.pairs if pair.drawn is not None]
    if not drawn:
        return ""
    moved = [pair for pair, draws in drawn if draws.finding == RateFinding.MOVED]
    counts = Counter(draws.finding for _, draws in drawn)
    held = f"{counts[RateFinding.HELD]:,} of {len(drawn):,} pairs held"
    undecided = f"{counts[RateFinding.OPEN]:,} undecided for lack of samples."
    if not moved:
        return f"Sampled completions show no change beyond chance: {held}, {undecided}"
    mutations = " and ".join(dict.fromkeys(pair.mutation for pair in moved))
    return f"Sampled completions pass more or less often after {mutations}; {held}, {undecided}"


def bar(count: PassCount) -> str:
    """A pass rate as a bar of twenty characters: `\u2588` below its interval, `\u2592` in it."""
    low, high = count.interval()
    ends = round(_WIDTH * low), max(round(_WIDTH * high), round(_WIDTH * low) + 1)
    return _SHADES[True] * ends[0] + _INTERVAL * (ends[1] - ends[0]) + _SHADES[False] * (_WIDTH - ends[1])


def _within(phrase: str) -> str:
    return phrase[:1].lower() + phrase[1:]


def describe_floor(comparison: AboveFloor) -> str:
    """The noise floor of an average effect, and whether the effect exceeds it; empty without placebos."""
    floor, above = comparison.floor, comparison.difference
    if not comparison.placebos:
        return ""
    if floor.value is None or floor.low is None or floor.high is None:
        return f"noise floor unknown: none of {plural(comparison.placebos, 'placebo')} is informative"
    text = f"noise floor {floor.value:.2f} (95 % interval {floor.low:.2f} to {floor.high:.2f}, n = {floor.n})"
    if above.value is None or above.low is None or above.high is None:
        return text
    told = "" if comparison.exceeded else ", so the effect may be noise"
    test = "" if comparison.p is None else f", exact p {comparison.p:.3g}"
    return (
        f"{text}; effect minus floor {above.value:+.2f} ({above.low:+.2f} to {above.high:+.2f}{test}){told}"
    )


def noise_floor(record: PairsRecord) -> str:
    """How many placebos of a function changed the verdict, as a sentence; empty without judged placebos."""
    able = [pair for pair in record.placebos if pair.effect and pair.effect.informative]
    if not able:
        return ""
    return f"Noise floor: {len(_changed_placebos(record))} of {len(able):,} placebos changed the verdict."


def noisy_verdict(record: PairsRecord) -> str:
    """State that placebos change the verdict on a function, so there is no conclusion; empty if none does."""
    changed, summary = _changed_placebos(record), summarize(record.observations)
    if not changed:
        return ""
    return (
        f"The verdict on {record.name} also changes after meaningless changes: {len(changed)} of "
        f"{len(record.placebos):,} placebos changed it "
        f"({' and '.join(dict.fromkeys(pair.mutation for pair in changed))}), and {summary.average.count:,} "
        f"of {summary.pairs:,} counterfactuals. Therefore this is no evidence about the model's "
        "understanding."
    )


def _changed_placebos(record: PairsRecord) -> list[PairRecord]:
    """The placebos that changed the verdict."""
    return [pair for pair in record.placebos if pair.effect and pair.effect.signed]


def unstable_sentence(pair: PairRecord) -> str:
    """How many alternatives of each side pass, if rounding may have decided a verdict; else empty."""
    if pair.stable is not False:
        return ""
    before, after = (
        _ways(pair.original, pair.original_right),
        _ways(pair.counterfactual, pair.counterfactual_right),
    )
    return (
        f"Unstable: some tokens were nearly tied. {sum(before):,} of {len(before):,} completions that "
        f"rounding could produce pass before the change, and {sum(after):,} of {len(after):,} after it."
    )


def unstable_pairs(summary: EffectSummary) -> str:
    """The number of unstable pairs, and the average effect of the stable ones; empty if all are stable."""
    stable = summary.stable
    if stable is None or stable.share.count == stable.share.n:
        return ""
    informative, average = stable.share.n, stable.average
    text = f"{informative - stable.share.count} of {informative} informative pairs unstable"
    return with_average(text, " of the stable ones", average)


def unstable_changes(record: PairsRecord) -> str:
    """How many changes of a verdict rounding may explain; empty if none."""
    count = sum(pair.changed_unstably for pair in record.pairs)
    return f"{count} unstable" if count else ""


def unstable(record: PairsRecord) -> str:
    """State that rounding may explain every change of a verdict; empty if not, or if none changed."""
    changed = [pair for pair in record.pairs if pair.effect and pair.effect.signed]
    if not changed or not all(pair.changed_unstably for pair in changed):
        return ""
    return (
        f"The verdict on {record.name} changed on {len(changed)} of "
        f"{summarize(record.observations).average.n:,} counterfactuals, but each time some tokens were "
        "nearly tied and the other choice leads to another verdict. Rounding may be the cause, so this is "
        "no evidence of an effect."
    )


def _ways(side: Side, right: bool | None) -> list[bool]:
    """Whether each alternative passes, the greedy completion first."""
    return [bool(right), *(way.passed for way in side.ways or ())]
