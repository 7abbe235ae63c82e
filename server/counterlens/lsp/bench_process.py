"""`counterlens bench` as a child process of the server, with its interpreter and its environment.

It reports progress as lines of JSON, and stops when its standard input closes, so it also ends with the
server. Results are kept, so a stopped run is a paused run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import PIPE
from threading import Thread
from typing import Any

from counterlens.environment import closed_environment
from counterlens.errors import ModelError
from counterlens.evaluation.settings import RunOptions
from counterlens.evaluation.settings_file import SettingsFile
from counterlens.lsp.base import LOG
from counterlens.lsp.editor_models import PREFIX as OFFERED
from counterlens.lsp.settings import EditorSettings
from counterlens.models.registry import takes
from counterlens.probes.options import OptionSpec, declared, specs
from counterlens.probes.registry import PROBES
from counterlens.processes import python, start
from counterlens.text import printable

Event = Mapping[str, Any]
_KEPT_CHARACTERS = 4_000  # characters of error output that are kept


class BenchProcess:
    """One process.

    Args:
        arguments: Command-line arguments of `counterlens bench`.
        folder: Working directory, where the search for settings files begins.
        on_event: Called with each event, on a separate thread.
        on_exit: Called with the exit code at the end, on the same thread.
        weaker: Whether the user accepts a weak sandbox.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        on_event: Callable[[Event], None],
        on_exit: Callable[[int], None],
        *,
        weaker: bool = False,
    ) -> None:
        command = python("-m", "counterlens", "bench", *arguments, "--progress", "json")
        environment = closed_environment({"COUNTERLENS_TRUST": "1", "PYTHONUNBUFFERED": "1"})
        if weaker:
            environment["COUNTERLENS_ALLOW_WEAKER_SANDBOX"] = "1"
        self._on_event, self._on_exit = on_event, on_exit
        self._process = start(
            command,
            cwd=folder,
            environment=environment,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,  # keys such as Ctrl+C in the server's terminal do not reach it
        )
        self.error_output = ""
        """The end of its other output: warnings, or why it failed."""
        self._listening = Thread(target=self._listen_to_errors, daemon=True)
        self._listening.start()
        Thread(target=self._listen, daemon=True).start()

    def stop(self) -> None:
        """Let it stop after the current step; results are kept."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # not an event: another library's output
            if isinstance(event, dict):
                self._on_event(event)
        code = self._process.wait()
        self._listening.join(timeout=5)
        self.stop()
        self._on_exit(code)

    def _listen_to_errors(self) -> None:
        assert self._process.stderr is not None
        for data in self._process.stderr:
            line = data.decode("utf-8", "replace")
            LOG.info("bench: %s", printable(line.rstrip(), keep=""))
            self.error_output = (self.error_output + line)[-_KEPT_CHARACTERS:]


def tasks_of(file: SettingsFile | None, chosen: Sequence[str] = ()) -> tuple[str, ...]:
    """The tasks of a run: the chosen ones, else those of the file, else the default."""
    if chosen:
        return tuple(chosen)
    tasks: tuple[str, ...] = (file.run.get("tasks") if file else None) or RunOptions().tasks
    return tuple(tasks)


def bench_arguments(
    settings: EditorSettings,
    file: SettingsFile | None,
    tasks: Sequence[str],
    *,
    minutes: float | None = None,
    limit: int | None = None,
) -> list[str]:
    """The options of a new run, without its data and its folder.

    Args:
        settings: The editor's settings; a model or probe option applies if it is not the default.
        file: The repository's settings file.
        tasks: Ids of the probes.
        minutes: Minutes after which no further function is begun.
        limit: Maximum number of functions.

    Raises:
        ModelError: the model is available in the editor only.
    """
    named = specs(RunOptions)["tasks"].flag
    given = [part for task in tasks for part in (named, task)]
    given += _model(settings, file)
    if minutes is not None:
        given += ["--minutes", f"{minutes:g}"]
    if limit is not None:
        given += ["--limit", str(limit)]
    for name, (spec, _) in declared([PROBES[task] for task in tasks]).items():
        if name in settings.probe:
            given += _flag(spec, settings.probe[name], file.given if file else {})
    return given


def _model(settings: EditorSettings, file: SettingsFile | None) -> Iterator[str]:
    if settings.model.startswith(OFFERED):
        raise ModelError(
            "the editor's models cannot be used for a whole repository",
            "Choose a model on this machine or a server: Counterlens: Select Model…",
        )
    named = file.run.get("models") if file else None
    if not named or settings.model not in ("", *named):
        yield from ("--model", settings.model_spec)
        if settings.model.startswith("remote"):
            if settings.remote_base_url:
                yield from ("--base-url", settings.remote_base_url)
            yield from ("--api", settings.remote_api)
    for name in ("threads", "gpu_layers", "mask"):
        value, default = getattr(settings, name), specs(RunOptions)[name].default
        said = value == default or value == (file.run.get(name) if file else None)
        if not said and _takes(settings.model_spec, name):
            yield from (specs(RunOptions)[name].flag, str(value))


def _takes(model: str, option: str) -> bool:
    try:
        return takes(model, option)
    except ModelError:  # a model name in a settings file: from elsewhere
        return False


def _flag(spec: OptionSpec, value: Any, filed: Mapping[str, Any]) -> Iterator[str]:
    """An option, unless its value is the default or the same as in the file."""
    if value == spec.default or filed.get(spec.name) == value:
        return
    if spec.kind is bool:
        if value:
            yield spec.flag
        return
    for argument in value if spec.repeatable else (value,):
        yield from (spec.flag, _text(argument))


def _text(value: Any) -> str:
    return "-".join(f"{part:g}" for part in value) if isinstance(value, tuple) else str(value)


def new_folder(root: Path, day: str) -> Path:
    """A folder for a new run in the repository's `runs`; if `runs` is created here, git ignores it.

    Args:
        day: Date of the run, such as `2026-11-23`.
    """
    runs = root / "runs"
    if not runs.exists():
        runs.mkdir()
        (runs / ".gitignore").write_text("*\n", encoding="utf-8")
    number, folder = 1, runs / day
    while folder.exists():
        number += 1
        folder = runs / f"{day}-{number}"
    return folder
