"""Code actions for any feature: replace a piece of a document, ignore a mark, show something of a function.

The Counterlens extension shows the difference first, with its command `counterlens.previewReplacement`, and
keeps ignored concepts in its settings, with `counterlens.ignoreConcept`. Any other client gets plain edits; a
replacement then asks the user to confirm, if the client supports that.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from counterlens.confidence.replacing import ignoring_edit, ignoring_file
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.reports.wording import shorten
from counterlens.syntax.concepts import Category

PREVIEW_COMMAND = "counterlens.previewReplacement"
"""A command of the client: `{uri, version, range, newText, title}`; show the difference, then ask."""

IGNORE_COMMAND = "counterlens.ignoreConcept"
"""A command of the client: `{category}`; add it to the setting `counterlens.diagnostics.ignoredConcepts`."""

_ANNOTATION = "counterlens"
_WIDTH = 40


def edit_action(
    ls: CounterlensServer, analysis: Analysis, start: int, end: int, text: str, title: str
) -> types.CodeAction:
    """Replace a byte range at once."""
    edit = _edit(ls, analysis, ls.places(analysis).range(start, end), text)
    return types.CodeAction(title, kind=types.CodeActionKind.QuickFix, edit=edit)


def ignore_here(
    ls: CounterlensServer, analysis: Analysis, start: int, end: int, category: Category | None, title: str
) -> Iterator[types.CodeAction]:
    """Actions that add a comment ignoring a category, or all marks, at a place; none if there is no room."""
    here = ignoring_edit(analysis.document, start, end, category)
    if here is not None:
        offset, text = here
        yield edit_action(ls, analysis, offset, offset, text, title)


def replace_action(
    ls: CounterlensServer, analysis: Analysis, start: int, end: int, text: str, title: str
) -> types.CodeAction:
    """Replace a byte range; the Counterlens extension shows the difference first."""
    where = ls.places(analysis).range(start, end)
    action = types.CodeAction(title, kind=types.CodeActionKind.QuickFix)
    if not ls.client_shows_results:
        action.edit = _edit(ls, analysis, where, text, confirm=title)
        return action
    before = analysis.document.data[start:end].decode("utf-8", "replace").strip()
    argument = {
        "uri": analysis.uri,
        "version": analysis.document.version,
        "range": where,
        "newText": text,
        "title": f"`{shorten(before, _WIDTH)}` → `{shorten(text, _WIDTH)}`",
    }
    action.command = types.Command(title, PREVIEW_COMMAND, arguments=[argument])
    return action


def ignore_actions(
    ls: CounterlensServer, analysis: Analysis, start: int, end: int, category: Category
) -> Iterator[types.CodeAction]:
    """Ignore a concept here, or in the whole workspace; if the client keeps no settings, in the file."""
    title = f"Ignore surprising {category} here"
    yield from ignore_here(ls, analysis, start, end, category, title)
    if ls.client_shows_results:
        title = f"Ignore surprising {category} in this workspace"
        command = types.Command(title, IGNORE_COMMAND, arguments=[{"category": category}])
        yield types.CodeAction(title, kind=types.CodeActionKind.QuickFix, command=command)
    else:
        offset, line = ignoring_file(analysis.document, category)
        title = f"Ignore surprising {category} in this file"
        yield edit_action(ls, analysis, offset, offset, line, title)


def function_action(
    ls: CounterlensServer,
    analysis: Analysis,
    qualname: str,
    title: str,
    show: str,
    command: str | None = None,
) -> types.CodeAction:
    """Show something of a function.

    Args:
        show: The command of the client that shows it.
        command: The command for clients that show no results themselves.
    """
    name = show if ls.client_shows_results or command is None else command
    shown = types.Command(title, name, arguments=[{"uri": analysis.uri, "function": qualname}])
    return types.CodeAction(title, kind=types.CodeActionKind.Refactor, command=shown)


def _edit(
    ls: CounterlensServer, analysis: Analysis, where: types.Range, text: str, *, confirm: str | None = None
) -> types.WorkspaceEdit:
    """An edit of this version of the document; the version is sent if the client supports it."""
    workspace = ls.client_capabilities.workspace
    able = workspace.workspace_edit if workspace else None
    if not (able and able.document_changes):
        return types.WorkspaceEdit(changes={analysis.uri: [types.TextEdit(where, text)]})
    version = types.OptionalVersionedTextDocumentIdentifier(
        uri=analysis.uri, version=analysis.document.version
    )
    if confirm is None or able.change_annotation_support is None:
        change = types.TextDocumentEdit(version, [types.TextEdit(where, text)])
        return types.WorkspaceEdit(document_changes=[change])
    annotated = types.AnnotatedTextEdit(annotation_id=_ANNOTATION, range=where, new_text=text)
    return types.WorkspaceEdit(
        document_changes=[types.TextDocumentEdit(version, [annotated])],
        change_annotations={
            _ANNOTATION: types.ChangeAnnotation(label=confirm, needs_confirmation=True),
        },
    )
