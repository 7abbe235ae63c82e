"""The language server: one thin function per LSP method. Logic lives in the other files of this folder."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

import counterlens
from counterlens.errors import Cancelled, CounterlensError
from counterlens.lsp import code_lens, counterfactuals, diagnostics, hover, overlay, probing, status
from counterlens.lsp.analysis import Analysis, State
from counterlens.lsp.background import BackgroundScorer
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.places import Places
from counterlens.lsp.settings import Settings, read_settings
from counterlens.probes.session import Probed
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function, function_at
from counterlens.text import PositionEncoding

_LOG = logging.getLogger(__name__)


class CounterlensServer(LanguageServer):
    """What is open, what is known about it, and the model that is asked."""

    def __init__(self) -> None:
        super().__init__("counterlens", counterlens.__version__)
        self.settings = Settings()
        self.trusted = True
        self.client_shows_results = False
        self.analyses: dict[str, Analysis] = {}
        self.host = ModelHost()
        # pygls reads its input on its own pool; ours may be busy without delaying a hover.
        self.executor = ThreadPoolExecutor(max_workers=4, thread_name_prefix="counterlens")
        self._last_status: status.Status | None = None
        self.scorer = BackgroundScorer(
            self.host, self.executor, lambda: self.settings, self.changed, self.announce
        )

    def places(self, analysis: Analysis) -> Places:
        """Positions in a document, in the encoding agreed with the client."""
        return Places(analysis.document, PositionEncoding(self.workspace.position_encoding or "utf-16"))

    def configure(self, raw: object) -> None:
        """Take new settings, and start what they change."""
        before = self.settings
        self.settings, complaints = read_settings(raw)
        for complaint in complaints:
            self.show(complaint, types.MessageType.Warning)
        if self.settings != before:
            for analysis in self.analyses.values():
                self.rescore(analysis)

    def rescore(self, analysis: Analysis) -> None:
        """Score a document anew, or say why not."""
        analysis.replace(analysis.document)
        if self.settings.enable:
            self.scorer.schedule(analysis, quiet=0)
        else:
            analysis.failed("Counterlens is switched off")
            self.changed(analysis)

    def changed(self, analysis: Analysis) -> None:
        """Publish what is known about a document now."""
        if self.analyses.get(analysis.uri) is not analysis:
            return
        self.publish(analysis)
        self.protocol.notify(
            "counterlens/scoresChanged", {"uri": analysis.uri, "version": analysis.document.version}
        )

    def publish(self, analysis: Analysis) -> None:
        """Publish the diagnostics of a document."""
        found = diagnostics.diagnostics(analysis, self.places(analysis), self.settings, self.host.name)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(analysis.uri, found, analysis.document.version)
        )

    def announce(self, state: str, detail: str) -> None:
        """Tell the client what the server does."""
        current = status.Status(self.host.name, state, detail)
        if current != self._last_status:
            self._last_status = current
            self.protocol.notify(status.NOTIFICATION, current)

    def show(self, message: str, kind: types.MessageType) -> None:
        """Show a message in the client."""
        self.window_show_message(types.ShowMessageParams(type=kind, message=f"Counterlens: {message}"))


def create_server() -> CounterlensServer:
    """A language server with all its features."""
    server = CounterlensServer()
    for method, handler in _FEATURES:
        server.feature(method)(handler)
    server.command(code_lens.PROBE_COMMAND)(_probe)
    server.command(counterfactuals.COMMAND)(_counterfactuals)
    return server


def _initialized(ls: CounterlensServer, _params: types.InitializedParams) -> None:
    """Read what the client sent with `initialize`; load nothing before a file is opened."""
    ls.announce("idle", "no Python file is open" if ls.settings.enable else "switched off")


def _initialize(ls: CounterlensServer, params: types.InitializeParams) -> None:
    """Take the client's options."""
    options = params.initialization_options
    if isinstance(options, dict):
        ls.trusted = options.get("trusted") is not False
        ls.client_shows_results = options.get("showsResults") is True
        ls.settings, complaints = read_settings(options.get("settings"))
        for complaint in complaints:
            _LOG.warning(complaint)


def _did_change_configuration(ls: CounterlensServer, params: types.DidChangeConfigurationParams) -> None:
    """Take new settings."""
    settings = params.settings
    if isinstance(settings, dict):
        ls.configure(settings.get("counterlens", settings))


