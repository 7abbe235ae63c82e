"""Opened, edited, saved and closed documents, and files that change on disk.

A new version is scored after a pause in typing. Changed tests take effect, and a file that is gone has no
marks.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import replace
from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path

from counterlens.errors import CounterlensError, SourceError
from counterlens.languages.registry import language_named
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import LOG, CounterlensServer
from counterlens.lsp.places import Places
from counterlens.lsp.targets import path_of
from counterlens.syntax.document import Document
from counterlens.text import PositionEncoding

REST_SECONDS = 60
"""How long the model stays in memory after the last document was closed."""
SCORES_CHANGED = "counterlens/scoresChanged"
PARTLY_SCORED = "counterlens/partlyScored"
_ID = "counterlens-watching"
_PATTERN = "**/*.py"


def register(server: CounterlensServer) -> None:
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(_did_open)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_did_edit)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(_did_close)
    server.when_changed.append(_announce)
    server.when_grown.append(_announce_part)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(_did_save)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(_did_change_on_disk)
    server.when_initialized.append(_watch)


def _did_open(ls: CounterlensServer, params: types.DidOpenTextDocumentParams) -> None:
    """Start scoring a document."""
    item = params.text_document
    document = Document(item.text, path_of(item.uri), _language(item.language_id), item.version)
    analysis = Analysis(item.uri, document)
    ls.analyses[item.uri] = analysis
    ls.rescore(analysis)


def _did_edit(ls: CounterlensServer, params: types.DidChangeTextDocumentParams) -> None:
    """Discard stale results, and score the new version after a pause in typing."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None:
        return
    document = analysis.document
    encoding = ls.places(analysis).encoding
    for change in params.content_changes:
        document = _edit(document, change, encoding)
    analysis.replace(replace(document, version=params.text_document.version))
    if ls.settings.enable:
        ls.scorer.schedule(analysis)
    else:
        ls.scorer.withdraw(analysis.uri)
        analysis.failed("Counterlens is switched off")
    for react in ls.when_edited:
        react(ls, analysis)


def _did_close(ls: CounterlensServer, params: types.DidCloseTextDocumentParams) -> None:
    """Discard a closed document."""
    analysis = ls.analyses.pop(params.text_document.uri, None)
    if analysis is not None:
        analysis.cancel.set()
        ls.scorer.forget(analysis.uri)
        for react in ls.when_closed:
            react(ls, analysis)
    if not ls.analyses:
        asyncio.get_running_loop().call_later(REST_SECONDS, _rest, ls)


def _rest(ls: CounterlensServer) -> None:
    """Give the model's memory back if no document was opened meanwhile."""
    if not ls.analyses:
        threading.Thread(target=ls.host.rest, daemon=True).start()  # it may wait for a model that is loading


def _announce(ls: CounterlensServer, analysis: Analysis) -> None:
    """Notify the client of new results to request."""
    ls.protocol.notify(SCORES_CHANGED, {"uri": analysis.uri, "version": analysis.document.version})


def _announce_part(ls: CounterlensServer, analysis: Analysis) -> None:
    """Notify the client of further, but not all, results to show."""
    ls.protocol.notify(PARTLY_SCORED, {"uri": analysis.uri, "version": analysis.document.version})


def _language(name: str) -> str:
    """The language of an editor's language id; an unknown one is refused when it is scored."""
    with contextlib.suppress(SourceError):
        return language_named(name)
    return name


def _edit(
    document: Document, change: types.TextDocumentContentChangeEvent, encoding: PositionEncoding
) -> Document:
    """A document after an edit."""
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return replace(document, text=change.text)
    places = Places(document, encoding)
    start = places.offset(change.range.start)
    end = max(start, places.offset(change.range.end))
    data = document.data[:start] + change.text.encode("utf-8", "surrogatepass") + document.data[end:]
    return replace(document, text=data.decode("utf-8", "surrogatepass"))


def _watch(ls: CounterlensServer) -> None:
    """Ask the client to watch Python files, if it can."""
    workspace = ls.client_capabilities.workspace
    able = workspace.did_change_watched_files if workspace else None
    if able is None or not able.dynamic_registration:
        return
    options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(_PATTERN)])
    method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    ls.client_register_capability(types.RegistrationParams([types.Registration(_ID, method, options)]))


def _did_save(ls: CounterlensServer, params: types.DidSaveTextDocumentParams) -> None:
    """A saved file may be one with tests."""
    _report_change(ls, params.text_document.uri)


def _did_change_on_disk(ls: CounterlensServer, params: types.DidChangeWatchedFilesParams) -> None:
    """Handle files that were created, changed or deleted on disk."""
    for change in params.changes:
        gone = change.type == types.FileChangeType.Deleted
        analysis = ls.analyses.get(change.uri)
        if analysis is not None and analysis.gone != gone:
            analysis.gone = gone
            ls.changed(analysis)
        if not gone:
            _report_change(ls, change.uri)


def _report_change(ls: CounterlensServer, uri: str) -> None:
    path = to_fs_path(uri)
    for react in ls.when_file_changed if path else ():
        try:
            react(ls, Path(path or ""))
        except CounterlensError as error:
            LOG.info("%s", error)
