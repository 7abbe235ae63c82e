"""Delivery of marks: each is a diagnostic, and offers code actions at its place.

Each feature that marks code adds to `CounterlensServer.marks`; actions that belong to no mark are in
`CounterlensServer.code_actions`. Clients that can pull diagnostics do so, with a `resultId`; others get them
pushed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from lsprotocol import types

from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CodeMark, CounterlensServer

_KINDS = (types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor)


def register(server: CounterlensServer) -> None:
    options = types.DiagnosticOptions(
        identifier="counterlens", inter_file_dependencies=False, workspace_diagnostics=False
    )
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(_pull)
    action_options = types.CodeActionOptions(code_action_kinds=_KINDS)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, action_options)(_code_actions)
    server.when_changed.append(_deliver)
    server.when_edited.append(_push)
    server.when_closed.append(_clear)


def _all(ls: CounterlensServer, analysis: Analysis) -> list[types.Diagnostic]:
    """The diagnostics of all marks with a message."""
    places = ls.places(analysis)
    return [
        types.Diagnostic(
            range=places.range(mark.start, mark.end),
            message=mark.message,
            severity=mark.severity,
            source="counterlens",
            code=mark.code,
            related_information=mark.related,
            data=mark.data,
        )
        for feature in (() if analysis.gone else ls.marks)
        for mark in feature(ls, analysis)
        if mark.message
    ]


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
        diagnostics = _all(ls, analysis)
        ls.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(analysis.uri, diagnostics, analysis.document.version)
        )


def _clear(ls: CounterlensServer, analysis: Analysis) -> None:
    if not _pulls(ls):
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(analysis.uri, []))


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


def _code_actions(ls: CounterlensServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return the actions for a range, immediately."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None or not ls.settings.enable:
        return []
    places, wanted = ls.places(analysis), params.context.only
    first, last = places.offset(params.range.start), places.offset(params.range.end)
    offered: list[types.CodeAction] = []
    for mark in (mark for feature in ls.marks for mark in feature(ls, analysis)):
        if mark.start <= last and first <= mark.end:
            offered += _with_diagnostics(params, mark, places.range(mark.start, mark.end))
    offered += [action for offer in ls.code_actions for action in offer(ls, analysis, params)]
    return _merge_equal(
        action for action in offered if wanted is None or any(_is_kind(action.kind, kind) for kind in wanted)
    )


def _with_diagnostics(
    params: types.CodeActionParams, mark: CodeMark, where: types.Range
) -> list[types.CodeAction]:
    """The actions of a mark with those diagnostics of the request that are about it."""
    about = [
        diagnostic
        for diagnostic in params.context.diagnostics
        if (diagnostic.code, diagnostic.range) == (mark.code, where)
    ]
    actions = list(mark.actions())
    for action in actions:
        action.diagnostics = about or None
    return actions


def _merge_equal(actions: Iterable[types.CodeAction]) -> list[types.CodeAction]:
    """Merge equal actions of two features: the first one is shown, with the diagnostics of both.

    Numbers in their titles may differ, since each feature sent the model a different request.
    """
    kept: dict[str, types.CodeAction] = {}
    for action in actions:
        same = kept.setdefault(repr((action.edit, _effect_of(action))), action)
        if same is not action:
            same.diagnostics = [*(same.diagnostics or ()), *(action.diagnostics or ())] or None
    return list(kept.values())


def _effect_of(action: types.CodeAction) -> object:
    """The effect of an action's command, which does not depend on its title."""
    command = action.command
    if command is None or not command.arguments or not isinstance(command.arguments[0], dict):
        return command
    return command.command, {name: value for name, value in command.arguments[0].items() if name != "title"}


def _is_kind(kind: str | None, wanted: str) -> bool:
    """Whether a kind is the requested one or a sub-kind of it."""
    return kind is None or not wanted or kind == wanted or kind.startswith(f"{wanted}.")
