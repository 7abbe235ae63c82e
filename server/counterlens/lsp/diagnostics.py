"""Delivery of diagnostics: clients that can pull do so, with a `resultId`; others get them pushed.

Each feature that offers some adds them to `CounterlensServer.diagnostics`.
"""

from __future__ import annotations

import hashlib

from lsprotocol import types

from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    options = types.DiagnosticOptions(
        identifier="counterlens", inter_file_dependencies=False, workspace_diagnostics=False
    )
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(_pull)
    server.when_changed.append(_deliver)
    server.when_edited.append(_push)
    server.when_closed.append(_clear)


def _all(ls: CounterlensServer, analysis: Analysis) -> list[types.Diagnostic]:
    features = () if analysis.gone else ls.diagnostics
    return [diagnostic for feature in features for diagnostic in feature(ls, analysis)]


def _pull(
    ls: CounterlensServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    """Answer with the current results; the client is asked to pull again when there are more."""
    analysis = ls.analyses.get(params.text_document.uri)
    # A client that cannot be asked to pull again gets pushes, and must not get everything twice.
    diagnostics = _all(ls, analysis) if analysis is not None and _pulls(ls) else []
    result = hashlib.blake2b(repr(diagnostics).encode(), digest_size=8).hexdigest()
    if result == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result)
    return types.RelatedFullDocumentDiagnosticReport(items=diagnostics, result_id=result)


def _deliver(ls: CounterlensServer, analysis: Analysis) -> None:
    """Have the client pull again, or push."""
    _push(ls, analysis)
    workspace = ls.client_capabilities.workspace
    if _pulls(ls) and workspace and workspace.diagnostics and workspace.diagnostics.refresh_support:
        ls.workspace_diagnostic_refresh(None)


def _push(ls: CounterlensServer, analysis: Analysis) -> None:
    if not _pulls(ls):
        _publish(ls, analysis, _all(ls, analysis))


def _clear(ls: CounterlensServer, analysis: Analysis) -> None:
    if not _pulls(ls):
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(analysis.uri, []))


def _publish(ls: CounterlensServer, analysis: Analysis, diagnostics: list[types.Diagnostic]) -> None:
    ls.text_document_publish_diagnostics(
        types.PublishDiagnosticsParams(analysis.uri, diagnostics, analysis.document.version)
    )


def _pulls(ls: CounterlensServer) -> bool:
    """Whether the client pulls diagnostics, and can be asked to pull again."""
    document, workspace = ls.client_capabilities.text_document, ls.client_capabilities.workspace
    return bool(
        document
        and document.diagnostic
        and workspace
        and workspace.diagnostics
        and workspace.diagnostics.refresh_support
    )
