"""Evaluation runs in the workspace: their content, progress and report.

Commands `counterlens.runs` (`{folders}`) and `counterlens.runReport` (`{folder}`), see
docs/protocol.md. They only read what `counterlens bench` wrote.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types

from counterlens.errors import CounterlensError
from counterlens.evaluation.causal_results import stored_effects, with_effects
from counterlens.evaluation.results import RunResults, model_labels
from counterlens.evaluation.store import Store
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.progress import show_markdown
from counterlens.lsp.targets import plain
from counterlens.processes import python
from counterlens.reports.build.evaluation import evaluation_report, progress_of
from counterlens.reports.render import html, markdown

COMMAND = "counterlens.runs"
REPORT_COMMAND = "counterlens.runReport"
MOST = 200
"""Maximum number of runs in one answer."""


@dataclass(frozen=True, slots=True)
class ListedRun:
    """One run."""

    folder: str
    tasks: tuple[str, ...] = ()
    data: str = ""
    models: tuple[str, ...] = ()
    done: int = 0
    total: int = 0
    resume: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class RunListing:
    """The runs, in the order of the request."""

    runs: tuple[ListedRun, ...]


@dataclass(frozen=True, slots=True)
class RunReport:
    """The answer of `counterlens.runReport`."""

    ok: bool
    error: str | None = None
    title: str = ""
    summary: str = ""
    html: str = ""
    markdown: str = ""


def register(server: CounterlensServer) -> None:
    server.command(COMMAND)(_runs)
    server.command(REPORT_COMMAND)(_report)


async def _runs(ls: CounterlensServer, argument: Any = None) -> RunListing:
    """List the runs in some folders, with their content and progress."""
    folders = [Path(str(folder)) for folder in list(plain(argument).get("folders") or [])[:MOST]]
    return RunListing(await ls.offload(lambda: tuple(list_run(folder) for folder in folders)))


async def _report(ls: CounterlensServer, argument: Any = None) -> RunReport:
    """Give the report of the run in a folder, finished or not."""
    folder, shows = Path(str(plain(argument).get("folder") or "")), ls.client_shows_results
    try:
        answer = await ls.offload(report_of, folder, shows)
    except CounterlensError as error:
        if not shows:
            ls.show(str(error), types.MessageType.Error)
        return RunReport(ok=False, error=str(error))
    if not shows:
        await show_markdown(ls, f"run {folder.name}", f"{answer.title}: {answer.summary}", answer.markdown)
    return answer


def list_run(folder: Path) -> ListedRun:
    """A summary of one run; takes milliseconds, as no record is read."""
    try:
        with Store.open(folder) as store:
            settings, done, total = store.settings, len(store.done), len(store.items)
    except CounterlensError as error:
        return ListedRun(str(folder), error=str(error))
    if settings is None:  # Store.open has checked
        raise ValueError(folder)
    resume = python("-m", "counterlens", "bench", "--out", str(folder), "--resume")
    return ListedRun(
        folder=str(folder),
        tasks=settings.tasks,
        data=settings.data,
        models=tuple(model_labels(settings.models).values()),
        done=done,
        total=total,
        resume=shlex.join(resume) if done < total else "",
    )


def report_of(folder: Path, shows: bool) -> RunReport:
    """The report of a run, with its causal effects if some are stored; as a page if the client shows it.

    Raises:
        DataError: there is no run.
    """
    run = RunResults.read(folder)
    effects = stored_effects(folder, run)
    report = evaluation_report(with_effects(run, effects) if effects else run)
    return RunReport(
        ok=True,
        title=report.title,
        summary=progress_of(run),
        html=html.page(report, packed=False) if shows else "",
        markdown="" if shows else markdown.render(report),
    )
