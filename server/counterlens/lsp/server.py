"""The language server: its features, its settings, start and end.

To add a feature, write a file with `register(server)` and name it here.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path

from counterlens.errors import OptionError
from counterlens.evaluation.settings_file import nearest
from counterlens.lsp import (
    code_lens,
    completions,
    confidence,
    counterfactuals,
    dependences,
    documents,
    doubts,
    editor_models,
    fitting,
    hover,
    marks,
    models,
    mutants,
    operators,
    probing,
    repository_runs,
    runs,
    surprising,
    tasks,
    views,
)
from counterlens.lsp.base import LOG, CounterlensServer
from counterlens.lsp.consent import is_workspace_trusted
from counterlens.lsp.settings import read_settings

TRUSTED = "counterlens/trusted"

_FEATURES = (
    documents,
    editor_models,
    marks,
    operators,  # first: of two features with the same fix, this one considers all the code
    doubts,
    surprising,
    hover,
    confidence,
    views,
    code_lens,
    completions,
    probing,
    counterfactuals,
    dependences,
    tasks,
    mutants,
    models,
    runs,
    repository_runs,
    fitting,
)


def create_server() -> CounterlensServer:
    """A language server with all its features."""
    server = CounterlensServer()
    server.feature(types.INITIALIZE)(_initialize)
    server.feature(types.INITIALIZED)(_finish_start)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(_did_change_configuration)
    server.feature(TRUSTED)(_trust)
    server.feature(types.SHUTDOWN)(_shutdown)
    for feature in _FEATURES:
        feature.register(server)
    return server


def _initialize(ls: CounterlensServer, params: types.InitializeParams) -> None:
    """Store the client's options."""
    ls.loop = asyncio.get_running_loop()
    options = params.initialization_options if isinstance(params.initialization_options, dict) else {}
    said = options.get("trusted")
    ls.trusted = said if isinstance(said, bool) else None
    ls.client_shows_results = options.get("showsResults") is True
    uri = next((folder.uri for folder in params.workspace_folders or ()), params.root_uri)
    complaints = _read_file(ls, to_fs_path(uri) if uri else None)
    ls.given = options.get("settings")
    ls.settings, wrong = read_settings(ls.given, ls.file)
    ls.host.choose(ls.settings)
    for complaint in (*complaints, *wrong):
        LOG.warning(complaint)


def _read_file(ls: CounterlensServer, path: str | None) -> list[str]:
    """Read the settings file of the first folder's repository if it is trusted; returns its problems."""
    if path is None or not is_workspace_trusted(ls, Path(path)):
        return []
    try:
        ls.file = nearest(Path(path))
    except OptionError as error:
        return [str(error)]
    return []


def _finish_start(ls: CounterlensServer, _params: types.InitializedParams) -> None:
    """Load no model before a file is opened."""
    ls.announce("idle", "no file is open" if ls.settings.enable else "switched off")
    for react in ls.when_initialized:
        react(ls)


def _did_change_configuration(ls: CounterlensServer, params: types.DidChangeConfigurationParams) -> None:
    """Apply new settings."""
    settings = params.settings
    if isinstance(settings, dict):
        ls.configure(settings.get("counterlens", settings))


def _trust(ls: CounterlensServer, _params: object) -> None:
    """Handle trust for the workspace: its repository's settings apply now, and its code may run."""
    ls.trusted = True
    for complaint in _read_file(ls, next((to_fs_path(uri) for uri in ls.workspace.folders), None)):
        LOG.warning(complaint)
    ls.configure(ls.given)
    for analysis in ls.analyses.values():
        ls.changed(analysis)


def _shutdown(ls: CounterlensServer, _params: None) -> None:
    """Close the model."""
    for analysis in ls.analyses.values():
        analysis.cancel.set()
    ls.scorer.close()
    ls.host.close()
    ls.executor.shutdown(wait=False, cancel_futures=True)
