"""The code lens of the completion probe, and its mark for clients without panels.

The prompts of each function are counted first, a few functions at a time; a function without any has no lens.
Each function is parsed by itself, without the rest of its file: this is a hundred times cheaper, and differs
only if other lines matter. A count is kept while the text of the function is unchanged.
"""

from __future__ import annotations

import asyncio
import contextlib
import textwrap
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from lsprotocol import types

from counterlens.errors import CounterlensError
from counterlens.evaluation.time_left import expected_seconds
from counterlens.judging.languages import JUDGED
from counterlens.lsp.analysis import Analysis, ScoringState
from counterlens.lsp.base import CodeMark, CounterlensServer
from counterlens.lsp.probing import COMMAND as PROBE_COMMAND
from counterlens.lsp.prospects import KeptResult, counts_of_kind, is_hopeless, kept_results, refusal
from counterlens.lsp.wording import about
from counterlens.metrics.effects import Proportion
from counterlens.metrics.summary import summarize
from counterlens.probes.pairs.counterfactuals import prompts_of, rewritings
from counterlens.probes.pairs.phrases import contested_count, unstable_changes
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.sensitivity import is_insensitive
from counterlens.probes.pairs.wording import meaning
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
    server.feature(types.TEXT_DOCUMENT_CODE_LENS)(_code_lens)
    server.when_forgotten.append(CounterlensServer.refresh_code_lenses)
    server.marks.append(_effects)
    server.when_edited.append(_retract_refusals)


async def _code_lens(ls: CounterlensServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Return the lenses of a document's functions, for the tasks that are known to be available."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None or not (ls.settings.code_lens_enabled and ls.settings.enable):
        return []
    frozen = analysis.frozen()
    if not await ls.offload(Askable(frozen).count, _AT_ONCE_SECONDS):
        _later(ls, analysis)
    return await ls.offload(_lenses, ls, frozen)


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
                ls.refresh_code_lenses()


class Askable:
    """The number of prompts of a probe, per function."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._functions = functions(analysis.document)

    def prompt_counts(self) -> dict[str, int]:
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


def _retract_refusals(ls: CounterlensServer, edited: Analysis) -> None:
    """Forget why probes were refused once another file was edited: it may have the tests."""
    for analysis in ls.analyses.values():
        if analysis is not edited:
            for name, result in analysis.results.items():
                analysis.results[name] = replace(result, refusal="")


def _lenses(ls: CounterlensServer, analysis: Analysis) -> list[types.CodeLens]:
    """A lens on each function for which a probe will say something, or whose result or refusal is known."""
    prompts, model = Askable(analysis).prompt_counts(), ls.settings.model_spec
    kept = kept_results(analysis.uri, model) if ls.client_shows_results else {}
    titles = {
        function.qualname: title
        for function in functions(analysis.document)
        if (
            title := _title(
                ls, analysis, function, prompts.get(function.qualname, 0), kept.get(function.qualname)
            )
        )
    }
    document, places, lenses = analysis.document, ls.places(analysis), []
    for function in functions(document):
        if function.qualname in titles:
            text = f"Probe counterfactually · {titles[function.qualname]}"
            argument = {"uri": analysis.uri, "function": function.qualname}
            command = types.Command(text, PROBE_COMMAND, arguments=[argument])
            lenses.append(types.CodeLens(places.range(function.header, function.header), command))
    return lenses


def _title(
    ls: CounterlensServer, analysis: Analysis, function: Function, prompts: int, kept: KeptResult | None
) -> str:
    """The result for a function, else what is known before a probe; empty if it will say nothing."""
    results, model = analysis.known_function(function.qualname), ls.settings.model_spec
    if results.probe is not None:
        return _result(results.probe)
    if kept is not None and kept.source.encode() == analysis.source_of(function):
        return f"{_result(kept.record)} · at once"
    if results.refusal:
        return f"refused: {results.refusal}"
    if not prompts:
        return ""
    language = JUDGED.get(analysis.document.language)
    weak = language.weak_assertion(analysis.document, function) if language else None
    if weak is not None:
        return f"will be refused: {refusal(weak)}"
    counts = counts_of_kind(model, function)
    if is_hopeless(counts):
        return ""
    parts = [_effort(ls, prompts)]
    if counts.probed:
        parts.append(f"completed {counts.completed} of {counts.probed} such functions")
    if kept is not None:
        parts.append(f"of the older text: {_result(kept.record)}")
    return " · ".join(parts)


def _effort(ls: CounterlensServer, prompts: int) -> str:
    """How long a probe takes; if unknown, how many prompts it needs."""
    seconds = expected_seconds(ls.settings.model_spec, PROBE_COMMAND, prompts)
    if seconds is None:
        return f"{prompts} prompts"
    return about(seconds)


def _changed_share(record: PairsRecord) -> Proportion:
    """The share of informative pairs whose verdict changed."""
    return summarize(record.observations).average


def _result(record: PairsRecord) -> str:
    changed = _changed_share(record)
    if changed.n:
        sentence = f"{changed.count} of {changed.n} changed the verdict"
        return ", ".join(filter(None, (sentence, *_caveats(record))))
    if record.pairs:
        return "uninformative"
    insensitive = next((site.reason for site in record.refused if is_insensitive(site.reason)), None)
    return f"refused: {insensitive}" if insensitive else "nothing to change"


def _caveats(record: PairsRecord) -> tuple[str, str]:
    return unstable_changes(record), contested_count(record)


def _effects(ls: CounterlensServer, analysis: Analysis) -> Iterator[CodeMark]:
    """Show the result of a probe at the name of its function, for clients without a view for it.

    It is about the model, so it would be a false report among the problems of the code.
    """
    if ls.client_shows_results:
        return
    for function in functions(analysis.document) if analysis.results else []:
        record = analysis.known_function(function.qualname).probe
        if record is None:
            continue
        changed, counted = _changed_share(record), ""
        if changed.n:
            counted = f"{changed.count} of {changed.n} informative counterfactual pairs changed the verdict."
        name = analysis.document.data.index(function.name.encode(), function.header)
        message = f"{counted} {meaning(record)}".lstrip()
        yield CodeMark("counterfactual-effect", name, name + len(function.name.encode()), message)
