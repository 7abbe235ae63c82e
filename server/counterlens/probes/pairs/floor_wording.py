"""Describe the noise floor: of one function, and of many."""

from __future__ import annotations

from counterlens.counting import plural
from counterlens.metrics.noise_floor import AboveFloor
from counterlens.metrics.summary import summarize
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.translating import ENGLISH, Translator


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


def noise_floor(record: PairsRecord, t: Translator = ENGLISH) -> str:
    """How many placebos of a function changed the verdict, as a sentence; empty without judged placebos."""
    able = [pair for pair in record.placebos if pair.effect and pair.effect.informative]
    if not able:
        return ""
    return t(
        "Noise floor: {count} of {n} placebos changed the verdict.",
        count=len(_changed_placebos(record)),
        n=t.number(len(able)),
    )


def noisy_verdict(record: PairsRecord, t: Translator = ENGLISH) -> str:
    """State that placebos change the verdict on a function, so there is no conclusion; empty if none does."""
    changed, summary = _changed_placebos(record), summarize(record.observations)
    if not changed:
        return ""
    return t(
        "The verdict on {name} also changes after meaningless changes: {count} of {n} placebos changed it "
        "({placebos}), and {changed} of {all} counterfactuals. Therefore this is no evidence about the "
        "model's understanding.",
        name=record.name,
        count=len(changed),
        n=t.number(len(record.placebos)),
        placebos=t(" and ").join(dict.fromkeys(pair.mutation for pair in changed)),
        changed=t.number(summary.average.count),
        all=t.number(summary.pairs),
    )


def _changed_placebos(record: PairsRecord) -> list[PairRecord]:
    """The placebos that changed the verdict."""
    return [pair for pair in record.placebos if pair.effect and pair.effect.signed]
