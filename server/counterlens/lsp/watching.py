"""Files that change on disk: changed tests take effect, and a file that is gone has no marks."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path

from counterlens.errors import CounterlensError
from counterlens.lsp.base import LOG, CounterlensServer

_ID = "counterlens-watching"
_PATTERN = "**/*.py"


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(_did_save)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(_did_change)
    server.when_initialized.append(_watch)


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


def _did_change(ls: CounterlensServer, params: types.DidChangeWatchedFilesParams) -> None:
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
