"""The language server is its features: to add one, write a file with `register(server)` and name it here."""

from __future__ import annotations

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
    lifecycle,
    marks,
    models,
    mutants,
    operators,
    probe_lens,
    probing,
    repository_runs,
    runs,
    surprising,
    tasks,
    views,
)
from counterlens.lsp.base import CounterlensServer

_FEATURES = (
    lifecycle,
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
    probe_lens,
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
    for feature in _FEATURES:
        feature.register(server)
    return server
