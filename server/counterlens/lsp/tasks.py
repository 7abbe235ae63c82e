"""The commands `counterlens.tasks` and `counterlens.probeTasks`: list the tasks for a place, and run them.

Results arrive one by one as notifications `counterlens/taskNews`, for a client that names the run; the
response has all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from counterlens.errors import CounterlensError, ModelError
from counterlens.evaluation.time_left import expected_seconds
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.consent import may_be_trusted, require_consent, require_trusted_workspace
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import Announcements, ask_first, refusing, show_markdown
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import folder_of, function_named, open_probed, path_in, plain
from counterlens.lsp.task_run import ChosenProbes, TaskNews, TaskRun
from counterlens.probes import record as records
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.probe import Need
from counterlens.probes.registry import ALL, PROBES, choose
from counterlens.probes.runner import AnyProbe, ProbeRun, State
from counterlens.probes.subjects import targets_in
from counterlens.syntax.functions import Function, find_function
from counterlens.trust import TrustError

LIST_COMMAND = "counterlens.tasks"
COMMAND = "counterlens.probeTasks"
NEWS = "counterlens/taskNews"
NOT_TRUSTED = "it runs code, but this workspace is not trusted"
NO_CORPUS = "no corpus is set in which to count operators"
NAME_ONE = "set counterlens.probe.corpus"
NO_BENCHMARK = "it asks about benchmarks: counterlens bench --protocol reference --data humaneval"


def register(server: CounterlensServer) -> None:
    server.command(LIST_COMMAND)(_list)
    server.command(COMMAND)(_probe)


@dataclass(frozen=True, slots=True)
class ListedTask:
    """One task that can be chosen."""

    id: str
    title: str
    available: bool
    reason: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TaskListing:
    """The answer of `counterlens.tasks`."""

    ok: bool
    error: str | None = None
    function: str = ""
    functions: int = 0
    model: str = ""
    tasks: tuple[ListedTask, ...] = ()


@dataclass(frozen=True, slots=True)
class EndedTask:
    """The result of one task."""

    task: str
    state: str
    summary: str
    records: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class TasksAnswer:
    """The answer of `counterlens.probeTasks`."""

    ok: bool
    error: str | None = None
    title: str = ""
    version: int = 0
    summary: str = ""
    tasks: tuple[EndedTask, ...] = ()
    markdown: str = ""


@refusing(partial(TaskListing, ok=False), announced=False)
async def _list(ls: CounterlensServer, argument: Any = None) -> TaskListing:
    """List the tasks that can run at a place, and why the others cannot."""
    analysis, function = _place(ls, argument)
    targets = targets_in(analysis.document)
    blocked = _why_blocked(ls, analysis, PROBES.values())
    model, missing = await ls.offload(_missing, ls.host, ls.settings)
    reasons = missing | blocked
    listed = (
        ListedTask(
            probe.id,
            probe.title,
            probe.id not in reasons,
            reasons.get(probe.id, ""),
            expected_seconds(ls.settings.model_spec, probe.id, 1),
        )
        for probe in PROBES.values()
    )
    name = function.qualname if function else ""
    return TaskListing(True, None, name, len(targets), model, tuple(listed))


def _missing(host: ModelHost, settings: EditorSettings) -> tuple[str, dict[str, str]]:
    """The model's name, and its missing capabilities, with reasons; takes as long as opening the model."""
    try:
        with host.use_model(settings) as model:
            reasons = {probe.id: probe.missing_of(model) for probe in PROBES.values()}
    except ModelError as error:
        return "", dict.fromkeys(PROBES, str(error))
    return model.info.name, {name: reason for name, reason in reasons.items() if reason is not None}


@refusing(partial(TasksAnswer, ok=False))
async def _probe(ls: CounterlensServer, argument: Any = None) -> TasksAnswer:
    """Run probes on a function or a whole file."""
    settings = ls.settings
    analysis, wanted = await _parse(ls, argument)
    run = await _run(ls, settings, analysis, wanted)
    answer = TasksAnswer(
        ok=True,
        title=wanted.title,
        version=wanted.document.version,
        summary=f"{wanted.title}: {run.status}",
        tasks=tuple(
            EndedTask(task, str(ended.state), ended.summary, tuple(map(records.plain, ended.records)))
            for task, ended in run.runs.items()
        ),
        markdown=await ls.offload(run.markdown),
    )
    if not ls.client_shows_results:
        await show_markdown(ls, f"tasks {wanted.title}", answer.summary, answer.markdown)
    return answer


