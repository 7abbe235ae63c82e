"""Running what was chosen of `OFFERS` on functions of a document, and what came of each as it comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from counterlens.confidence import Confidence
from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.probes.offers import Offer
from counterlens.probes.registry import TASKS
from counterlens.probes.session import Probed, ProbeSession, Variant
from counterlens.probes.task import Request, Result
from counterlens.sandbox.registry import best_sandbox


class State(StrEnum):
    """How far a task is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "not run"  # the reason says what is missing, or which check it did not pass
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one task.

    Attributes:
        offer: The task.
        state: How far it is. While it runs, there may be results of some functions already.
        reason: Why it was not run, and what to do.
        probed: The probes of functions, for completion, repair and likelihood.
        result: What any other task found.
        left_out: Why functions were left out, by name.
    """

    offer: Offer
    state: State = State.WAITING
    reason: str = ""
    probed: tuple[Probed, ...] = ()
    result: Result | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)


def run_offer(
    offer: Offer,
    request: Request,
    *,
    scored: Confidence | None = None,
    update: Callable[[Outcome], None] = lambda _outcome: None,
) -> Outcome:
    """Run one task. What goes wrong is part of the outcome, but for being cancelled.

    Args:
        offer: The task.
        request: The model, the functions and the rest.
        scored: Confidence on the document of all targets, where it is known already.
        update: Called with what there is so far, after each function.

    Raises:
        Cancelled: `request.cancel` was set.
    """
    begun = Outcome(offer, State.RUNNING)
    try:
        missing = offer.missing_of(request.model, cancel=request.cancel)
        if missing is not None:
            return replace(begun, state=State.FAILED, reason=missing)
        if offer.id in list(Variant):
            return _probed(begun, request, scored, update)
        return replace(begun, state=State.DONE, result=TASKS[offer.id].run(request))
    except Cancelled:
        raise
    except CounterlensError as error:
        return replace(begun, state=State.FAILED, reason=str(error))


def _probed(
    begun: Outcome,
    request: Request,
    scored: Confidence | None,
    update: Callable[[Outcome], None],
) -> Outcome:
    """Completion, repair or likelihood of one function after the other."""
    found: list[Probed] = []
    left_out: dict[str, str] = {}
    variant = Variant(begun.offer.id)
    asked = request if begun.offer.runs else replace(request, sandbox=best_sandbox)
    for number, target in enumerate(request.targets):
        session = ProbeSession(replace(asked, report=_within(request, number)), variant)
        try:
            if target.id:  # of a dataset
                probed, reasons = session.probe_targets([target])
                found += probed
                left_out |= reasons
            else:
                found.append(
                    session.probe(target.document, target.qualname, scored=scored, judge=target.judge)
                )
        except SourceError as error:  # the others can still be probed
            left_out[target.name] = str(error)
        begun = replace(begun, probed=tuple(found), left_out=dict(left_out))
        if number + 1 < len(request.targets):
            update(begun)
    if not found:
        why = "; ".join(dict.fromkeys(left_out.values()))
        return replace(begun, state=State.FAILED, reason=why)
    return replace(begun, state=State.DONE)


def _within(request: Request, number: int) -> Callable[[str, int, int], None] | None:
    """Reports the steps of one function as steps of all."""
    told, several = request.report, len(request.targets)
    if told is None or several == 1:
        return told
    name = request.targets[number].name

    def report(what: str, done: int, total: int) -> None:
        told(f"{name}: {what}", 100 * number + 100 * done // max(total, 1), 100 * several)

    return report
