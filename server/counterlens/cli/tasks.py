"""The probes beside completion: what `counterlens probe --task` runs."""

from __future__ import annotations

from functools import partial

import click

from counterlens.cli.options import print_json, print_report, split_target, strong_sandbox
from counterlens.datasets import open_dataset
from counterlens.errors import Cancelled, CounterlensError, ModelError, SourceError
from counterlens.models import Capability, Model
from counterlens.probes.registry import TASKS
from counterlens.probes.session import Probed, ProbeSession
from counterlens.probes.subjects import targets_of
from counterlens.probes.task import Need, Report, Request, Result, Target
from counterlens.reports import json as plain
from counterlens.reports.tables import task_json, task_report
from counterlens.reports.terminal import probe_report
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function, functions

ALL = "all"
"""Stands for every task."""
_CAPABILITIES = {Need.SCORE: Capability.SCORE, Need.COMPLETE: Capability.COMPLETE}


def chosen_tasks(task: str) -> list[str]:
    """The tasks that a name stands for."""
    return list(TASKS) if task == ALL else [task]


def targets(
    task: str, target: str, *, data: str | None = None, limit: int | None = None, seed: int = 0
) -> list[Target]:
    """The functions that `PATH[::QUALNAME]` names, or those of a dataset.

    Raises:
        click.UsageError: there is neither a path nor a dataset, or both.
        SourceError: there is no such file or function, or the file has no functions.
        DataError: the dataset cannot be read.
    """
    if bool(target) == (data is not None):
        raise click.UsageError("give either PATH[::QUALNAME] or --data")
    if data is None:
        return _of_file(target)
    needs = {need for name in chosen_tasks(task) for need in TASKS[name].needs}
    sandbox = strong_sandbox() if {Need.TESTS, Need.SANDBOX} & needs else None
    return targets_of(open_dataset(data), limit=limit, seed=seed, sandbox=sandbox)


def _of_file(target: str) -> list[Target]:
    """One function, or all of a file but those inside of others."""
    path, qualname = split_target(target)
    document = Document.read(path)
    if qualname:
        return [Target(document, find_function(document, qualname).qualname)]
    known = functions(document)
    outer = [f for f in known if not any(g.start < f.start and f.end <= g.end for g in known)]
    if not outer:
        raise SourceError(f"{path} has no functions", "Name a file that has some")
    return [Target(document, f.qualname) for f in outer]


def run(
    task: str,
    model: Model,
    chosen: list[Target],
    *,
    seed: int,
    windows: bool,
    corpus: str | None,
    method: str | None = None,
    report: Report,
) -> Result:
    """Run a task.

    Raises:
        ModelError: the model does not offer what the task needs.
        CounterlensError: as `Task.run`.
    """
    for need, capability in _CAPABILITIES.items():
        if need in TASKS[task].needs and not model.offers(capability):
            raise ModelError(f"the task {task} needs {need}, which {model.info.name} does not give")
    request = Request(
        model, chosen, strong_sandbox, seed=seed, windows=windows, corpus=corpus, method=method, report=report
    )
    return TASKS[task].run(request)


def run_all(
    model: Model,
    chosen: list[Target],
    *,
    seed: int,
    windows: bool,
    corpus: str | None,
    method: str | None = None,
    report: Report,
) -> tuple[list[Result], dict[str, str]]:
    """Run every task, one after the other.

    Returns:
        What they found; and for each that found nothing the reason, by its id.

    Raises:
        Cancelled: the user gave up.
    """
    done, left_out = [], {}
    for task in TASKS:
        try:
            done.append(
                run(
                    task,
                    model,
                    chosen,
                    seed=seed,
                    windows=windows,
                    corpus=corpus,
                    method=method,
                    report=partial(_named, report, task),
                )
            )
        except Cancelled:
            raise
        except CounterlensError as error:
            left_out[task] = error.message + (f" ({error.hint})" if error.hint else "")
    return done, left_out


def completions(session: ProbeSession, chosen: list[Target]) -> tuple[list[Probed], dict[str, str]]:
    """The completion probe of functions of a file or a dataset, and why some have none, by name."""
    found: list[Probed] = []
    left_out: dict[str, str] = {}
    for target in chosen:
        if target.judge is not None:
            judged, reasons = session.probe_targets([target])
            found += judged
            left_out |= reasons
            continue
        try:
            found.append(session.probe(target.document, target.qualname))
        except SourceError as error:
            left_out[target.name] = error.message
    return found, left_out


def _named(report: Report, task: str, what: str, done: int, total: int) -> None:
    report(f"{task}: {what}", done, total)


def show_all(results: list[Result], probed: list[Probed], left_out: dict[str, str], *, as_json: bool) -> None:
    """Print the results of all tasks, those of completion first, and why some have none."""
    if as_json:
        completion = plain.probes([(one.probe, one.confidence) for one in probed], {})
        found = [task_json(one) for one in results]
        print_json({"task": ALL, "completion": completion, "results": found, "left_out": left_out})
        return
    for one in probed:
        print_report(probe_report(one.probe, one.confidence, note=one.note))
        click.echo()
    for result in results:
        show(result, as_json=False)
        click.echo()
    for task, reason in left_out.items():
        click.echo(f"{task} is left out: {reason}")


def show(result: Result, *, as_json: bool) -> None:
    """Print a result."""
    if as_json:
        print_json(task_json(result))
    else:
        print_report(task_report(result))
