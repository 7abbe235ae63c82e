"""Code lenses: each feature that offers some adds them to `CounterlensServer.code_lenses`.

The prompts of each function are counted first, a few functions at a time; a function without any has no lens.
Each function is parsed by itself, without the rest of its file: this is a hundred times cheaper, and differs
only if other lines matter. A count is kept while the text of the function is unchanged.
"""

from __future__ import annotations

import asyncio
import contextlib
import textwrap
import time
from collections.abc import Callable, Iterable
from typing import Final

from lsprotocol import types

from counterlens.errors import CounterlensError
from counterlens.lsp.analysis import Analysis, ScoringState
from counterlens.lsp.base import CounterlensServer
from counterlens.probes.pairs.counterfactuals import prompts_of, rewritings
from counterlens.probes.prompts.language import prompting_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

_AT_ONCE_SECONDS: Final = 0.1
_SLICE_SECONDS: Final = 0.1
_PAUSE_SECONDS: Final = 0.2
_REFRESH_SECONDS: Final = 3.0
_COUNTING: dict[str, asyncio.Task[None]] = {}
"""Background counts of the rest of a document, by its URI."""


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(types.TEXT_DOCUMENT_CODE_LENS)(_code_lens)
    server.when_forgotten.append(refresh)


async def _code_lens(ls: CounterlensServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Return the lenses of a document's functions, for the tasks that are known to be available."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None or not (ls.settings.code_lens_enabled and ls.settings.enable):
        return []
    frozen = analysis.frozen()
    if not await ls.offload(Askable(frozen).count, _AT_ONCE_SECONDS):
        _later(ls, analysis)
    return await ls.offload(_all, ls, frozen)


def _all(ls: CounterlensServer, analysis: Analysis) -> list[types.CodeLens]:
    return [lens for offer in ls.code_lenses for lens in offer(ls, analysis)]


def _later(ls: CounterlensServer, analysis: Analysis) -> None:
    """Count the other functions in the background, then have the client request the lenses again."""
    if analysis.uri in _COUNTING:
        return
    task = asyncio.ensure_future(_count_until_closed(ls, analysis))
    _COUNTING[analysis.uri] = task
    task.add_done_callback(lambda _task: _COUNTING.pop(analysis.uri, None))


async def _count_until_closed(ls: CounterlensServer, analysis: Analysis) -> None:
    with contextlib.suppress(RuntimeError):  # nothing can be offloaded once the server shuts down
        done, last_refresh = False, time.monotonic()
        while not done and ls.analyses.get(analysis.uri) is analysis:
            # scoring comes first: it uses the same processor
            scoring = analysis.state is ScoringState.SCORING
            await asyncio.sleep(_PAUSE_SECONDS * (4 if scoring else 1))
            done = await ls.offload(Askable(analysis.frozen()).count, _SLICE_SECONDS)
            if done or time.monotonic() - last_refresh > _REFRESH_SECONDS:
                last_refresh = time.monotonic()
                refresh(ls)


def refresh(ls: CounterlensServer) -> None:
    """Have the client request lenses again, if it supports that."""
    workspace = ls.client_capabilities.workspace
    if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
        ls.workspace_code_lens_refresh(None)


def lenses_over(
    ls: CounterlensServer,
    analysis: Analysis,
    command: str,
    title: Callable[[Function], str],
    wanted: Callable[[Function], bool] = lambda _function: True,
) -> list[types.CodeLens]:
    """One lens over each function of a document, in languages that have functions.

    Args:
        command: Called with `{uri, function}`.
        title: The text of the lens.
        wanted: Whether a function gets the lens.
    """
    document, places = analysis.document, ls.places(analysis)
    lenses = []
    for function in filter(wanted, functions(document)):
        argument = {"uri": analysis.uri, "function": function.qualname}
        lens_command = types.Command(title(function), command, arguments=[argument])
        lenses.append(types.CodeLens(places.range(function.header, function.header), lens_command))
    return lenses


class Askable:
    """The number of prompts of a probe, per function."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._functions = functions(analysis.document)

    def known(self) -> dict[str, int]:
        """Prompts of the counted functions, by qualified name; 0 if the model cannot be asked anything."""
        counted = self._analysis.askable
        named = (
            (function.qualname, counted.get(self._analysis.source_of(function)))
            for function in self._functions
        )
        return {name: prompts for name, prompts in named if prompts is not None}

    def count(self, seconds: float) -> bool:
        """Count more functions, visible ones first.

        Args:
            seconds: Time budget.

        Returns:
            Whether all functions are counted.
        """
        until, counted = time.monotonic() + seconds, self._analysis.askable
        for function in self._nearest():
            source = self._analysis.source_of(function)
            if source in counted:
                continue
            if time.monotonic() > until:
                return False
            counted[source] = _prompts(self._analysis.document, function)
        current = {self._analysis.source_of(function) for function in self._functions}
        for gone in counted.keys() - current:
            counted.pop(gone, None)
        return True

    def _nearest(self) -> Iterable[Function]:
        """The functions, by distance from the visible lines."""
        shown = self._analysis.visible
        if shown is None:
            return self._functions
        first, last = shown.start.line + 1, shown.end.line + 1
        return sorted(
            self._functions,
            key=lambda function: max(first - function.end_line, function.start_line - last, 0),
        )


def _prompts(document: Document, function: Function) -> int:
    line = document.data.rfind(b"\n", 0, function.start) + 1
    text = textwrap.dedent(document.data[line : function.end].decode("utf-8", "replace"))
    try:
        alone = Document(prompting_of(document.language).alone(text), language=document.language)
        _, surveyed = rewritings(alone, function.name, None, seed=0)
    except CounterlensError:  # it does not parse by itself
        return 0
    return prompts_of(surveyed.counterfactuals)
