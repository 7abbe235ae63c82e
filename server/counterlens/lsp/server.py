"""The language server is its features: to add one, write a file with `register(server)` and name it here."""

from __future__ import annotations

from counterlens.lsp import (
    code_actions,
    code_lens,
    counterfactuals,
    dependence_marks,
    dependences,
    diagnostics,
    documents,
    hover,
    inlay_hints,
    lifecycle,
    overlay,
    probing,
    quick_fixes,
    surprising,
    syntax_tree,
)
from counterlens.lsp.base import CounterlensServer

_FEATURES = (
    lifecycle,
    documents,
    diagnostics,
    surprising,
    hover,
    overlay,
    inlay_hints,
    syntax_tree,
    code_actions,
    quick_fixes,
    code_lens,
    probing,
    counterfactuals,
    dependences,
    dependence_marks,
)


def create_server() -> CounterlensServer:
    """A language server with all its features."""
    server = CounterlensServer()
    for feature in _FEATURES:
        feature.register(server)
    return server
