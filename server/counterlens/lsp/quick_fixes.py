"""Code actions on what is surprising: replace it with what the model expected, or do not show it again."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from counterlens.confidence import Confidence
from counterlens.confidence.replacing import replacements
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import t, translator
from counterlens.lsp.replacing import about, ignore_actions, replace_action
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
            if analysis.confidence is not None:
                actions += _replace(ls, analysis, analysis.confidence, mark)
            actions += ignore_actions(ls, analysis, mark.start, mark.end, mark.surprise.category)
            marked = about(params, CODE, places.range(mark.start, mark.end))
            for action in actions:
                action.diagnostics = action.diagnostics or marked or None
    return actions


def _replace(
    ls: CounterlensServer, analysis: Analysis, found: Confidence, mark: Mark
) -> Iterator[types.CodeAction]:
    token = mark.surprise.token
    offered = analysis.memo.get(("replacements", token), lambda: replacements(found, token))
    for one in offered:
        title = t(
            "Replace with {other} ({share})",
            other=f"`{one.text}`",
            share=share(one.probability, translator()),
        )
        yield replace_action(ls, analysis, one.start, one.end, one.text, title)
