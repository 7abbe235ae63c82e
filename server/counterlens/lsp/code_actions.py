"""Code actions: each feature that offers some adds them to `CounterlensServer.code_actions`."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from counterlens.lsp.base import CounterlensServer

_KINDS = (types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor)


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    options = types.CodeActionOptions(code_action_kinds=_KINDS)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(_code_actions)


def _code_actions(ls: CounterlensServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return the actions for a range, immediately."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None or not ls.settings.enable:
        return []
    wanted = params.context.only
    offered = [action for offer in ls.code_actions for action in offer(ls, analysis, params)]
    return _merge_equal(
        action for action in offered if wanted is None or any(_is_kind(action.kind, kind) for kind in wanted)
    )


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
