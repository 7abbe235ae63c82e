"""The commands `counterlens.tasks` and `counterlens.probeTasks`: what can be probed here, and probing it.

The results of a run arrive one by one as notifications `counterlens/taskNews`, for a client that gives
the run a name; the answer has all of them.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

from lsprotocol import types

from counterlens.errors import CounterlensError, ModelError, SourceError
from counterlens.lsp import code_lens
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.consent import require_consent
from counterlens.lsp.language import recognised, told
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import progress
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.markdown_preview import show_markdown
from counterlens.lsp.targets import function_named, open_python, plain
from counterlens.lsp.task_run import Asked, TaskNews, TaskRun
from counterlens.probes.offers import ALL, OFFERS, Offer
from counterlens.probes.running import Outcome, State
from counterlens.probes.session import Variant
from counterlens.probes.subjects import targets_in
from counterlens.probes.task import Need
from counterlens.reports.task_words import standing, summary
from counterlens.syntax.functions import Function, find_function

LIST_COMMAND = "counterlens.tasks"
COMMAND = "counterlens.probeTasks"
NEWS = "counterlens/taskNews"
NAME_ONE = "name one in the setting counterlens.probe.corpus"


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.command(LIST_COMMAND)(_list)
    server.command(COMMAND)(_probe)


@dataclass(frozen=True, slots=True)
class ListedTask:
    """One task that can be chosen.

    Attributes:
        id: What it is chosen by.
        title: What it finds out, in a few words.
        available: Whether it can be run here and now.
        reason: Why not.
    """

    id: str
    title: str
    available: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TaskListing:
    """What `counterlens.tasks` returns.

    Attributes:
        ok: Whether there is something to probe.
        error: Why not.
        function: The qualified name of the function that is meant; empty where the place is in none.
        functions: How many functions the file has, those inside of others not counted.
        model: Who is asked; empty where it cannot be opened.
        tasks: All there are.
    """

    ok: bool
    error: str | None = None
    function: str = ""
    functions: int = 0
    model: str = ""
    tasks: tuple[ListedTask, ...] = ()


@dataclass(frozen=True, slots=True)
class EndedTask:
    """What came of one task: its id, how it ended, and what it found or why it was not run."""

    task: str
    state: str
    summary: str


@dataclass(frozen=True, slots=True)
class TasksAnswer:
    """What `counterlens.probeTasks` returns.

    Attributes:
        ok: Whether something was run.
        error: Why not.
        title: What was probed: the function, or the file.
        version: Of the document.
        summary: One line.
        tasks: What came of each.
        markdown: The whole report.
    """

    ok: bool
    error: str | None = None
    title: str = ""
    version: int = 0
    summary: str = ""
    tasks: tuple[EndedTask, ...] = ()
    markdown: str = ""


async def _list(ls: CounterlensServer, argument: Any = None) -> TaskListing:
    """Say what can be probed at a place, and why the rest cannot."""
    try:
        analysis, function = _place(ls, argument)
        targets = targets_in(analysis.document)
    except CounterlensError as error:
        return TaskListing(ok=False, error=told(error))
    blocked = _blocked(ls, list(OFFERS.values()))
    model, missing = await asyncio.get_running_loop().run_in_executor(
        ls.executor, _missing, ls.host, ls.settings
    )
    reasons = missing | blocked
    listed = (
        ListedTask(one.id, recognised(one.title), one.id not in reasons, recognised(reasons.get(one.id, "")))
        for one in OFFERS.values()
    )
    name = function.qualname if function else ""
    return TaskListing(True, None, name, len(targets), model, tuple(listed))


def _missing(host: ModelHost, settings: EditorSettings) -> tuple[str, dict[str, str]]:
    """The model's name, and what it cannot be asked; takes as long as to open it."""
    try:
        with host.lend(settings) as model:
            found = {one.id: one.missing_of(model) for one in OFFERS.values()}
    except ModelError as error:
        return "", dict.fromkeys(OFFERS, told(error))
    return model.info.name, {name: reason for name, reason in found.items() if reason is not None}


async def _probe(ls: CounterlensServer, argument: Any = None) -> TasksAnswer:
    """Run tasks on a function or a whole file."""
    settings = ls.settings
    try:
        analysis, asked = await _asked(ls, argument)
        run = await _run(ls, settings, analysis, asked)
    except CounterlensError as error:
        if ls.asks(settings):
            ls.announce("ready" if isinstance(error, SourceError) else "error", str(error), error.brief)
        if not ls.client_shows_results:
            ls.show(str(error), types.MessageType.Error)
        return TasksAnswer(ok=False, error=told(error))
    answer = TasksAnswer(
        ok=True,
        title=asked.title,
        version=asked.document.version,
        summary=f"{asked.title}: {standing(run.outcomes)}",
        tasks=tuple(EndedTask(one.offer.id, str(one.state), summary(one)) for one in run.outcomes),
        markdown=await asyncio.get_running_loop().run_in_executor(ls.executor, run.markdown),
    )
    if not ls.client_shows_results:
        await show_markdown(ls, f"tasks {asked.title}", answer.summary, answer.markdown)
    return answer


