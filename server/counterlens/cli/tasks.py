"""The probes beside completion: what `counterlens probe --task` runs."""

from __future__ import annotations

import click

from counterlens.cli.options import print_json, print_report, split_target, strong_sandbox
from counterlens.datasets import open_dataset
from counterlens.errors import ModelError, SourceError
from counterlens.models import Capability, Model
from counterlens.probes.registry import TASKS
from counterlens.probes.subjects import targets_of
from counterlens.probes.task import Need, Report, Request, Result, Target
from counterlens.reports.tables import task_json, task_report
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function, functions

_CAPABILITIES = {Need.SCORE: Capability.SCORE, Need.COMPLETE: Capability.COMPLETE}


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
    needs = TASKS[task].needs
    sandbox = strong_sandbox() if Need.TESTS in needs else None
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


def show(result: Result, *, as_json: bool) -> None:
    """Print a result."""
    if as_json:
        print_json(task_json(result))
    else:
        print_report(task_report(result))