async def _parse(ls: CounterlensServer, argument: Any) -> tuple[Analysis, ChosenProbes]:
    """Parse `{uri, function? | position?, tasks, run?}`; without a place, the whole file.

    Raises:
        CounterlensError: the document is not open, or there is no such function or probe.
    """
    fields = plain(argument)
    if fields.get("function") or fields.get("position") is not None:
        analysis, function = function_named(ls, argument)
    else:
        analysis, function = open_probed(ls, argument), None
    tasks = fields.get("tasks") or [ALL]
    probes = choose([tasks] if isinstance(tasks, str) else map(str, tasks))
    blocked = _why_blocked(ls, analysis, probes)
    running = [probe for probe in probes if probe.runs_programs and probe.id not in blocked]
    if running:
        try:
            await require_trusted_workspace(ls, analysis.document.path or Path())
            await require_consent(ls, given_before=ls.settings.allow_weaker_sandbox)
        except CounterlensError as error:  # probes that run no code can still run
            reason = NOT_TRUSTED if isinstance(error, TrustError) else str(error)
            blocked |= dict.fromkeys((probe.id for probe in running), reason)
    document, path = analysis.document, analysis.document.path
    root = folder_of(ls, path)
    return analysis, ChosenProbes(
        title=function.qualname if function else path.name if path else "the text",
        document=document,
        path=path_in(root, path),
        targets=tuple(targets_in(document, function.qualname if function else None, root=root)),
        probes=tuple(probes),
        blocked=blocked,
        run=str(fields.get("run") or ""),
    )


def _place(ls: CounterlensServer, argument: Any) -> tuple[Analysis, Function | None]:
    """The file, and the function that is named or around the place, if any."""
    analysis = open_probed(ls, argument)
    try:
        return function_named(ls, argument)
    except CounterlensError:
        if plain(argument).get("function"):
            raise
        return analysis, None  # no function contains the place


def _why_blocked(ls: CounterlensServer, analysis: Analysis, probes: Iterable[AnyProbe]) -> dict[str, str]:
    """Why some probes cannot run here, whatever the model."""
    reasons: dict[str, str] = {}
    place = analysis.document.path or Path()
    for probe in probes:
        if Need.CORPUS in probe.needs and not ls.settings.probe.get("corpus"):
            reasons[probe.id] = f"{NO_CORPUS}; {NAME_ONE}"
        if Need.BENCHMARK in probe.needs:
            reasons[probe.id] = NO_BENCHMARK
        if probe.runs_programs and not may_be_trusted(ls, place):
            reasons[probe.id] = NOT_TRUSTED
    return reasons


async def _run(
    ls: CounterlensServer, settings: EditorSettings, analysis: Analysis, wanted: ChosenProbes
) -> TaskRun:
    """Run off the event loop, before any scoring of the document in progress."""
    loop = asyncio.get_running_loop()

    def publish(news: TaskNews) -> None:
        if wanted.run:
            shown = news if ls.client_shows_results else replace(news, html="", overview="")
            loop.call_soon_threadsafe(ls.protocol.notify, NEWS, shown)

    def ended(run: ProbeRun) -> None:
        loop.call_soon_threadsafe(_note, ls, settings, analysis, wanted, run)

    run = TaskRun(wanted, settings, publish, ended)
    await ask_first(ls, settings, analysis, Announcements.of_probe(wanted.title), partial(run.run, ls.host))
    return run


def _note(
    ls: CounterlensServer,
    settings: EditorSettings,
    analysis: Analysis,
    wanted: ChosenProbes,
    run: ProbeRun,
) -> None:
    """Store what hover, code lens and diagnostics show too, if the model is still the same."""
    document, task = wanted.document, run.probe.id
    if analysis.document is not document or run.state is not State.DONE or not ls.asks(settings):
        return
    for record in run.probed:
        if task == CompletionProbe.id and isinstance(record, PairsRecord):
            analysis.note(find_function(document, record.function), probe=record)
    functions = [find_function(document, target.qualname) for target in wanted.targets]
    if len(functions) == 1:  # the result of several functions is about all of them
        analysis.note(functions[0], findings={task: run.summary})
    if task == CompletionProbe.id:
        ls.refresh_code_lenses()
    ls.changed(analysis)
    for react in ls.when_probed:
        react(ls, analysis, task, [(function.start, function.end) for function in functions])
