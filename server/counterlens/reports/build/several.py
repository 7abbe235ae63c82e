"""The report on several probes: an overview and one section each, for a growing page or all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from counterlens.probes.runner import ProbeRun, State
from counterlens.reports.build.probe_run import section, section_id, state_mark
from counterlens.reports.document import (
    Block,
    Heading,
    HeadingLink,
    Paragraph,
    Report,
    ReportCell,
    TableBlock,
)

_MOST = 260  # characters of a summary in the overview


def several_report(title: str, about: str, runs: Sequence[ProbeRun], *, path: str | None = None) -> Report:
    """The report on finished probes.

    Args:
        title: The probed functions.
        about: Their path, and the model.
        runs: The probes, in order.
        path: Path of the functions' file, as the user knows it.
    """
    sections = [block for run in runs for block in section(run, path)]
    return Report(title, (*overview(title, about, runs, linked=True), *sections))


def overview(title: str, about: str, runs: Sequence[ProbeRun], *, linked: bool = False) -> tuple[Block, ...]:
    """The state of each probe, and its result; its name links to its section.

    Args:
        title: The probed function.
        about: Its path, and the model.
        runs: The probes, in order.
        linked: Whether to use a link; otherwise a button, for a host whose script handles it.
    """
    rows: tuple[tuple[ReportCell, ...], ...] = tuple(
        (_name(run, linked), state_mark(run), _short(run.summary)) for run in runs
    )
    table = TableBlock("tasks" if len(rows) > 1 else "task", ("task", "state", "what it shows"), rows)
    return (Heading(1, title, "overview"), Paragraph(about), table)


def progress_line(runs: Sequence[ProbeRun]) -> str:
    """The progress of all probes, as a line for screen readers."""
    states = Counter(run.state for run in runs)
    over = states[State.DONE] + states[State.FAILED]
    running = next((run.probe.id for run in runs if run.state is State.RUNNING), None)
    if running is not None:
        return f"{running} is running; {over} of {len(runs)} finished"
    if states[State.WAITING]:
        return f"{over} of {len(runs)} finished"
    parts = [f"{states[state]} {state}" for state in (State.DONE, State.FAILED, State.CANCELLED)]
    return "Finished: " + ", ".join(part for part in parts if not part.startswith("0"))


def _name(run: ProbeRun, linked: bool) -> ReportCell:
    return run.probe.id if run.state is State.WAITING else HeadingLink(run.probe.id, section_id(run), linked)


def _short(text: str) -> str:
    return text if len(text) <= _MOST else text[: _MOST - 1].rsplit(" ", 1)[0] + "…"
