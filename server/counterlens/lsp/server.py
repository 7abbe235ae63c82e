"""The language server is its features: to add one, write a file with `register(server)` and name it here."""

from __future__ import annotations

from counterlens.lsp import (
    code_actions,
    code_lens,
    code_models,
    completions,
    confidence_report,
    connection,
    counterfactuals,
    dependence_marks,
    dependences,
    diagnostics,
    documents,
    doubts,
    editor_models,
    fitting,
    function_view,
    hover,
    inlay_hints,
    lifecycle,
    mutants,
    operators,
    overlay,
    probe_lens,
    probing,
    quick_fixes,
    repository_runs,
    runs,
    surprising,
    syntax_tree,
    tasks,
    test_items,
    watching,
)
from counterlens.lsp.base import CounterlensServer

_FEATURES = (
    lifecycle,
    documents,
    editor_models,
    diagnostics,
    operators,  # first: of two features with the same fix, this one considers all the code
    doubts,
    surprising,
    hover,
    overlay,
    inlay_hints,
    syntax_tree,
    code_actions,
    quick_fixes,
    code_lens,
    completions,
    confidence_report,
    probe_lens,
    probing,
    counterfactuals,
    dependences,
    dependence_marks,
    tasks,
    mutants,
    test_items,
    connection,
    code_models,
    function_view,
    runs,
    repository_runs,
    watching,
    fitting,
)


def create_server() -> CounterlensServer:
    """A language server with all its features."""
    server = CounterlensServer()
    for feature in _FEATURES:
        feature.register(server)
    return server
