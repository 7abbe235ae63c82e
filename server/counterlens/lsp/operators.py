"""Operators: the hover shows which ones the model finds likely; a clear preference for another is marked.

No request is sent until the user points at an operator or probes, unless `operators.ask` is `scored`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator

from lsprotocol import types

from counterlens.confidence.ignoring import ignored
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.hovering import HoverPart
from counterlens.lsp.known_operators import KnownOperator
from counterlens.lsp.language import t, translator
from counterlens.lsp.operator_queue import OperatorQueue
from counterlens.lsp.replacing import ignore_actions, replace_action, with_diagnostics
from counterlens.reports.expected import code
from counterlens.reports.operators import belief_brief, belief_sentence, belief_table
from counterlens.reports.render.markdown import prose
from counterlens.reports.wording import share
from counterlens.syntax.concepts import Category
from counterlens.syntax.operators import operator_at

CODE = "operator"


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    Operators(server)


class Operators:
    """The feature.

    Args:
        server: The server that gets the feature.
    """

    def __init__(self, server: CounterlensServer) -> None:
        self._queue = OperatorQueue(server)
        server.hovers.append(self._hover)
        server.hover_waits.append(self._wait)
        server.diagnostics.append(self._diagnostics)
        server.code_actions.append(self._code_actions)
        server.when_changed.append(self._ask_ahead)
        server.when_probed.append(self._ask_probed)

    def _wait(self, ls: CounterlensServer, analysis: Analysis, offset: int) -> Awaitable[object] | None:
        """Ask for the operator under the pointer."""
        if ls.settings.operators_ask == "never" or not ls.settings.enable:
            return None
        site = operator_at(analysis.document, offset)
        if site is None or site.start in self._queue.known(analysis):
            return None
        return self._queue.ask(analysis, site.start).wait()

    def _hover(self, ls: CounterlensServer, analysis: Analysis, offset: int) -> HoverPart:
        site = operator_at(analysis.document, offset)
        answer = self._queue.known(analysis).get(site.start) if site is not None else None
        if answer is not None:
            brief = belief_brief(answer.belief, ls.host.name, translator())
            return HoverPart(brief, belief_table(answer.belief, translator()))
        if site is None or ls.settings.operators_ask == "never" or not ls.settings.enable:
            return HoverPart()
        if analysis.operators.failure:
            reason = prose(analysis.operators.failure)
            return HoverPart(t("*No operator preference: {reason}*", reason=reason))
        asked = code(site.text[:40])
        return HoverPart(t("*Asking which operator fits {code}… Hover again in a moment.*", code=asked))

    def _doubted(self, ls: CounterlensServer, analysis: Analysis) -> Iterator[KnownOperator]:
        """Return the operators to which the model strongly prefers another, except ignored ones."""
        answers = self._queue.known(analysis)
        if not answers or Category.OPERATORS in ls.settings.ignored_concepts:
            return
        comments = ignored(analysis.document)
        if Category.OPERATORS in comments.everywhere:
            return
        for answer in answers.values():
            ignored_there = comments.covers(answer.start, answer.end, Category.OPERATORS)
            if answer.belief.doubts(ls.settings.operators_threshold) and not ignored_there:
                yield answer

    def _diagnostics(self, ls: CounterlensServer, analysis: Analysis) -> list[types.Diagnostic]:
        if ls.settings.operators_diagnostics == "off" or not ls.settings.enable:
            return []
        places = ls.places(analysis)
        return [
            types.Diagnostic(
                range=places.range(answer.start, answer.end),
                message=belief_sentence(answer.belief, ls.host.name, translator()),
                severity=types.DiagnosticSeverity[ls.settings.operators_diagnostics.capitalize()],
                source="counterlens",
                code=CODE,
                data={"preferred": answer.belief.preferred, "category": Category.OPERATORS},
            )
            for answer in self._doubted(ls, analysis)
        ]

    def _code_actions(
        self, ls: CounterlensServer, analysis: Analysis, params: types.CodeActionParams
    ) -> list[types.CodeAction]:
        """Replace an operator with the one that the model prefers; at a mark, also offer to ignore it."""
        places = ls.places(analysis)
        first, last = places.offset(params.range.start), places.offset(params.range.end)
        marked = {answer.start for answer in self._doubted(ls, analysis)}
        actions: list[types.CodeAction] = []
        for answer in self._queue.known(analysis).values():
            preferred = answer.belief.preferred
            if preferred is None or not (answer.start <= last and first <= answer.end):
                continue
            title = t(
                "Replace {code} with {other} ({share})",
                code=f"`{answer.belief.distribution.site.operator}`",
                other=f"`{preferred}`",
                share=share(answer.belief.share, translator()),
            )
            offered = [replace_action(ls, analysis, answer.start, answer.end, preferred, title)]
            if answer.start in marked:
                offered += ignore_actions(ls, analysis, answer.start, answer.end, Category.OPERATORS)
            actions += with_diagnostics(params, CODE, places.range(answer.start, answer.end), offered)
        return actions

    def _ask_ahead(self, ls: CounterlensServer, analysis: Analysis) -> None:
        """Ask for all operators of a scored document, if the settings say so."""
        if ls.settings.operators_ask == "scored" and analysis.confidence is not None:
            # once for these scores
            analysis.memo.get("operators", lambda: _later(self._queue.ask_all(analysis)))

    def _ask_probed(
        self, _ls: CounterlensServer, analysis: Analysis, task: str, spans: list[tuple[int, int]]
    ) -> None:
        """Store the answers of the operator probe, for hover and marks."""
        if task == "operator":
            for span in spans:
                _later(self._queue.ask_all(analysis, span))


_TASKS: set[asyncio.Task[None]] = set()


def _later(work: Awaitable[None]) -> None:
    task = asyncio.ensure_future(work)
    _TASKS.add(task)  # the loop keeps only a weak reference
    task.add_done_callback(_TASKS.discard)
