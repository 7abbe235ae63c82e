"""Doubts: marks where a concrete alternative makes the code clearly likelier, with fix and explanation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from counterlens.confidence.ignoring import ignored
from counterlens.doubt.explaining import TokenPreference, explained
from counterlens.doubt.marking import Doubt, Verification
from counterlens.errors import CounterlensError, SourceError
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.doubt_queue import DoubtQueue
from counterlens.lsp.known_doubts import DoubtMark
from counterlens.lsp.language import t, translator
from counterlens.lsp.markdown_preview import open_markdown
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.replacing import edit_action, ignore_here, replace_action, with_diagnostics
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import document_named, plain
from counterlens.reports.doubts import doubt_markdown
from counterlens.reports.export.doubts import doubt_sentence
from counterlens.reports.wording import shortened
from counterlens.syntax.concepts import Category

CODE = "doubt"
COMMAND = "counterlens.explainDoubt"
_WIDTH = 40


@dataclass(frozen=True, slots=True)
class DoubtAnswer:
    """The answer of `counterlens.explainDoubt`."""

    ok: bool
    markdown: str = ""
    error: str | None = None


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    Doubts(server)


class Doubts:
    """The feature.

    Args:
        server: The server that gets the feature.
    """

    def __init__(self, server: CounterlensServer) -> None:
        self._queue = DoubtQueue(server)
        server.diagnostics.append(self._diagnostics)
        server.code_actions.append(self._code_actions)

        async def explain(ls: CounterlensServer, argument: Any = None) -> DoubtAnswer:
            """Explain what became likelier, and by how much."""
            return await self._explain(ls, argument)

        server.command(COMMAND)(explain)

    def _marks(self, ls: CounterlensServer, analysis: Analysis) -> Iterator[DoubtMark]:
        """Return the visible marks, except those that a newly added comment ignores."""
        if ls.settings.doubt_diagnostics == "off" or not ls.settings.enable:
            return
        known = [mark for function in self._queue.known(analysis) for mark in function.marks]
        comments = ignored(analysis.document) if known else None
        for mark in known:
            if comments and not all(comments.covers(mark.start, mark.end, one) for one in Category):
                yield mark

    def _diagnostics(self, ls: CounterlensServer, analysis: Analysis) -> list[types.Diagnostic]:
        places = ls.places(analysis)
        return [
            types.Diagnostic(
                range=places.range(mark.start, mark.end),
                message=_message(mark.doubt),
                severity=_severity(mark.doubt, ls.settings),
                source="counterlens",
                code=CODE,
                data={
                    "kind": mark.doubt.alternative.kind,
                    "alternative": mark.text,
                    "tests": mark.doubt.tests.value,
                },
            )
            for mark in self._marks(ls, analysis)
        ]

    def _code_actions(
        self, ls: CounterlensServer, analysis: Analysis, params: types.CodeActionParams
    ) -> list[types.CodeAction]:
        places = ls.places(analysis)
        first, last = places.offset(params.range.start), places.offset(params.range.end)
        actions: list[types.CodeAction] = []
        for mark in self._marks(ls, analysis):
            if mark.start <= last and first <= mark.end:
                where = places.range(mark.start, mark.end)
                actions += with_diagnostics(params, CODE, where, self._offered(ls, analysis, mark))
        return actions

    def _offered(
        self, ls: CounterlensServer, analysis: Analysis, mark: DoubtMark
    ) -> Iterator[types.CodeAction]:
        where = *mark.edit, mark.text
        text = shortened(mark.text, _WIDTH)
        apply = edit_action(ls, analysis, *where, t("Change to {code}", code=f"`{text}`"))
        apply.is_preferred = mark.rival is None
        yield apply
        if mark.rival is not None:
            title = t("Change to {code}", code=f"`{shortened(mark.rival[2], _WIDTH)}`")
            yield edit_action(ls, analysis, *mark.rival, title)
        if ls.client_shows_results:
            yield replace_action(ls, analysis, *where, t("Show the difference to {code}", code=f"`{text}`"))
        argument = {"uri": analysis.uri, "start": mark.start}
        title = t("Why is this in doubt?")
        command = types.Command(title, COMMAND, arguments=[argument])
        yield types.CodeAction(title, kind=types.CodeActionKind.QuickFix, command=command)
        yield from ignore_here(ls, analysis, mark.start, mark.end, None, t("Ignore this mark"))

    async def _explain(self, ls: CounterlensServer, argument: Any) -> DoubtAnswer:
        """Explain what became likelier, and by how much."""
        settings = ls.settings
        try:
            analysis, start = document_named(ls, argument), plain(argument).get("start")
            mark = next((mark for mark in self._marks(ls, analysis) if mark.start == start), None)
            if mark is None:
                raise SourceError("the doubt there no longer exists")
            tokens = await ls.offload(_tokens, ls.host, settings, mark.doubt)
        except CounterlensError as error:
            return DoubtAnswer(ok=False, error=ls.refuse(error, settings))
        markdown = doubt_markdown(mark.doubt, tokens, ls.host.name, translator())
        await open_markdown(ls, f"doubt {analysis.uri} {start}", markdown)
        return DoubtAnswer(ok=True, markdown=markdown)


def _message(doubt: Doubt) -> str:
    """One line in words, with the test that distinguishes the alternative, if any."""
    sentence = doubt_sentence(doubt, translator())
    if not doubt.failing or (doubt.tests is not Verification.FAIL and doubt.rival is None):
        return sentence
    return f"{sentence}\n{t('The deciding test:')} {doubt.failing}"


def _severity(doubt: Doubt, settings: EditorSettings) -> types.DiagnosticSeverity:
    """A mark is an error if tests show that the alternative is right."""
    if doubt.tests is Verification.FAIL:
        return types.DiagnosticSeverity.Error
    return types.DiagnosticSeverity[settings.doubt_diagnostics.capitalize()]


def _tokens(host: ModelHost, settings: EditorSettings, doubt: Doubt) -> list[TokenPreference]:
    """Request the tokens of a mark; takes up to some seconds."""
    with host.use_model(settings) as model:
        return explained(model, doubt)
