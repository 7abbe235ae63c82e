"""Opened, edited and closed documents; a new version is scored after a pause in typing."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import replace

from lsprotocol import types

from counterlens.errors import SourceError
from counterlens.languages.registry import language_named
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import t
from counterlens.lsp.places import Places
from counterlens.lsp.targets import path_of
from counterlens.syntax.document import Document
from counterlens.text import PositionEncoding

REST_SECONDS = 60
"""How long the model stays in memory after the last document was closed."""

SCORES_CHANGED = "counterlens/scoresChanged"
PARTLY_SCORED = "counterlens/partlyScored"


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(_did_open)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_did_change)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(_did_close)
    server.when_changed.append(_announce)
    server.when_grown.append(_announce_part)


def _did_open(ls: CounterlensServer, params: types.DidOpenTextDocumentParams) -> None:
    """Start scoring a document."""
    item = params.text_document
    document = Document(item.text, path_of(item.uri), _language(item.language_id), item.version)
    analysis = Analysis(item.uri, document)
    ls.analyses[item.uri] = analysis
    ls.rescore(analysis)


def _did_change(ls: CounterlensServer, params: types.DidChangeTextDocumentParams) -> None:
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
        analysis.failed(t("Counterlens is switched off"))
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
