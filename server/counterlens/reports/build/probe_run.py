"""The report on one probe: of one function, of the functions of a file, or of a dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from counterlens.confidence.scoring import FunctionConfidence
from counterlens.counting import plural
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.runner import ProbeRun, State
from counterlens.probes.sanity import unsteady_share
from counterlens.reports.build.pairs import pairs_blocks, together
from counterlens.reports.document import (
    Block,
    Gist,
    Heading,
    HeadingLink,
    Marked,
    Paragraph,
    Report,
    ReportCell,
    TableBlock,
)

_MOST = 260  # characters of a summary in the overview
_CHECKED = {
    "completion": (
        "the function passes its own tests and fails them without its body, and the program of every "
        "counterfactual passes them"
    ),
    "repair": "the function fails its own tests, and so does the program of every counterfactual",
}
"""The checks that were made if these probes report figures (probes/pairs/judging.py)."""
_MARKS = {State.DONE: "passed", State.FAILED: "refused", State.CANCELLED: "refused"}


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


def probe_report(
    run: ProbeRun,
    subject: str,
    *,
    confidence: Mapping[str, FunctionConfidence] | None = None,
) -> Report:
    """The report on one probe.

    Args:
        subject: The subject, as the user named it.
        confidence: The confidence in functions of pair probes, by target.
    """
    path, pairs = subject.partition("::")[0], pairs_of(run)
    if run.state is State.DONE and pairs:
        title = f"Probe of {', '.join(record.function for record in pairs)}"
        return Report(title, tuple(_results(run, 1, path, confidence)))
    head = Heading(1, f"{run.probe.id}: {run.probe.title}")
    return Report(f"{subject}: {run.probe.id}", (head, *_state(run), *_results(run, 2, path)))


def section(run: ProbeRun, path: str | None = None) -> tuple[Block, ...]:
    """The section on one of several probes; empty while there is nothing to show.

    Args:
        run: The results so far.
        path: Path of the functions' file, as the user knows it.
    """
    if run.state is State.WAITING:
        return ()
    head = Heading(2, f"{run.probe.id}: {run.probe.title}", section_id(run))
    return (
        head,
        *_state(run),
        *(_check_blocks(run) if len(run.records) == 1 else ()),
        *_results(run, 3, path),
    )


def section_id(run: ProbeRun) -> str:
    """The id of its section; a page puts `head-` before it for the id of the heading."""
    return f"task-{run.probe.id}"


def state_mark(run: ProbeRun) -> Marked:
    """The state of a probe."""
    return Marked(str(run.state), _MARKS.get(run.state, "pending"))


def pairs_of(run: ProbeRun) -> tuple[PairsRecord, ...]:
    """The records of functions, for a probe of pairs."""
    return tuple(record for record in run.probed if isinstance(record, PairsRecord))


def _state(run: ProbeRun) -> Iterator[Block]:
    if run.state is not State.DONE:
        yield Paragraph(run.reason, lead=state_mark(run))


def _results(
    run: ProbeRun,
    level: int,
    path: str | None,
    confidence: Mapping[str, FunctionConfidence] | None = None,
) -> Iterator[Block]:
    """The results; `level` is that of the top headings."""
    pairs = pairs_of(run)
    if run.state is State.FAILED or run.model is None:
        return
    for record in pairs:
        in_file = record.target == record.function
        function_confidence = (confidence or {}).get(record.target, FunctionConfidence(None))
        yield from pairs_blocks(
            record,
            model=run.model,
            path=path if in_file else record.target.partition("::")[0] or path,
            level=level,
            confidence=function_confidence.scored,
            note=function_confidence.note,
        )
    if pairs and len(run.records) == 1:
        return
    if pairs:
        yield Heading(level, "All functions")
    elif run.probed:
        many = plural(len(run.probed), "function")
        yield Paragraph(f"{many}, asked of {run.model.name} ({run.model.where})", quiet=True)
    if run.probed:
        yield Gist((Paragraph(lead=run.summary), *_check_blocks(run)))
    if (share := unsteady_share(run.records)).count:
        many = f"{share.count} of {plural(share.n, 'function')} ({share.value:.0%})"
        yield Paragraph(f"{many} left out: a repeated question got another answer.", quiet=True)
    for table in run.tables:
        yield TableBlock.of(table)
    yield from together(pairs)
    if run.left_out:
        yield TableBlock("left out", ("why", "how often"), tuple(run.left_out.items()), quiet=True)


def _check_blocks(run: ProbeRun) -> Iterator[Block]:
    """Describe the checks that preceded the figures, if any."""
    judged = any(record.judged_by for record in pairs_of(run))
    if judged and run.probe.id in _CHECKED:
        yield Paragraph(f"Checked before any figure: {_CHECKED[run.probe.id]}.", quiet=True)
