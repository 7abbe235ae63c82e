"""Code lenses: each feature that has some adds them to `CounterlensServer.code_lenses`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types

from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.syntax.functions import Function, functions


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(types.TEXT_DOCUMENT_CODE_LENS)(_code_lens)
    server.when_forgotten.append(refresh)


async def _code_lens(ls: CounterlensServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """What is offered over the functions of a document."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None or not (ls.settings.code_lens_enabled and ls.settings.enable):
        return []
    return await ls.offload(_all, ls, analysis.frozen())


def _all(ls: CounterlensServer, analysis: Analysis) -> list[types.CodeLens]:
    return [lens for offer in ls.code_lenses for lens in offer(ls, analysis)]


def refresh(ls: CounterlensServer) -> None:
    """Have the client ask again, where it can be told to."""
    workspace = ls.client_capabilities.workspace
    if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
        ls.workspace_code_lens_refresh(None)


def lenses_over(
    ls: CounterlensServer,
    analysis: Analysis,
    command: str,
    title: Callable[[Function], str],
    scopes: Iterable[tuple[Function, int]] | None = None,
) -> list[types.CodeLens]:
    """One lens over each function of a Python document.

    Args:
        ls: The server.
        analysis: The document.
        command: Called with `{uri, function}`.
        title: The text of the lens.
        scopes: What is offered it, and over which byte; without them the functions, over their headers.
    """
    document, places = analysis.document, ls.places(analysis)
    if document.language != "python":
        return []
    if scopes is None:
        scopes = ((function, function.header) for function in functions(document))
    lenses = []
    for function, at in scopes:
        argument = {"uri": analysis.uri, "function": function.qualname}
        lens_command = types.Command(title(function), command, arguments=[argument])
        lenses.append(types.CodeLens(places.range(at, at), lens_command))
    return lenses
