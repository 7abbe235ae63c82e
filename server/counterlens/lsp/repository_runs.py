"""Runs over a repository, started in the editor: plan, progress, pause and resumption.

Commands `counterlens.planRun`, `counterlens.startRun` and `counterlens.stopRun`, and the notification
`counterlens/runNews`; see docs/protocol.md. Each run is `counterlens bench` in a separate process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event as Flag
from typing import Any

from lsprotocol import types

from counterlens.datasets.registry import repository_in
from counterlens.errors import Cancelled, CounterlensError, DataError
from counterlens.evaluation.settings_file import SettingsFile, nearest
from counterlens.evaluation.store import Store
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.bench_process import BenchProcess, Event, bench_arguments, new_folder, tasks_of
from counterlens.lsp.consent import require_consent, require_trusted_workspace
from counterlens.lsp.progress import with_progress
from counterlens.lsp.targets import plain
from counterlens.probes.probe import Need
from counterlens.probes.registry import PROBES, choose
from counterlens.progress import Steps

PLAN_COMMAND = "counterlens.planRun"
START_COMMAND = "counterlens.startRun"
PAUSE_COMMAND = "counterlens.stopRun"
NEWS = "counterlens/runNews"
_POLL_SECONDS = 0.1
_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class AskableTask:
    """One task that can run over a repository."""

    id: str
    title: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The answer of `counterlens.planRun`."""

    ok: bool
    error: str | None = None
    cancelled: bool = False
    lines: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tasks: tuple[AskableTask, ...] = ()
    functions: int = 0
    seconds: float | None = None
    settings: str = ""


@dataclass(frozen=True, slots=True)
class StartedRun:
    """The answer of `counterlens.startRun` and `counterlens.stopRun`."""

    ok: bool
    error: str | None = None
    folder: str = ""


@dataclass(frozen=True, slots=True)
class RunNews:
    """The progress of a run that this server started."""

    folder: str
    state: str
    done: int = 0
    total: int = 0
    seconds: float | None = None
    what: str = ""
    error: str = ""


def register(server: CounterlensServer) -> None:
    runs = RepositoryRuns(server)

    async def plan(ls: CounterlensServer, argument: Any = None) -> RunPlan:
        return await runs.plan(ls, plain(argument))

    async def start(ls: CounterlensServer, argument: Any = None) -> StartedRun:
        return await runs.start(ls, plain(argument))

    async def pause(ls: CounterlensServer, argument: Any = None) -> StartedRun:
        return runs.pause(ls, plain(argument))

    server.command(PLAN_COMMAND)(plan)
    server.command(START_COMMAND)(start)
    server.command(PAUSE_COMMAND)(pause)


class RepositoryRuns:
    """The unfinished runs that this server started.

    Args:
        server: The server whose client is notified.
    """

    def __init__(self, server: CounterlensServer) -> None:
        self._server = server
        self._running: dict[Path, _LiveRun] = {}

    async def plan(self, ls: CounterlensServer, given: dict[str, Any]) -> RunPlan:
        """Plan the run of `{folder, tasks?, minutes?}`, with its expected duration; starts nothing."""
        try:
            root, file, tasks = await self._wanted(ls, given)
            arguments = bench_arguments(ls.settings, file, tasks)
            arguments += [
                "--data",
                f"repo:{root}",
                "--out",
                str(root / "runs" / "planned"),
                "--plan",
            ]
            weaker = ls.settings.allow_weaker_sandbox
            event = await with_progress(
                ls, f"Planning the questions about {root.name}", partial(_plan, arguments, root, weaker)
            )
        except Cancelled:
            return RunPlan(ok=False, cancelled=True)
        except CounterlensError as error:
            return RunPlan(ok=False, error=self._refused(error))
        return RunPlan(
            ok=True,
            lines=tuple(map(str, event["lines"])),
            models=tuple(map(str, event["models"])),
            tasks=_askable(tasks),
            functions=int(event["functions"]),
            seconds=event["seconds"],
            settings=file.path.name if file else "",
        )

    async def start(self, ls: CounterlensServer, given: dict[str, Any]) -> StartedRun:
        """Start the run of `{folder, tasks?, minutes?, limit?, seconds?}`, or resume that of `{run}`."""
        try:
            if given.get("run"):
                folder, root, arguments = await self._kept(ls, Path(str(given["run"])))
            else:
                root, file, tasks = await self._wanted(ls, given)
                minutes = float(given["minutes"]) if given.get("minutes") else None
                limit = int(given["limit"]) if given.get("limit") else None
                arguments = bench_arguments(ls.settings, file, tasks, minutes=minutes, limit=limit)
                folder = await ls.offload(
                    new_folder, root, datetime.now(UTC).astimezone().strftime("%Y-%m-%d")
                )
                arguments += ["--data", f"repo:{root}", "--out", str(folder)]
            if folder in self._running:
                raise DataError(f"the run in {folder} is still running", "Pause it first")
            expected = given.get("seconds")
            self._running[folder] = _LiveRun(
                self._notify,
                RunNews(str(folder), "running", seconds=None if expected is None else float(expected)),
                root,
                arguments,
                weaker=ls.settings.allow_weaker_sandbox,
            )
        except CounterlensError as error:
            return StartedRun(ok=False, error=self._refused(error))
        return StartedRun(ok=True, folder=str(folder))

    def pause(self, ls: CounterlensServer, given: dict[str, Any]) -> StartedRun:  # noqa: ARG002 - as the others
        """Stop the run of `{run}` after the current step; results are kept."""
        folder = Path(str(given.get("run") or ""))
        live = self._running.get(folder)
        if live is None:
            error = DataError(
                f"no run in {folder} was started here", "Stop it in the window or terminal that started it"
            )
            return StartedRun(ok=False, error=self._refused(error))
        live.pause()
        return StartedRun(ok=True, folder=str(folder))

    async def _wanted(
        self, ls: CounterlensServer, given: dict[str, Any]
    ) -> tuple[Path, SettingsFile | None, tuple[str, ...]]:
        """The folder, its settings file, and the tasks.

        Raises:
            CounterlensError: the folder is not trusted, the file cannot be read, or a task is unknown.
        """
        root = Path(str(given.get("folder") or "")).expanduser().absolute()
        if not given.get("folder") or not root.is_dir():
            raise DataError(f"there is no folder {root}", "Open the folder of a repository")
        await self._allowed(ls, root)
        file = await ls.offload(nearest, root)
        named = [probe.id for probe in choose(map(str, given["tasks"]))] if given.get("tasks") else []
        return root, file, tasks_of(file, named)

    async def _kept(self, ls: CounterlensServer, folder: Path) -> tuple[Path, Path, list[str]]:
        """The folder of a run, the folder of its code, and the arguments that resume it.

        Raises:
            CounterlensError: there is no run, or its code is not trusted.
        """
        data = await ls.offload(_data_of, folder)
        root = next(iter(repository_in(data)), folder)
        await self._allowed(ls, root)
        return folder, root if root.is_dir() else folder, ["--out", str(folder), "--resume"]

    async def _allowed(self, ls: CounterlensServer, root: Path) -> None:
        """Continue only if programs of a repository may run."""
        await require_trusted_workspace(ls, root)
        await require_consent(ls, given_before=ls.settings.allow_weaker_sandbox)

    def _refused(self, error: CounterlensError) -> str:
        """The error text for the answer, also shown in a client that shows no answers itself."""
        if not self._server.client_shows_results:
            self._server.show(str(error), types.MessageType.Error)
        return str(error)

    def _notify(self, news: RunNews) -> None:
        """Notify the client, from any thread; discard a finished run."""
        if self._server.loop is not None:
            self._server.loop.call_soon_threadsafe(self._notify_now, news)

    def _notify_now(self, news: RunNews) -> None:
        if news.state != "running":
            self._running.pop(Path(news.folder), None)
        self._server.protocol.notify(NEWS, news)


