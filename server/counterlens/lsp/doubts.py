"""Doubts: marks where a concrete alternative makes the code clearly likelier, with fix and explanation.

Kinds of marks that the user found not useful: they weigh less in this workspace, until that is undone.

Kept in the user's state folder, by workspace and model, and never in the repository. A kind gets the gain
of the mark that was not useful, and a little more, as its least gain. Marks that failing tests support are
facts, and always shown.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import platformdirs
from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from counterlens.atomic_file import replace_file
from counterlens.confidence.exclusion import ignore_comments
from counterlens.doubt.blaming import is_failing
from counterlens.doubt.disagreeing import DisagreeingFunction
from counterlens.doubt.explaining import TokenPreference, explain
from counterlens.doubt.failing import FailedTest, FailingFunction
from counterlens.doubt.marking import Doubt, Mark, Verification, kind_of
from counterlens.errors import CounterlensError, SourceError
from counterlens.lsp.actions import edit_action, ignore_here, replace_action
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CodeMark, CounterlensServer
from counterlens.lsp.consent import ask
from counterlens.lsp.doubt_queue import DoubtQueue
from counterlens.lsp.doubt_tests import shown_of
from counterlens.lsp.known_results import DoubtMark
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import open_markdown
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import document_named, plain
from counterlens.nested_text import read_json
from counterlens.reports.export.doubts import failure_sentence, mark_sentence, verification_of
from counterlens.reports.nodes import doubt_markdown
from counterlens.reports.wording import shorten
from counterlens.syntax.concepts import Category
from counterlens.trust import repository_of

CODE = "doubt"
COMMAND = "counterlens.explainDoubt"
NOT_USEFUL, USEFUL = "counterlens.notUseful", "counterlens.useful"
_WIDTH = 40
MORE = 1.25
"""A mark of the kind must gain this many times what the one that was not useful gained."""


@dataclass(frozen=True, slots=True)
class DoubtAnswer:
    """The answer of `counterlens.explainDoubt`."""

    ok: bool
    markdown: str = ""
    error: str | None = None


def register(server: CounterlensServer) -> None:
    Doubts(server)


class Doubts:
    """The feature.

    Args:
        server: The server that gets the feature.
    """

    def __init__(self, server: CounterlensServer) -> None:
        self._queue = DoubtQueue(server)
        self._said: dict[Path, Usefulness] = {}
        server.marks.append(self._code_marks)

        async def explain(ls: CounterlensServer, argument: Any = None) -> DoubtAnswer:
            """Explain what became likelier, and by how much."""
            return await self._explain(ls, argument)

        server.command(COMMAND)(explain)

        async def not_useful(ls: CounterlensServer, argument: Any = None) -> None:
            """Show fewer marks of the kind of one."""
            await self._lessen(ls, argument)

        async def useful(ls: CounterlensServer, argument: Any = None) -> None:
            """Show all marks of a kind again."""
            analysis, kind = document_named(ls, argument), str(plain(argument).get("kind"))
            self._say(ls, analysis).restore(kind, ls.host.name)
            self._redraw(ls)

        server.command(NOT_USEFUL)(not_useful)
        server.command(USEFUL)(useful)

    def _marks(self, ls: CounterlensServer, analysis: Analysis) -> Iterator[DoubtMark]:
        """Return the visible marks, except those that a newly added comment ignores."""
        if ls.settings.doubt_diagnostics == "off" or not ls.settings.enable:
            return
        functions = self._queue.checked_functions(analysis)
        shown = shown_of(functions)
        marks = [mark for function in functions for mark in function.marks if id(mark.mark) in shown]
        comments = ignore_comments(analysis.document) if marks else None
        said = self._say(ls, analysis)
        for mark in marks:
            if not said.shows(mark.mark, ls.host.name):
                continue
            if comments and not all(comments.covers(mark.start, mark.end, category) for category in Category):
                yield mark

    def _code_marks(self, ls: CounterlensServer, analysis: Analysis) -> Iterator[CodeMark]:
        for mark in self._marks(ls, analysis):
            yield CodeMark(
                CODE,
                mark.start,
                mark.end,
                _message(mark.mark),
                _severity(mark.mark, ls.settings),
                partial(self._offered, ls, analysis, mark),
                {
                    "kind": kind_of(mark.mark),
                    "alternative": mark.edit[2] if mark.edit else None,
                    "tests": verification_of(mark.mark).value,
                },
                _related(mark.mark.failed) if is_failing(mark.mark) else None,
            )

    def _offered(
        self, ls: CounterlensServer, analysis: Analysis, mark: DoubtMark
    ) -> Iterator[types.CodeAction]:
        if isinstance(mark.mark, DisagreeingFunction):
            yield from _from_docstring(ls, analysis, mark, mark.mark)
        elif isinstance(mark.mark, FailingFunction):
            yield from _from_tests(ls, analysis, mark, mark.mark)
        elif mark.edit is not None:
            text = shorten(mark.edit[2], _WIDTH)
            apply = edit_action(ls, analysis, *mark.edit, f"Change to `{text}`")
            apply.is_preferred = mark.rival is None
            yield apply
            if mark.rival is not None:
                title = f"Change to `{shorten(mark.rival[2], _WIDTH)}`"
                yield edit_action(ls, analysis, *mark.rival, title)
            if ls.client_shows_results:
                title = f"Show the difference to `{text}`"
                yield replace_action(ls, analysis, *mark.edit, title)
            argument = {"uri": analysis.uri, "start": mark.start}
            title = "Why is this in doubt?"
            command = types.Command(title, COMMAND, arguments=[argument])
            yield types.CodeAction(title, kind=types.CodeActionKind.QuickFix, command=command)
        yield from ignore_here(ls, analysis, mark.start, mark.end, None, "Ignore this mark")
        if not is_failing(mark.mark):
            kind = kind_of(mark.mark)
            title = "Not useful: show fewer of this kind"
            argument = {"uri": analysis.uri, "start": mark.start}
            command = types.Command(title, NOT_USEFUL, arguments=[argument])
            yield types.CodeAction(title, kind=types.CodeActionKind.QuickFix, command=command)
            if self._say(ls, analysis).weighs_less(kind, ls.host.name):
                title = "Show all marks of this kind again"
                command = types.Command(title, USEFUL, arguments=[{"uri": analysis.uri, "kind": kind}])
                yield types.CodeAction(title, kind=types.CodeActionKind.QuickFix, command=command)

    def _say(self, ls: CounterlensServer, analysis: Analysis) -> Usefulness:
        """What the user said about kinds of marks in the workspace of a document."""
        folder = next((to_fs_path(uri) for uri in ls.workspace.folders), None)
        place = Path(folder) if folder else analysis.document.path or Path()
        if place not in self._said:
            self._said[place] = Usefulness(place)
        return self._said[place]

    def _redraw(self, ls: CounterlensServer) -> None:
        for analysis in ls.analyses.values():
            ls.changed(analysis)

    async def _lessen(self, ls: CounterlensServer, argument: Any) -> None:
        """Show fewer marks of the kind of one, and offer to undo that."""
        analysis, start = document_named(ls, argument), plain(argument).get("start")
        mark = next((mark for mark in self._marks(ls, analysis) if mark.start == start), None)
        if mark is None or is_failing(mark.mark):
            return
        said, model, kind = self._say(ls, analysis), ls.host.name, kind_of(mark.mark)
        said.lessen(mark.mark, model)
        self._redraw(ls)
        text = f"Fewer marks of the kind `{kind}` are shown in this workspace."
        if await ask(ls, types.MessageType.Info, text, "Undo"):
            said.restore(kind, model)
            self._redraw(ls)

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
        markdown = doubt_markdown(mark.mark, tokens, ls.host.name)
        await open_markdown(ls, f"doubt {analysis.uri} {start}", markdown)
        return DoubtAnswer(ok=True, markdown=markdown)


def _from_docstring(
    ls: CounterlensServer, analysis: Analysis, mark: DoubtMark, disagreeing: DisagreeingFunction
) -> Iterator[types.CodeAction]:
    """What can be done where docstring and code disagree."""
    if disagreeing.example is not None:
        shift = mark.start - disagreeing.place[0]
        at, _, text = disagreeing.example
        title = "Add this as an example that should hold"
        yield edit_action(ls, analysis, at + shift, disagreeing.example[1] + shift, text, title)
    if mark.edit is None:
        return
    if ls.client_shows_results:
        yield replace_action(ls, analysis, *mark.edit, "Show the version from the docstring")
    if disagreeing.tested:
        title = "Use the version from the docstring, which passes the tests"
        yield edit_action(ls, analysis, *mark.edit, title)


def _from_tests(
    ls: CounterlensServer, analysis: Analysis, mark: DoubtMark, failing: FailingFunction
) -> Iterator[types.CodeAction]:
    """What can be done where a model wrote a version that passes the tests."""
    if mark.edit is None or failing.written is None:
        return
    apply = edit_action(ls, analysis, *mark.edit, "Use the version that passes the tests")
    apply.is_preferred = failing.written.confirmed
    yield apply
    if ls.client_shows_results:
        yield replace_action(ls, analysis, *mark.edit, "Show the version that passes the tests")


def _message(mark: Mark) -> str:
    """One line in words, with the test that decides, if any."""
    sentence = mark_sentence(mark)
    if not isinstance(mark, Doubt) or mark.failed is None or not is_failing(mark):
        return sentence
    return f"{sentence}\n{failure_sentence(mark.failed)}"


def _related(test: FailedTest | None) -> list[types.DiagnosticRelatedInformation] | None:
    """The line of a failing test."""
    if test is None or test.file is None or not test.line:
        return None
    start = types.Position(test.line - 1, 0)
    where = types.Location(from_fs_path(str(test.file)) or "", types.Range(start, start))
    return [types.DiagnosticRelatedInformation(where, test.text)]


def _severity(mark: Mark, settings: EditorSettings) -> types.DiagnosticSeverity:
    """A mark is an error if tests fail on the code, and a warning if its fix is not confirmed."""
    if verification_of(mark) is Verification.FAIL:
        return types.DiagnosticSeverity.Error
    if verification_of(mark) is Verification.UNCONFIRMED:
        return types.DiagnosticSeverity.Warning
    return types.DiagnosticSeverity[settings.doubt_diagnostics.capitalize()]


def _tokens(host: ModelHost, settings: EditorSettings, doubt: Doubt) -> list[TokenPreference]:
    """Request the tokens of a mark; takes up to some seconds."""
    with host.use_model(settings) as model:
        return explain(model, doubt)


def _weight(mark: Mark) -> float:
    """What a mark gains: nats of an alternative, or the share of the versions that agree."""
    if isinstance(mark, Doubt):
        return mark.trial.gain
    if isinstance(mark, DisagreeingFunction):
        return mark.agreeing / mark.of if mark.of else 1.0
    return 0.0


class Usefulness:
    """What the user said about kinds of marks in one workspace. Used only on the server's event loop.

    Args:
        place: A file or folder of the workspace.
        folder: The folder for the state; by default in the user's state folder.
    """

    def __init__(self, place: Path, folder: Path | None = None) -> None:
        root = str(repository_of(place))
        name = hashlib.sha256(root.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        folder = folder or Path(platformdirs.user_state_dir("counterlens")) / "usefulness"
        self._file = folder / f"{name}.json"
        self._least = self._read()

    def shows(self, mark: Mark, model: str) -> bool:
        """Whether a mark is shown."""
        return is_failing(mark) or _weight(mark) > self._least.get(model, {}).get(kind_of(mark), 0.0)

    def weighs_less(self, kind: str, model: str) -> bool:
        """Whether a kind weighs less."""
        return kind in self._least.get(model, {})

    def lessen(self, mark: Mark, model: str) -> None:
        """Show fewer marks of the kind of this one.

        Raises:
            OSError: the state cannot be written.
        """
        kinds = self._least.setdefault(model, {})
        kind = kind_of(mark)
        kinds[kind] = max(kinds.get(kind, 0.0), MORE * _weight(mark))
        self._write()

    def restore(self, kind: str, model: str) -> None:
        """Show all marks of a kind again.

        Raises:
            OSError: the state cannot be written.
        """
        self._least.get(model, {}).pop(kind, None)
        self._write()

    def _read(self) -> dict[str, dict[str, float]]:
        try:
            kept: Any = read_json(self._file)
            return {
                str(model): {str(kind): float(least) for kind, least in kinds.items()}
                for model, kinds in kept["least"].items()
            }
        except (AttributeError, KeyError, OSError, OverflowError, TypeError, ValueError):
            return {}

    def _write(self) -> None:
        replace_file(self._file, json.dumps({"least": self._least}, indent=1) + "\n")
