"""Code actions on surprises: replace the code with what the model expected, or ignore the mark."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from counterlens.confidence.replacing import replacements
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import t, translator
from counterlens.lsp.replacing import ignore_actions, replace_action, with_diagnostics
from counterlens.lsp.surprising import CODE, Mark, marks
from counterlens.reports.wording import share


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.code_actions.append(_code_actions)


def _code_actions(
    ls: CounterlensServer, analysis: Analysis, params: types.CodeActionParams
) -> list[types.CodeAction]:
    places = ls.places(analysis)
    first, last = places.offset(params.range.start), places.offset(params.range.end)
    actions: list[types.CodeAction] = []
    for mark in marks(analysis, ls.settings):
        if mark.start <= last and first <= mark.end:
            where = places.range(mark.start, mark.end)
            actions += with_diagnostics(params, CODE, where, _offer(ls, analysis, mark))
    return actions


def _offer(ls: CounterlensServer, analysis: Analysis, mark: Mark) -> Iterator[types.CodeAction]:
    token, confidence = mark.surprise.token, analysis.confidence
    if confidence is not None:
        expected = analysis.memo.get(("replacements", token), lambda: replacements(confidence, token))
        for other in expected:
            title = t(
                "Replace with {other} ({share})",
                other=f"`{other.text}`",
                share=share(other.probability, translator()),
            )
            yield replace_action(ls, analysis, other.start, other.end, other.text, title)
    yield from ignore_actions(ls, analysis, mark.start, mark.end, mark.surprise.category)
