"""What came of several tasks, in words that the panel, Markdown and the answer share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from counterlens.metrics.summary import summarize
from counterlens.probes.results import CompletionProbe
from counterlens.probes.running import Outcome, State
from counterlens.probes.session import Variant
from counterlens.reports.markdown import average, counts
from counterlens.reports.wording import meaning

_CHECKED = {
    Variant.COMPLETE: "as it stands the function passes its own tests, without its body it fails them, and "
    "the program of every counterfactual passes them",
    Variant.REPAIR: "as it stands the function fails its own tests, and so does the program of every "
    "counterfactual",
}
"""What holds wherever these probes give figures (probes/judging.py)."""


def probes_of(outcome: Outcome) -> list[CompletionProbe]:
    """The probes of functions."""
    return [one.probe for one in outcome.probed]


def summary(outcome: Outcome) -> str:
    """What one task found, in a sentence or two; why it found nothing, where that is so."""
    if outcome.reason:
        return outcome.reason
    if outcome.result is not None:
        return outcome.result.summary
    probes = probes_of(outcome)
    if len(probes) == 1:
        return meaning(probes[0])
    if probes:
        found = summarize([one for probe in probes for one in probe.observations])
        told = "; ".join(part for part in (counts(found), average(found)) if part)
        return f"{len(probes)} functions: {told}."
    return ""


def checked(outcome: Outcome) -> str:
    """Which checks came before the figures, and held; empty where there are none to tell of."""
    judged = any(probe.judged_by for probe in probes_of(outcome))
    return _CHECKED.get(Variant(outcome.offer.id), "") if judged else ""


def left_out(outcome: Outcome) -> list[tuple[str, int]]:
    """What does not count, and how often, by reason."""
    if outcome.result is not None:
        return sorted(outcome.result.left_out.items(), key=lambda one: (-one[1], one[0]))
    reasons: Counter[str] = Counter()
    for name, reason in outcome.left_out.items():
        reasons[reason.replace(name, "a function") if len(outcome.left_out) > 1 else reason] += 1
    return reasons.most_common()


def standing(outcomes: Sequence[Outcome]) -> str:
    """How far everything is, for a line that a screen reader speaks."""
    states = Counter(outcome.state for outcome in outcomes)
    over = states[State.DONE] + states[State.FAILED]
    running = next((outcome.offer.id for outcome in outcomes if outcome.state is State.RUNNING), None)
    if running is not None:
        return f"{running} is running; {over} of {len(outcomes)} finished"
    if states[State.WAITING]:
        return f"{over} of {len(outcomes)} finished"
    parts = [f"{states[state]} {state}" for state in (State.DONE, State.FAILED, State.CANCELLED)]
    return "Finished: " + ", ".join(part for part in parts if not part.startswith("0"))