def _did_open(ls: CounterlensServer, params: types.DidOpenTextDocumentParams) -> None:
    """Start to score a document."""
    item = params.text_document
    analysis = Analysis(item.uri, _document(ls, item.uri))
    ls.analyses[item.uri] = analysis
    ls.rescore(analysis)


def _did_change(ls: CounterlensServer, params: types.DidChangeTextDocumentParams) -> None:
    """Forget what is stale and score the new version once the user pauses."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None:
        return
    analysis.replace(_document(ls, analysis.uri))
    ls.publish(analysis)
    if ls.settings.enable:
        ls.scorer.schedule(analysis)
    else:
        analysis.failed("Counterlens is switched off")


def _did_close(ls: CounterlensServer, params: types.DidCloseTextDocumentParams) -> None:
    """Forget a document."""
    uri = params.text_document.uri
    analysis = ls.analyses.pop(uri, None)
    if analysis is not None:
        analysis.cancel.set()
        ls.scorer.withdraw(uri)
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def _hover(ls: CounterlensServer, params: types.HoverParams) -> types.Hover | None:
    """Say what is known about a place, at once."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None:
        return None
    return hover.hover(analysis, ls.places(analysis), params.position, ls.host.name)


def _code_lens(ls: CounterlensServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Offer a probe and the counterfactuals over each function."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None or not (ls.settings.code_lens_enabled and ls.settings.enable):
        return []
    return code_lens.code_lenses(analysis, ls.places(analysis), shows_counterfactuals=ls.client_shows_results)


def _overlay(ls: CounterlensServer, params: Any) -> overlay.Overlay:
    """Answer the custom request for confidence levels."""
    analysis = ls.analyses.get(params.textDocument.uri)
    if analysis is None:
        return overlay.Overlay(-1, State.UNAVAILABLE, "the document is not open", 0, (), ())
    visible = getattr(params, "range", None)
    where = None
    if visible is not None:
        where = types.Range(_position(visible.start), _position(visible.end))
    return overlay.overlay(analysis, ls.places(analysis), where)


async def _probe(ls: CounterlensServer, argument: Any = None) -> probing.ProbeAnswer:
    """Probe a function counterfactually, with progress and cancel."""
    try:
        analysis, function = _target(ls, argument)
        if not ls.trusted:
            raise CounterlensError(probing.NOT_TRUSTED)
        probed = await _run(ls, analysis, function)
    except Cancelled:
        return probing.ProbeAnswer(ok=False, error="The probe was cancelled.")
    except CounterlensError as error:
        ls.announce("error", str(error))
        if not ls.client_shows_results:
            ls.show(str(error), types.MessageType.Error)
        return probing.ProbeAnswer(ok=False, error=str(error))
    answer = probing.answer(probed, _folder(ls, analysis.document.path))
    if not ls.client_shows_results:
        ls.show(answer.summary, types.MessageType.Info)
    return answer


async def _counterfactuals(ls: CounterlensServer, argument: Any = None) -> counterfactuals.Listing:
    """List the counterfactuals of a function."""
    try:
        analysis, function = _target(ls, argument)
        return await asyncio.get_running_loop().run_in_executor(
            ls.executor, counterfactuals.listing, analysis.document, function.qualname
        )
    except CounterlensError as error:
        return counterfactuals.Listing("", (), (), str(error))


def _code_action(ls: CounterlensServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Offer to show a counterfactual."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None or not (ls.client_shows_results and ls.settings.enable):
        return []
    return counterfactuals.code_actions(analysis, ls.places(analysis), params.range)


def _target(ls: CounterlensServer, argument: Any) -> tuple[Analysis, Function]:
    """The document and the function that a probe is asked for."""
    plain = argument if isinstance(argument, dict) else getattr(argument, "_asdict", dict)()
    analysis = ls.analyses.get(str(plain.get("uri")))
    if analysis is None:
        raise CounterlensError("there is no open Python file to probe", "Open one and try again")
    if plain.get("function"):
        return analysis, find_function(analysis.document, str(plain["function"]))
    position = plain.get("position")
    if position is not None:
        place = _position(position)
        function = function_at(analysis.document, ls.places(analysis).offset(place))
        if function is not None:
            return analysis, function
    raise CounterlensError("there is no function here", "Put the cursor into a function and try again")


def _position(raw: Any) -> types.Position:
    """A position in a request that the protocol library has no type for."""
    plain = raw if isinstance(raw, dict) else raw._asdict()
    return types.Position(int(plain["line"]), int(plain["character"]))


async def _run(ls: CounterlensServer, analysis: Analysis, function: Function) -> Probed:
    """Run a probe off the event loop and publish its result."""
    loop, document, cancel = asyncio.get_running_loop(), analysis.document, Event()
    scored = analysis.confidence
    interrupted = scored is None
    if interrupted:
        ls.scorer.withdraw(analysis.uri)  # the probe comes first; it scores the document itself
    token = str(uuid.uuid4())
    shown = await _begin_progress(ls, token, f"Probing {function.name}", cancel)

    def report(step: str, done: int, total: int) -> None:
        if shown:
            percentage = min(100, 100 * done // max(total, 1))
            value = types.WorkDoneProgressReport(message=step, percentage=percentage)
            loop.call_soon_threadsafe(ls.work_done_progress.report, token, value)

    ls.announce("probing", f"probing {function.name}")
    try:
        probed = await loop.run_in_executor(
            ls.executor,
            lambda: probing.run_probe(
                ls.host,
                ls.settings,
                document,
                function.qualname,
                scored=scored,
                cancel=cancel,
                report=report,
            ),
        )
    except asyncio.CancelledError:
        cancel.set()
        raise
    finally:
        if shown:
            ls.work_done_progress.end(token, types.WorkDoneProgressEnd())
            ls.work_done_progress.tokens.pop(token, None)
        if interrupted and analysis.document is document:
            ls.scorer.schedule(analysis, quiet=0)
    ls.announce("ready", f"{function.name} was probed")
    if analysis.document is document:
        analysis.note_probe(function, probed)
        ls.publish(analysis)
        _refresh_lenses(ls)
    return probed


async def _begin_progress(ls: CounterlensServer, token: str, title: str, cancel: Event) -> bool:
    """Show progress that can be cancelled, where the client has such a thing."""
    window = ls.client_capabilities.window
    if window is None or not window.work_done_progress:
        return False
    await ls.work_done_progress.create_async(token)
    ls.work_done_progress.tokens[token].add_done_callback(lambda _future: cancel.set())
    ls.work_done_progress.begin(
        token, types.WorkDoneProgressBegin(title=title, cancellable=True, percentage=0)
    )
    return True


def _refresh_lenses(ls: CounterlensServer) -> None:
    workspace = ls.client_capabilities.workspace
    if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
        ls.workspace_code_lens_refresh(None)


def _shutdown(ls: CounterlensServer, _params: None) -> None:
    """Let the model go."""
    for analysis in ls.analyses.values():
        analysis.cancel.set()
    ls.host.close()
    ls.executor.shutdown(wait=False, cancel_futures=True)


def _document(ls: CounterlensServer, uri: str) -> Document:
    known = ls.workspace.get_text_document(uri)
    return Document(known.source, _path(uri), "python", known.version or 0)


def _folder(ls: CounterlensServer, path: Path | None) -> Path | None:
    """The innermost folder of the workspace that a file lies in."""
    uris_of_folders = [*ls.workspace.folders, ls.workspace.root_uri or ""]
    folders = [folder for uri in uris_of_folders if (folder := _path(uri)) is not None]
    around = [folder for folder in folders if path is not None and path.is_relative_to(folder)]
    return max(around, key=lambda folder: len(folder.parts), default=None)


def _path(uri: str) -> Path | None:
    with contextlib.suppress(ValueError):
        name = uris.to_fs_path(uri)
        return Path(name) if name else None
    return None


_FEATURES: tuple[tuple[str, Any], ...] = (
    (types.INITIALIZE, _initialize),
    (types.INITIALIZED, _initialized),
    (types.WORKSPACE_DID_CHANGE_CONFIGURATION, _did_change_configuration),
    (types.TEXT_DOCUMENT_DID_OPEN, _did_open),
    (types.TEXT_DOCUMENT_DID_CHANGE, _did_change),
    (types.TEXT_DOCUMENT_DID_CLOSE, _did_close),
    (types.TEXT_DOCUMENT_HOVER, _hover),
    (types.TEXT_DOCUMENT_CODE_LENS, _code_lens),
    (types.TEXT_DOCUMENT_CODE_ACTION, _code_action),
    (overlay.REQUEST, _overlay),
    (types.SHUTDOWN, _shutdown),
)