class _LiveRun:
    """One run in progress."""

    def __init__(
        self,
        notify: Callable[[RunNews], None],
        news: RunNews,
        root: Path,
        arguments: list[str],
        *,
        weaker: bool,
    ) -> None:
        self._notify, self._news, self._error = notify, news, ""
        self._ended = False
        notify(self._news)
        self._process = BenchProcess(arguments, root, self._on_event, self._on_exit, weaker=weaker)

    def pause(self) -> None:
        """Stop it; results are kept."""
        self._process.stop()

    def _on_event(self, event: Event) -> None:
        kind = event.get("event")
        if kind == "error":
            self._error = _problem(event)
        elif kind == "ended":
            self._ended = True
        if kind in ("begun", "progress", "ended", "step"):
            counted = {name: event[name] for name in ("done", "total") if kind != "step"}
            what = str(event.get("what") or "")
            seconds = event.get("seconds")
            if seconds is None:  # this run has no estimate yet
                seconds = self._news.seconds
            self._news = replace(self._news, **counted, seconds=seconds, what=what)
            self._notify(self._news)

    def _on_exit(self, code: int) -> None:
        state = "paused" if code == _INTERRUPTED else "done" if self._ended else "failed"
        error = self._error or (
            _last_line(self._process.error_output) if code not in (0, _INTERRUPTED) else ""
        )
        self._notify(replace(self._news, state=state, seconds=None, what="", error=error))


def _plan(arguments: list[str], root: Path, weaker: bool, steps: Steps) -> Event:
    """The plan of the command line; takes as long as reading the repository.

    Raises:
        Cancelled: the user cancelled.
        DataError: the command line reported an error.
    """
    over, plan, failed = Flag(), dict[str, Any](), list[str]()

    def on_event(event: Event) -> None:
        match event.get("event"):
            case "step":
                steps.report(str(event["what"]), int(event["done"]), int(event["total"]))
            case "plan":
                plan.update(event)
            case "error":
                failed.append(_problem(event))

    process = BenchProcess(arguments, root, on_event, lambda _code: over.set(), weaker=weaker)
    while not over.wait(_POLL_SECONDS):
        if steps.cancel is not None and steps.cancel.is_set():
            process.stop()
            raise Cancelled
    if not plan:
        raise DataError(
            failed[0] if failed else _last_line(process.error_output) or "the plan could not be created"
        )
    return plan


def _problem(event: Event) -> str:
    """The error and its hint, in the editor's language."""
    return str(DataError(str(event["message"]), str(event.get("hint") or "") or None))


def _last_line(output: str) -> str:
    """The last line of output, if there was no event: for example the error about an option."""
    lines = [line for line in output.strip().splitlines() if line.strip()]
    return lines[-1].strip().removeprefix("Error: ") if lines else ""


def _data_of(folder: Path) -> str:
    with Store.open(folder) as store:
        return store.settings.data if store.settings else ""


def _askable(chosen_tasks: tuple[str, ...]) -> tuple[AskableTask, ...]:
    """The tasks that need nothing but a repository, with the chosen ones marked."""
    return tuple(
        AskableTask(probe.id, probe.title, probe.id in chosen_tasks)
        for probe in PROBES.values()
        if probe.id in chosen_tasks or not {Need.BUG, Need.CORPUS, Need.BENCHMARK} & set(probe.needs)
    )
