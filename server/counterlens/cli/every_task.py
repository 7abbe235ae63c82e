"""`counterlens probe --task all`: what each task finds is shown as it comes, and kept when interrupted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import click

from counterlens.cli.options import print_json, print_report, steps
from counterlens.cli.tasks import about_of
from counterlens.cli.written import Written
from counterlens.errors import Cancelled, DataError
from counterlens.probes.offers import ALL, OFFERS, Offer
from counterlens.probes.running import Outcome, State, run_offer
from counterlens.probes.session import Variant
from counterlens.probes.task import Report, Request, Target
from counterlens.reports import json as plain
from counterlens.reports.tables import task_json, task_report
from counterlens.reports.tasks_html import tasks_html
from counterlens.reports.tasks_markdown import tasks_markdown
from counterlens.reports.terminal import probe_report

INTERRUPTED = 130
"""The exit code, as that of a program which the signal ended."""


@dataclass(frozen=True, slots=True)
class Everything:
    """What came of all tasks.

    Attributes:
        outcomes: Those that were begun, in their order.
        waiting: Ids of those that were not, because the user had enough.
    """

    outcomes: tuple[Outcome, ...]
    waiting: tuple[str, ...]

    @property
    def all(self) -> tuple[Outcome, ...]:
        """Every task, those that were not begun as cancelled."""
        return *self.outcomes, *(Outcome(OFFERS[name], State.CANCELLED) for name in self.waiting)

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return bool(self.waiting) or any(one.state is State.CANCELLED for one in self.outcomes)


def run_all(
    request: Request,
    *,
    bugs: Callable[[], Sequence[Target]] | None = None,
    show: Callable[[Outcome], None] = lambda _outcome: None,
) -> Everything:
    """Run every task, one after the other, until the user has enough.

    Args:
        request: The model, the functions and the rest.
        bugs: Gives the functions with bugs, for repair, where they are others; raises DataError if none are.
        show: Called with each outcome as it comes.
    """
    outcomes: list[Outcome] = []
    offers = list(OFFERS.values())
    for number, offer in enumerate(offers):
        begun = [Outcome(offer, State.RUNNING)]
        try:
            with steps(offer.id) as report:
                told = partial(_named, report, f"{number + 1}/{len(offers)} {offer.id}")
                outcome = _run(offer, replace(request, report=told), bugs, begun.append)
        except (KeyboardInterrupt, Cancelled):
            outcomes.append(replace(begun[-1], state=State.CANCELLED))
            show(outcomes[-1])
            return Everything(tuple(outcomes), tuple(one.id for one in offers[number + 1 :]))
        outcomes.append(outcome)
        show(outcome)
    return Everything(tuple(outcomes), ())


def _run(
    offer: Offer,
    request: Request,
    bugs: Callable[[], Sequence[Target]] | None,
    update: Callable[[Outcome], None],
) -> Outcome:
    if offer.id == Variant.REPAIR and bugs is not None:
        try:
            request = replace(request, targets=bugs())
        except DataError as error:
            return Outcome(offer, State.FAILED, str(error))
    return run_offer(offer, request, update=update)


def _named(report: Report, task: str, what: str, done: int, total: int) -> None:
    report(f"{task}: {what}", done, total)


def probe_everything(
    request: Request, subject: str, bugs: Callable[[], Sequence[Target]] | None, written: Written
) -> None:
    """Run every task; what is found is shown as it comes, or written at the end, also when interrupted.

    Args:
        request: The model, the functions and the rest.
        subject: What the functions are of, as the user named it.
        bugs: As `run_all`.
        written: Which reports are asked for.

    Raises:
        click.exceptions.Exit: the user ended it.
    """
    found = run_all(request, bugs=bugs, show=show_outcome if written.terminal else lambda _outcome: None)
    title, about = f"{subject}: every task", about_of(request)
    written.write(
        partial(tasks_markdown, title, about, found.all), partial(tasks_html, title, about, found.all)
    )
    if written.as_json:
        print_everything(found)
    show_end(found)
    if found.interrupted:
        raise click.exceptions.Exit(INTERRUPTED)


def show_outcome(outcome: Outcome) -> None:
    """Print what one task found, or why it was not run."""
    for one in outcome.probed:
        print_report(probe_report(one.probe, one.confidence, note=one.note))
        click.echo()
    if outcome.result is not None:
        print_report(task_report(outcome.result))
        click.echo()
    for name, reason in _reasons([outcome]).items():
        click.echo(f"{name} is left out: {reason}")


def show_end(found: Everything) -> None:
    """Say, where the user had enough, what was done and what was not."""
    if found.interrupted:
        done = [one.offer.id for one in found.outcomes if one.state is State.DONE]
        rest = [one.offer.id for one in found.outcomes if one.state is State.CANCELLED] + [*found.waiting]
        click.echo(
            f"interrupted: {len(done)} tasks are done; not, or not to the end: {', '.join(rest)}", err=True
        )


def print_everything(found: Everything) -> None:
    """Print all as one JSON document. Its keys are a contract: added to, never renamed."""
    document: dict[str, Any] = {"task": ALL, "results": []}
    document |= {str(variant): plain.probes([], {}) for variant in Variant}
    for outcome in found.outcomes:
        if outcome.result is not None:
            document["results"].append(task_json(outcome.result))
        if outcome.probed:
            pairs = [(one.probe, one.confidence) for one in outcome.probed]
            document[outcome.offer.id] = plain.probes(pairs, {})
    document["left_out"] = _reasons(found.outcomes)
    document["interrupted"] = found.interrupted
    print_json(document)


def _reasons(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Why tasks, or functions of them, are left out."""
    reasons = {}
    for one in outcomes:
        if one.state is State.FAILED:
            reasons[one.offer.id] = one.reason
            continue
        reasons |= {f"{one.offer.id} of {name}": reason for name, reason in one.left_out.items()}
        if one.state is State.CANCELLED:
            reasons[one.offer.id] = "it was interrupted"
    return reasons
