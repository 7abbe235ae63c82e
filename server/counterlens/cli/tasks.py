"""The probes beside completion: what `counterlens probe --task` runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import click

from counterlens.attribution.base import LIMITS
from counterlens.cli.options import print_json, print_report, split_target, steps, strong_sandbox
from counterlens.cli.written import Written
from counterlens.counting import plural
from counterlens.datasets import open_dataset
from counterlens.errors import ModelError
from counterlens.probes.offers import ALL, OFFERS
from counterlens.probes.registry import TASKS
from counterlens.probes.running import Outcome, State
from counterlens.probes.subjects import targets_in, targets_of
from counterlens.probes.task import Request, Result, Target
from counterlens.reports.tables import task_json, task_report
from counterlens.reports.tasks_html import tasks_html
from counterlens.reports.tasks_markdown import tasks_markdown
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document


def targets(
    task: str,
    target: str,
    *,
    data: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    limits: Limits = LIMITS,
) -> list[Target]:
    """The functions that `PATH[::QUALNAME]` names, or those of a dataset; the rest is that of `targets_of`.

    Raises:
        click.UsageError: there is neither a path nor a dataset, or both.
        SourceError: there is no such file or function, or the file has no functions.
        DataError: the dataset cannot be read.
    """
    if bool(target) == (data is not None):
        raise click.UsageError("give either PATH[::QUALNAME] or --data")
    if data is None:
        return _of_file(target)
    sandbox = strong_sandbox() if task == ALL or OFFERS[task].runs else None
    return targets_of(open_dataset(data), limit=limit, seed=seed, sandbox=sandbox, limits=limits)


def _of_file(target: str) -> list[Target]:
    """One function, or all of a file but those inside of others."""
    path, qualname = split_target(target)
    return targets_in(Document.read(path), qualname)


def run(task: str, request: Request) -> Result:
    """Run a task.

    Raises:
        ModelError: the model does not offer what the task needs.
        CounterlensError: as `Task.run`.
    """
    missing = OFFERS[task].missing_of(request.model)
    if missing is not None:
        raise ModelError(f"the task {task} cannot be asked: {missing}")
    return TASKS[task].run(request)


def bugs_of(data: str, drawn: Callable[..., list[Target]]) -> list[Target]:
    """The programs with bugs of a dataset, for repair; `drawn` is `targets_of` with the sample's options.

    Raises:
        DataError: it has none, or cannot be read.
    """
    return drawn(open_dataset(data), sandbox=strong_sandbox(), buggy=True)


def probe_task(task: str, request: Request, subject: str, written: Written) -> None:
    """Run a task and tell what it found.

    Args:
        task: Which.
        request: The model, the functions and the rest.
        subject: What the functions are of, as the user named it.
        written: Which reports are asked for.

    Raises:
        as `run`.
    """
    with steps("looking at the functions") as report:
        result = run(task, replace(request, report=report))
    title, about = f"{subject}: {task}", about_of(request)
    outcomes = (Outcome(OFFERS[task], State.DONE, result=result),)
    written.write(
        partial(tasks_markdown, title, about, outcomes), partial(tasks_html, title, about, outcomes)
    )
    if written.as_json:
        print_json(task_json(result))
    elif written.terminal:
        print_report(task_report(result))


def about_of(request: Request) -> str:
    """How many functions are asked about, and who is asked."""
    info = request.model.info
    return f"{plural(len(request.targets), 'function')}, asked of {info.name} ({info.where})"
