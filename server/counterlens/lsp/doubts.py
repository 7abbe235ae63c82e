"""Doubts: marks where a concrete alternative makes the code clearly likelier, with fix and explanation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.uris import from_fs_path

from counterlens.confidence.ignoring import ignored
from counterlens.doubt.explaining import TokenPreference, explained
from counterlens.doubt.failing import FailedTest
from counterlens.doubt.marking import Doubt, Mark, Verification
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
from counterlens.reports.export.doubts import failure_sentence, kind_of, mark_sentence, verification_of
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
                message=_message(mark.mark),
                severity=_severity(mark.mark, ls.settings),
                source="counterlens",
                code=CODE,
                related_information=_related(mark.mark.failed) if _is_deciding(mark.mark) else None,
                data={
                    "kind": kind_of(mark.mark),
                    "alternative": mark.edit[2] if mark.edit else None,
                    "tests": verification_of(mark.mark).value,
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
        if mark.edit is not None:
            text = shortened(mark.edit[2], _WIDTH)
            apply = edit_action(ls, analysis, *mark.edit, t("Change to {code}", code=f"`{text}`"))
            apply.is_preferred = mark.rival is None
            yield apply
            if mark.rival is not None:
                title = t("Change to {code}", code=f"`{shortened(mark.rival[2], _WIDTH)}`")
                yield edit_action(ls, analysis, *mark.rival, title)
            if ls.client_shows_results:
                title = t("Show the difference to {code}", code=f"`{text}`")
                yield replace_action(ls, analysis, *mark.edit, title)
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
            if mark is None or not isinstance(mark.mark, Doubt):
                raise SourceError("the doubt there no longer exists")
            tokens = await ls.offload(_tokens, ls.host, settings, mark.mark)
        except CounterlensError as error:
            return DoubtAnswer(ok=False, error=ls.refuse(error, settings))
        markdown = doubt_markdown(mark.mark, tokens, ls.host.name, translator())
        await open_markdown(ls, f"doubt {analysis.uri} {start}", markdown)
        return DoubtAnswer(ok=True, markdown=markdown)


def _message(mark: Mark) -> str:
    """One line in words, with the test that decides, if any."""
    sentence = mark_sentence(mark, translator())
    if not isinstance(mark, Doubt) or mark.failed is None or not _is_deciding(mark):
        return sentence
    return f"{sentence}\n{failure_sentence(mark.failed, translator())}"


def _is_deciding(mark: Mark) -> bool:
    """Whether a failing test decides about a mark."""
    return not isinstance(mark, Doubt) or mark.tests is Verification.FAIL or mark.rival is not None


def _related(test: FailedTest | None) -> list[types.DiagnosticRelatedInformation] | None:
    """The line of a failing test."""
    if test is None or test.file is None or not test.line:
        return None
    start = types.Position(test.line - 1, 0)
    where = types.Location(from_fs_path(str(test.file)) or "", types.Range(start, start))
    return [types.DiagnosticRelatedInformation(where, test.text)]


def _severity(mark: Mark, settings: EditorSettings) -> types.DiagnosticSeverity:
    """A mark is an error if tests fail on the code, and either the alternative passes or there is none."""
    if verification_of(mark) is Verification.FAIL:
        return types.DiagnosticSeverity.Error
    return types.DiagnosticSeverity[settings.doubt_diagnostics.capitalize()]


def _tokens(host: ModelHost, settings: EditorSettings, doubt: Doubt) -> list[TokenPreference]:
    """Request the tokens of a mark; takes up to some seconds."""
    with host.use_model(settings) as model:
        return explained(model, doubt)
