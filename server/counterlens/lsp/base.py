"""The shared parts of all features of the language server: state, and the hooks that features register with.

A feature is a file of this folder with a function `register(server)`, named once in `server.py`. Each of
several features that answer one method of the protocol, such as code actions, adds its part to one of the
lists of `CounterlensServer`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import counterlens
from counterlens.errors import CounterlensError, SourceError
from counterlens.evaluation.settings_file import SettingsFile
from counterlens.lsp import status
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.background import BackgroundScorer, ScoredDocument
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.places import Places
from counterlens.lsp.settings import EditorSettings, read_settings
from counterlens.lsp.transport import PatientProtocol
from counterlens.text import PositionEncoding, message_text, printable

LOG = logging.getLogger("counterlens.lsp")
Given = ParamSpec("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class HoverPart:
    """One part of a hover, as Markdown.

    Attributes:
        brief: A line.
        detail: The text behind "more".
    """

    brief: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CodeMark:
    """A piece of code with a message, and what the user can do about it.

    Attributes:
        code: The kind of mark, as the code of its diagnostic.
        start: First byte in the newest version of the document.
        end: The byte after the last.
        message: The message; empty if nothing is shown, and only actions are offered.
        severity: How the message is shown.
        actions: Returns the code actions.
        data: Further facts for the client.
        related: Other places that the message is about.
    """

    code: str
    start: int
    end: int
    message: str
    severity: types.DiagnosticSeverity = types.DiagnosticSeverity.Information
    actions: Callable[[], Iterable[types.CodeAction]] = tuple
    data: Mapping[str, object] | None = None
    related: list[types.DiagnosticRelatedInformation] | None = None


class CounterlensServer(LanguageServer):
    """The open documents with their results, and the model.

    Attributes:
        settings: The user's settings, and those of the repository if it is trusted.
        given: The settings as the client sent them.
        trusted: Whether the client lets code of the workspace run; None if the client does not say.
        file: The repository's settings file, if the repository is trusted and has one.
        client_shows_results: Whether the client has the commands of the Counterlens extension.
        analyses: The open documents by URI.
        loop: The event loop that sends messages; None before the first message from the client.
        executor: Runs the blocking work of handlers.
        scorer: Scores documents in the background.
        prepare: Called on the executor with new scores, to compute in advance what clients will request.
        when_changed: Called when results for a document change: scores, or a probe's result.
        when_grown: Called when more of a document is scored, but not all.
        when_forgotten: Called when a model's results were discarded because another model was chosen.
        when_edited: Called when a document has a new text.
        when_looked: Called when the client says which lines of a document are visible.
        when_closed: Called when a document is closed.
        when_initialized: Called when the client is ready for requests.
        when_file_changed: Called with the path of a file that was saved, created or changed on disk.
        when_probed: Called after a task: with its id, and the byte ranges of the functions.
        marks: Each returns marks of a document, which become diagnostics and code actions.
        code_actions: Each returns further code actions for a range.
        hovers: Each returns its part of the hover at a byte of a document; empty if it has none.
        hover_waits: Each may return an awaitable for which a hover should wait briefly.
    """

    def __init__(self) -> None:
        super().__init__("counterlens", counterlens.__version__, protocol_cls=PatientProtocol)
        self.settings = EditorSettings()
        self.given: object = None
        self.trusted: bool | None = None
        self.file: SettingsFile | None = None
        self.client_shows_results = False
        self.analyses: dict[str, Analysis] = {}
        self.host = ModelHost()
        self.loop: asyncio.AbstractEventLoop | None = None
        # pygls reads its input on its own pool, so a busy executor does not delay a hover.
        self.executor = ThreadPoolExecutor(max_workers=8, thread_name_prefix="counterlens")
        self.prepare: list[Callable[[EditorSettings, ScoredDocument], None]] = []
        self.when_changed: list[Callable[[CounterlensServer, Analysis], None]] = []
        self.when_grown: list[Callable[[CounterlensServer, Analysis], None]] = []
        self.when_forgotten: list[Callable[[CounterlensServer], None]] = []
        self.when_edited: list[Callable[[CounterlensServer, Analysis], None]] = []
        self.when_looked: list[Callable[[CounterlensServer, Analysis], None]] = []
        self.when_closed: list[Callable[[CounterlensServer, Analysis], None]] = []
        self.when_initialized: list[Callable[[CounterlensServer], None]] = []
        self.when_file_changed: list[Callable[[CounterlensServer, Path], None]] = []
        self.when_probed: list[Callable[[CounterlensServer, Analysis, str, list[tuple[int, int]]], None]] = []
        self.marks: list[Callable[[CounterlensServer, Analysis], Iterable[CodeMark]]] = []
        self.code_actions: list[
            Callable[[CounterlensServer, Analysis, types.CodeActionParams], list[types.CodeAction]]
        ] = []
        self.hovers: list[Callable[[CounterlensServer, Analysis, int], HoverPart]] = []
        self.hover_waits: list[Callable[[CounterlensServer, Analysis, int], Awaitable[object] | None]] = []
        self._last_status: status.ServerStatus | None = None
        self.scorer = BackgroundScorer(
            self.host,
            self.executor,
            lambda: self.settings,
            self.changed,
            self._grew,
            self.announce,
            self._prepare,
        )

    def report_server_error(self, error: Exception, _source: object) -> None:
        """Log an error outside any request, about which the user cannot do anything."""
        LOG.warning("%s: %s", type(error).__name__, printable(str(error), keep=""))

    async def offload(self, work: Callable[Given, Made], *given: Given.args, **named: Given.kwargs) -> Made:
        """Run blocking work on the executor."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.executor, partial(work, *given, **named))

    def places(self, analysis: Analysis) -> Places:
        """Positions in a document, in the encoding agreed with the client."""
        return Places(analysis.document, PositionEncoding(self.workspace.position_encoding or "utf-16"))

    def configure(self, raw: object) -> None:
        """Take new settings and apply their changes."""
        before, self.given = self.settings, raw
        self.settings, complaints = read_settings(raw, self.file)
        for complaint in complaints:
            self.show(complaint, types.MessageType.Warning)
        if self.settings == before:
            return
        self.host.choose(self.settings)
        if not self.asks(before):
            self._forget_answers()
            self.announce("idle", "the model is opened when it is needed")
        for analysis in self.analyses.values():
            if self.settings.scoring == before.scoring:
                self.changed(analysis)
            else:
                self.rescore(analysis)

    def asks(self, settings: EditorSettings) -> bool:
        """Whether these settings choose the same model as the current ones, so that its answers are valid."""
        return self.settings.asked == settings.asked

    def _forget_answers(self) -> None:
        for analysis in self.analyses.values():
            analysis.forget_answers()
        for react in self.when_forgotten:
            react(self)

    def rescore(self, analysis: Analysis) -> None:
        """Score a document again, or record why not."""
        analysis.replace(analysis.document)
        if self.settings.enable:
            self.scorer.schedule(analysis, quiet=0)
        else:
            self.scorer.withdraw(analysis.uri)
            analysis.failed("Counterlens is switched off")
            self.changed(analysis)

    def changed(self, analysis: Analysis) -> None:
        """Notify the features that the results for a document have changed."""
        if self.analyses.get(analysis.uri) is analysis:
            for react in self.when_changed:
                react(self, analysis)

    def _grew(self, analysis: Analysis) -> None:
        if self.analyses.get(analysis.uri) is analysis:
            for react in self.when_grown:
                react(self, analysis)

    def _prepare(self, scored: ScoredDocument) -> None:
        """Compute in advance, off the event loop, what clients will request."""
        for make in self.prepare:
            make(self.settings, scored)

    def announce(
        self, state: str, detail: str, reason: str = "", steps: status.StepCount | None = None
    ) -> None:
        """Send the server's status to the client, in the editor's language."""
        said = detail
        if state == "ready" and self.settings.advice:
            said += "; the embedded model is weak at code, Counterlens: Select Model… has better ones"
        if state == "ready" and self.host.device:
            said += f"; it runs on {self.host.device}"
        advice = ""
        if state == "ready" and self.host.is_unfitted:
            advice = "Without fitted margins only failing tests mark places: Counterlens: Fit Now"
        current = status.ServerStatus(self.host.name, state, said, reason, steps, advice)
        if current != self._last_status:
            self._last_status = current
            self.protocol.notify(status.NOTIFICATION, current)

    def refuse(self, error: CounterlensError, settings: EditorSettings) -> str:
        """Report why a command did nothing, and return the text for its response.

        Args:
            settings: Those at the time of the command; the status may be about another model by now.
        """
        if self.asks(settings):
            source = isinstance(error, SourceError)  # the model may well answer other requests
            self.announce("ready" if source else "error", str(error), error.brief)
        if not self.client_shows_results:
            self.show(str(error), types.MessageType.Error)
        return str(error)

    def refresh_code_lenses(self) -> None:
        """Have the client request lenses again, if it supports that."""
        workspace = self.client_capabilities.workspace
        if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)

    def show(self, message: str, kind: types.MessageType) -> None:
        """Show a message in the client, in the editor's language."""
        self.window_show_message(
            types.ShowMessageParams(type=kind, message=f"Counterlens: {message_text(message)}")
        )
