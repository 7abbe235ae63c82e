"""Runs the tests of functions for the server in idle time: one at a time, what was edited last first.

A function is due if it has marks of the model, was edited, or mentions a name of the module that changed; or
if a file changed that mentions it, such as one of its tests. Whoever types comes first: an edit of any
document cancels the run, which is repeated after a pause. While the machine is busy, functions that were not
edited wait. Once no tests are due, what docstrings of tested functions state is run, which needs no model;
then these docstrings are read, in the same order.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event

from lsprotocol import types

from counterlens.doubt.blaming import culprits, is_failing
from counterlens.doubt.disagreeing import DisagreeingFunction
from counterlens.doubt.failing import FailingFunction
from counterlens.doubt.marking import Doubt, Mark, fingerprint
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.settling import settle
from counterlens.errors import Cancelled, CounterlensError
from counterlens.judging.base import LIMITS, lasting
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import LOG, CounterlensServer
from counterlens.lsp.consent import has_consent, is_workspace_trusted
from counterlens.lsp.doubt_readings import read_docstring, run_stated
from counterlens.lsp.known_results import CheckedFunction
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.settings import EditorSettings
from counterlens.probes.reading.repairing import written_fix
from counterlens.regular_file import read_text
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

IDLE_SECONDS = 1.0
"""Seconds without an edit before tests run."""
BUSY = 1.5
"""Load of the machine, per processor, above which it is not idle."""
PATIENCE = 5.0
"""Maximum seconds that an edited function waits for an idle machine."""
_LOOK = 1.0
_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Outline:
    """What tells whether a function of a version must be tested again.

    Attributes:
        sources: The source of each outermost function, by qualified name.
        outside: The lines of code outside of functions.
    """

    sources: dict[str, bytes]
    outside: frozenset[str]

    @classmethod
    def of(cls, document: Document, scopes: list[DoubtScope]) -> Outline:
        """The outline of a document."""
        data, at, outside = document.data, 0, []
        for scope in sorted(scopes, key=lambda function_scope: function_scope.function.start):
            outside.append(data[at : scope.function.start])
            at = max(at, scope.function.end)
        text = b"\n".join([*outside, data[at:]]).decode("utf-8", "replace")
        lines = (line.strip() for line in text.splitlines())
        return cls(
            {scope.function.qualname: data[scope.function.start : scope.function.end] for scope in scopes},
            frozenset(line for line in lines if line and not line.startswith("#")),
        )

    def changed(self, before: Outline) -> tuple[list[str], list[str]]:
        """The functions that differ from an earlier version, and those that mention what changed outside."""
        edited = [name for name, source in self.sources.items() if before.sources.get(name) != source]
        words = {word for line in self.outside ^ before.outside for word in _NAME.findall(line)}
        return edited, [
            name
            for name, source in self.sources.items()
            if name not in edited and words & set(_NAME.findall(source.decode("utf-8", "replace")))
        ]


@dataclass
class _Due:
    """The functions of a document whose tests are to run: since when, and whether they were edited.

    Attributes:
        unstated: Those of which is to be run what their docstring states, after their tests: the same.
        unread: Those whose docstring is to be read, after that.
    """

    analysis: Analysis
    outline: Outline | None = None
    names: dict[str, tuple[bool, float]] = field(default_factory=dict)
    unstated: dict[str, tuple[bool, float]] = field(default_factory=dict)
    unread: dict[str, tuple[bool, float]] = field(default_factory=dict)

    @property
    def stages(self) -> tuple[dict[str, tuple[bool, float]], ...]:
        """What is due, one after another."""
        return self.names, self.unstated, self.unread


class TestsInIdleTime:
    """The queue of the tests that are to run."""

    def __init__(self, ls: CounterlensServer) -> None:
        self._ls = ls
        self._due: dict[str, _Due] = {}
        self._scopes: dict[str, tuple[Document, dict[str, DoubtScope]]] = {}
        self._worker: asyncio.Task[None] | None = None
        self._cancel = Event()
        self._moved = asyncio.Event()  # a mark was shown, a function is no longer due, or a document changed
        self._edited_at = 0.0
        ls.when_edited.append(self._interrupted)
        ls.when_closed.append(self._closed)
        ls.when_file_changed.append(self._file_changed)

    def _interrupted(self, _ls: CounterlensServer, _analysis: Analysis) -> None:
        """Typing comes first."""
        self._edited_at = time.monotonic()
        self._cancel.set()
        self._moved.set()

    def _closed(self, _ls: CounterlensServer, analysis: Analysis) -> None:
        self._due.pop(analysis.uri, None)
        self._scopes.pop(analysis.uri, None)
        self._cancel.set()
        self._moved.set()

    def saw(
        self, analysis: Analysis, document: Document, scopes: list[DoubtScope], first: Outline
    ) -> set[str]:
        """Take a version of a document; returns the functions whose own text changed.

        Args:
            document: Its newest version.
            scopes: Its outermost functions.
            first: The outline of the version that was opened.
        """
        due = self._due.setdefault(analysis.uri, _Due(analysis, first))
        due.analysis = analysis
        outline = Outline.of(document, scopes)
        edited, beside = outline.changed(due.outline or first)
        due.outline = outline
        self._scopes[analysis.uri] = document, {scope.function.qualname: scope for scope in scopes}
        now = time.monotonic()
        for stage in due.stages:
            for name in stage.keys() - outline.sources:
                del stage[name]
        due.names |= {name: (False, now) for name in beside if name not in due.names}
        due.names |= dict.fromkeys(edited, (True, now))
        if edited or beside:  # an edit may also mend what calls the edited function
            checked = analysis.doubts.on(document, self._ls.settings.asked)
            failing = {function.span[0] for function in checked if any(map(is_failing, function.shown))}
            again = [scope.function.qualname for scope in scopes if scope.function.start in failing]
            due.names |= {name: (True, now) for name in again if name not in edited}
        return set(edited)

    def checked(self, analysis: Analysis, edited: set[str] | None) -> None:
        """Run what is due, now that the model has checked the edited functions, or all of them (None).

        Docstrings of functions in view are read although nobody edited them.
        """
        due = self._due.get(analysis.uri)
        if due is None:
            return
        _, scopes = self._scopes[analysis.uri]
        names = {scope.function.start: name for name, scope in scopes.items()}
        for function in analysis.doubts.on(analysis.document, self._ls.settings.asked):
            name = names.get(function.span[0])
            if name is None or (edited is not None and name not in edited):
                continue
            if function.found and function.settled_in is None:
                due.names.setdefault(name, (edited is not None, time.monotonic()))
            elif edited is None and _is_visible(scopes[name], analysis.visible):
                due.unstated.setdefault(name, (False, time.monotonic()))
        self.wake()

    async def first(self, analysis: Analysis, scope: DoubtScope, until: float) -> bool:
        """Wait for the tests of an edited function, which show more than the model; True if they fail.

        Args:
            scope: The function, in its newest version.
            until: The time after which nobody waits, as of `time.monotonic`.
        """
        name, start = scope.function.qualname, scope.function.start
        while self._may_run(analysis) and analysis.document is scope.document:
            function = self._checked_function(analysis, scope.document, start)
            if function is not None and not function.is_asked and any(map(is_failing, function.shown)):
                return True
            due = self._due.get(analysis.uri)
            if due is None or name not in due.names or time.monotonic() >= until:
                break
            self._moved.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), until - time.monotonic())
        return False

    def _file_changed(self, _ls: CounterlensServer, path: Path) -> None:
        """The functions of other documents that a changed file mentions are due."""
        try:
            words = set(_NAME.findall(read_text(path)))
        except (OSError, ValueError):
            return
        for uri, due in self._due.items():
            if due.analysis.document.path == path or uri not in self._scopes:
                continue
            for name in self._scopes[uri][1]:
                if name.rpartition(".")[2] in words or name.partition(".")[0] in words:
                    due.names.setdefault(name, (False, time.monotonic()))
        self.wake()

    def wake(self) -> None:
        """Run what is due, if that is allowed now."""
        if self._worker is None or self._worker.done():
            self._worker = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        while (chosen := self._next()) is not None:
            uri, name, edited, since, stage = chosen
            quiet = time.monotonic() - self._edited_at
            if quiet < IDLE_SECONDS:
                await asyncio.sleep(IDLE_SECONDS - quiet)
                continue
            if _is_busy() and not (edited and time.monotonic() - since >= PATIENCE):
                await asyncio.sleep(_LOOK)
                continue
            self._cancel = Event()
            analysis, (document, scopes) = self._due[uri].analysis, self._scopes[uri]
            scope = scopes.get(name)
            if scope is not None and analysis.document is not document:  # the newest version comes soon
                await asyncio.sleep(IDLE_SECONDS)
                continue
            run = (self._ran, self._stated, self._was_read)[stage]
            if (scope is None or await run(analysis, scope)) and uri in self._due:
                of_stage, *later = self._due[uri].stages[stage:]
                of_stage.pop(name, None)
                if later:
                    later[0][name] = edited, since
                self._moved.set()

    def _next(self) -> tuple[str, str, bool, float, int] | None:
        """The function that was edited last, else one that is due for another reason; and the first stage."""
        may = [(uri, due) for uri, due in self._due.items() if self._may_run(due.analysis)]
        for stage in range(3):
            waiting = [
                (edited, since, uri, name)
                for uri, due in may
                for name, (edited, since) in due.stages[stage].items()
            ]
            if waiting:
                edited, since, uri, name = max(waiting)
                return uri, name, edited, since, stage
        return None

    def _may_run(self, analysis: Analysis) -> bool:
        settings, path = self._ls.settings, analysis.document.path
        on = settings.enable and settings.doubt_run_tests and settings.doubt_diagnostics != "off"
        return on and path is not None and not analysis.gone and is_workspace_trusted(self._ls, path)

    async def _ran(self, analysis: Analysis, scope: DoubtScope) -> bool:
        """Run the tests of a function, and show the result; False if they must run again."""
        ls, settings, cancel = self._ls, self._ls.settings, self._cancel
        document, start = scope.document, scope.function.start
        function = self._checked_function(analysis, document, start)
        doubts = tuple(doubt.within(scope) for doubt in function.found) if function else ()
        loop = asyncio.get_running_loop()

        def show(marks: tuple[Mark, ...], *, over: bool) -> None:
            if analysis.document is not document or not ls.asks(settings):
                return
            base = self._checked_function(analysis, document, start) or _without_model(scope, doubts)
            if not any(map(is_failing, marks)):
                marks = (*marks, *(each for each in base.shown if isinstance(each, DisagreeingFunction)))
            checked = replace(base, shown=marks, settled_in=document if over else base.settled_in)
            analysis.doubts.note(document, settings.asked, checked)
            ls.changed(analysis)
            self._moved.set()

        def failed(mark: FailingFunction) -> None:
            loop.call_soon_threadsafe(lambda: show((mark, *doubts), over=False))

        try:
            marks = await ls.offload(_settled, ls.host, scope, doubts, settings, cancel, failed)
        except Cancelled:
            return False
        except CounterlensError as error:
            LOG.info("no tests were run: %s", error)
            return True
        if cancel.is_set() and analysis.document is not document:
            return False
        show(tuple(marks), over=True)
        return True

    async def _stated(self, analysis: Analysis, scope: DoubtScope) -> bool:
        """Run what the docstring of a function states; False to try again."""
        return await self._compared(analysis, scope, run_stated, _is_stated)

    async def _was_read(self, analysis: Analysis, scope: DoubtScope) -> bool:
        """Read the docstring of a function, unless what it states tells enough; False to try again."""
        function = self._checked_function(analysis, scope.document, scope.function.start)
        if function is not None and any(map(_is_stated, function.shown)):
            return True
        return await self._compared(analysis, scope, partial(read_docstring, self._ls.host), _disagrees)

    async def _compared(
        self,
        analysis: Analysis,
        scope: DoubtScope,
        compare: Callable[[DoubtScope, EditorSettings, Event], DisagreeingFunction | None],
        replaces: Callable[[Mark], bool],
    ) -> bool:
        """Show whether docstring and code disagree, in place of earlier marks; False to try again.

        Args:
            replaces: The marks that do not stay if they agree.
        """
        ls, settings, cancel = self._ls, self._ls.settings, self._cancel
        document, start = scope.document, scope.function.start
        function = self._checked_function(analysis, document, start)
        if function is not None and any(map(is_failing, function.shown)):
            return True
        try:
            mark = await ls.offload(compare, scope, settings, cancel)
        except Cancelled:
            return False
        except CounterlensError as error:
            LOG.info("no docstring was read: %s", error)
            return True
        if analysis.document is not document or not ls.asks(settings):
            return False
        function = self._checked_function(analysis, document, start) or _without_model(scope, ())
        goes = replaces if mark is None else _disagrees
        shown = tuple(each for each in function.shown if not goes(each))
        shown = shown if mark is None else (*shown, mark)
        if shown != function.shown:
            analysis.doubts.note(document, settings.asked, replace(function, shown=shown))
            ls.changed(analysis)
        return True

    def _checked_function(self, analysis: Analysis, document: Document, start: int) -> CheckedFunction | None:
        """What is known about the function that begins at a byte."""
        return analysis.doubts.at(document, self._ls.settings.asked, start)


def _disagrees(mark: Mark) -> bool:
    """Whether it is at a function whose docstring and code disagree."""
    return isinstance(mark, DisagreeingFunction)


def _is_stated(mark: Mark) -> bool:
    """Whether it is at a function that does not return what its docstring states."""
    return isinstance(mark, DisagreeingFunction) and not mark.of


def _without_model(scope: DoubtScope, doubts: tuple[Doubt, ...]) -> CheckedFunction:
    """What is known about a function that the model was not asked about."""
    span = scope.function.start, scope.function.end
    return CheckedFunction(fingerprint(scope), span, doubts, (), is_asked=False)


def shown_of(functions: list[CheckedFunction]) -> set[int]:
    """The marks of a document that are shown, by identity: not those at callers of a failing function."""
    return {id(mark) for mark in culprits([mark for function in functions for mark in function.shown])}


def _is_visible(scope: DoubtScope, lines: types.Range | None) -> bool:
    """Whether a part of a function is visible in the editor."""
    function = scope.function
    return (
        lines is not None
        and function.start_line - 1 <= lines.end.line
        and lines.start.line < function.end_line
    )


def _is_busy() -> bool:
    """Whether others use the machine."""
    try:
        return os.getloadavg()[0] > BUSY * (os.cpu_count() or 1)
    except OSError:
        return False


def _settled(
    host: ModelHost,
    scope: DoubtScope,
    marks: tuple[Doubt, ...],
    settings: EditorSettings,
    cancel: Event,
    failed: Callable[[FailingFunction], None],
) -> tuple[Mark, ...]:
    """The marks of a function that remain after its tests, with the test results; takes seconds."""
    if not has_consent(settings.allow_weaker_sandbox):
        return marks
    timeout = settings.probe.get("timeout")
    limits = lasting(timeout) if timeout else LIMITS
    with host.use_model(settings) as model:  # whoever waits for a mark comes before the colours
        return tuple(
            settle(
                model,
                scope,
                marks,
                best_sandbox(),
                limits=limits,
                excluded=tuple(settings.probe.get("excluded_tests", ())),
                cancel=cancel,
                failed=failed,
                rewrite=written_fix,
            )
        )