async def _asked(ls: CounterlensServer, argument: Any) -> tuple[Analysis, Asked]:
    """What `{uri, function? | position?, tasks, run?}` means; without a place the whole file.

    Raises:
        CounterlensError: there is no such file, function or task.
    """
    found = plain(argument)
    analysis, function = _place(ls, argument)
    named = found.get("function") or found.get("position") is not None
    if named and function is None:
        raise CounterlensError("there is no function here", "Put the cursor into a function and try again")
    offers = _offers(found.get("tasks"))
    blocked = _blocked(ls, offers)
    running = [one for one in offers if one.runs and one.id not in blocked]
    if running:
        try:
            await require_consent(ls, given_before=ls.settings.allow_weaker_sandbox)
        except CounterlensError as error:  # what runs nothing can still be asked
            blocked |= {one.id: str(error) for one in running}
    document = analysis.document
    targets = targets_in(document, function.qualname if function else None)
    path = document.path
    title = function.qualname if function else path.name if path else "the text"
    run = str(found.get("run") or "")
    return analysis, Asked(title, document, tuple(targets), tuple(offers), blocked, run)


def _place(ls: CounterlensServer, argument: Any) -> tuple[Analysis, Function | None]:
    """The file, and the function that is named or around the place, if any."""
    found = plain(argument)
    analysis = open_python(ls, argument)
    if found.get("function"):
        return function_named(ls, argument)
    try:
        return function_named(ls, argument)
    except CounterlensError:  # the place is in no function
        return analysis, None


def _offers(wanted: Any) -> list[Offer]:
    """The tasks that are asked for, in the order of all.

    Raises:
        CounterlensError: there is no such task.
    """
    names = [wanted] if isinstance(wanted, str) else list(wanted or [ALL])
    unknown = [str(name) for name in names if name != ALL and name not in OFFERS]
    if unknown:
        raise CounterlensError(
            f"there is no task {', '.join(unknown)}", f"There is {', '.join(OFFERS)}, {ALL}"
        )
    return [one for one in OFFERS.values() if ALL in names or one.id in names]


def _blocked(ls: CounterlensServer, offers: list[Offer]) -> dict[str, str]:
    """Why some cannot be run here, whatever the model."""
    reasons: dict[str, str] = {}
    for one in offers:
        reason = one.missing_beside(trusted=ls.trusted, corpus=ls.settings.probe_corpus or None)
        if reason is not None:
            named = Need.CORPUS in one.needs and not (one.runs and not ls.trusted)
            reasons[one.id] = f"{reason}; {NAME_ONE}" if named else reason
    return reasons


async def _run(ls: CounterlensServer, settings: EditorSettings, analysis: Analysis, asked: Asked) -> TaskRun:
    """Run off the event loop, before any scoring of the document that is under way."""
    loop, cancel, interrupted = asyncio.get_running_loop(), Event(), analysis.confidence is None
    scored = analysis.confidence if ls.asks(settings) else None

    def publish(news: TaskNews) -> None:
        if asked.run:
            shown = news if ls.client_shows_results else replace(news, html="", overview="")
            loop.call_soon_threadsafe(ls.protocol.notify, NEWS, shown)

    def ended(outcome: Outcome) -> None:
        loop.call_soon_threadsafe(_note, ls, settings, analysis, asked, outcome)

    run = TaskRun(asked, publish, ended)
    if interrupted:
        ls.scorer.withdraw(analysis.uri)
    try:
        async with progress(ls, f"Probing {asked.title}", cancel) as report:
            ls.announce("probing", f"probing {asked.title}")
            await loop.run_in_executor(ls.executor, run.run, ls.host, settings, scored, cancel, report)
    except asyncio.CancelledError:
        cancel.set()
        if ls.asks(settings):
            ls.announce("ready", f"the probe of {asked.title} was cancelled")
        raise
    finally:
        if interrupted and analysis.document is asked.document:
            ls.scorer.schedule(analysis, quiet=0)
    if ls.asks(settings):
        ls.announce("ready", f"{asked.title} was probed")
    return run


def _note(
    ls: CounterlensServer, settings: EditorSettings, analysis: Analysis, asked: Asked, outcome: Outcome
) -> None:
    """Keep what hover, code lens and diagnostics show too, if the same model is still asked."""
    if analysis.document is not asked.document or outcome.state is not State.DONE or not ls.asks(settings):
        return
    if outcome.offer.id == Variant.COMPLETE:
        for one in outcome.probed:
            analysis.note_probe(one.probe.function, one)
        code_lens.refresh(ls)
    functions = [find_function(asked.document, one.qualname) for one in asked.targets]
    if len(functions) == 1:  # of several it speaks of all together
        analysis.note_finding(functions[0], outcome.offer.id, summary(outcome))
    ls.changed(analysis)
    for react in ls.when_probed:
        react(ls, analysis, outcome.offer.id, [(one.start, one.end) for one in functions])
