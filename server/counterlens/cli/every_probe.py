"""`counterlens probe --task all`: shows each result as it arrives, and keeps it when interrupted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import click

from counterlens.cli.interrupting import INTERRUPTED, finishing
from counterlens.cli.options import print_json, print_report
from counterlens.cli.progress_lines import steps
from counterlens.cli.report_output import ReportOutput
from counterlens.cli.saying import say
from counterlens.errors import Cancelled, DataError, SourceError
from counterlens.probes.options import ProbeOptions
from counterlens.probes.probe import Context, Probe, Target
from counterlens.probes.registry import ALL
from counterlens.probes.runner import ProbeRun, State, attempt
from counterlens.progress import Steps
from counterlens.reports.build.probe_run import probe_report
from counterlens.reports.export.json import probe_document
from counterlens.reports.formats import write_probes
from counterlens.reports.render import terminal


class Functions(Protocol):
    """The source of a probe's functions."""

    def targets(self, probe: Probe[Any, Any], options: ProbeOptions) -> list[Target]:
        """Return the functions for a probe."""
        ...


def probe_everything(
    context: Context,
    probes: Sequence[Probe[Any, Any]],
    options: Mapping[str, ProbeOptions],
    subject: Functions,
    output: ReportOutput,
) -> None:
    """Run every probe; results are shown as they arrive, or written at the end, even after an interrupt.

    Args:
        context: The resources of the probes.
        probes: The probes, in order.
        options: Options by probe id.
        subject: Returns the functions; it also has the user's name for them.
        output: The requested reports.

    Raises:
        click.exceptions.Exit: the user cancelled.
    """
    runs = [ProbeRun(probe, options[probe.id], model=context.model.info) for probe in probes]
    interrupted = False
    for number, probe in enumerate(probes):
        begun = [runs[number]]
        try:
            with steps(probe.id, counts_whole=False) as report:
                watched = replace(context, steps=Steps(None, report).part(probe.id, number, len(probes)))
                runs[number] = _run(watched, runs[number], subject, begun)
        except (KeyboardInterrupt, Cancelled):
            given_up = [replace(run, state=State.CANCELLED) for run in (begun[-1], *runs[number + 1 :])]
            runs, interrupted = [*runs[:number], *given_up], True
            break
        if output.terminal:
            print_report(terminal.render(probe_report(runs[number], str(subject))))
            say()
    title = f"{subject}: every task"
    info = context.model.info
    asked = f"asked of {info.name} ({info.where})"
    with finishing():
        output.write(lambda form: write_probes(form, runs, title, asked))
        if output.as_json:
            print_json(_document(runs, interrupted=interrupted))
    if interrupted:
        done = sum(run.state is State.DONE for run in runs)
        rest = [run.probe.id for run in runs if run.state is State.CANCELLED]
        say(f"interrupted: {done} tasks are finished; unfinished: {', '.join(rest)}", err=True)
        raise click.exceptions.Exit(INTERRUPTED)


def _run(context: Context, run: ProbeRun, subject: Functions, begun: list[ProbeRun]) -> ProbeRun:
    try:
        targets = subject.targets(run.probe, run.options)
    except (DataError, SourceError) as error:
        return replace(run, state=State.FAILED, reason=str(error))
    return attempt(run.probe, context, targets, run.options, update=begun.append)


def _document(runs: Sequence[ProbeRun], *, interrupted: bool) -> dict[str, Any]:
    """All results as one JSON document. Its keys are a contract: added to, never renamed."""
    return {
        "task": ALL,
        "results": [probe_document(run) for run in runs if run.records],
        "left_out": {run.probe.id: run.reason or str(run.state) for run in runs if not run.probed},
        "interrupted": interrupted,
    }
