"""The server's life: what the client says first, its settings, and the end."""

from __future__ import annotations

import asyncio

from lsprotocol import types

from counterlens.lsp import language
from counterlens.lsp.base import LOG, CounterlensServer
from counterlens.lsp.settings import read_settings


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(types.INITIALIZE)(_initialize)
    server.feature(types.INITIALIZED)(_initialized)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(_did_change_configuration)
    server.feature(types.SHUTDOWN)(_shutdown)


def _initialize(ls: CounterlensServer, params: types.InitializeParams) -> None:
    """Take the client's options."""
    ls.loop = asyncio.get_running_loop()
    language.choose(params.locale)
    options = params.initialization_options
    if isinstance(options, dict):
        ls.client_options = options
        ls.trusted = options.get("trusted") is not False
        ls.client_shows_results = options.get("showsResults") is True
        ls.settings, complaints = read_settings(options.get("settings"))
        ls.host.choose(ls.settings)
        for complaint in complaints:
            LOG.warning(complaint)


def _initialized(ls: CounterlensServer, _params: types.InitializedParams) -> None:
    """Load nothing before a file is opened."""
    ls.announce("idle", "no file is open" if ls.settings.enable else "switched off")


def _did_change_configuration(ls: CounterlensServer, params: types.DidChangeConfigurationParams) -> None:
    """Take new settings."""
    settings = params.settings
    if isinstance(settings, dict):
        ls.configure(settings.get("counterlens", settings))


def _shutdown(ls: CounterlensServer, _params: None) -> None:
    """Let the model go."""
    for analysis in ls.analyses.values():
        analysis.cancel.set()
    ls.scorer.close()
    ls.host.close()
    ls.executor.shutdown(wait=False, cancel_futures=True)
