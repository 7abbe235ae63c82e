"""The tree of a document with the confidence of each node, for a client to draw.

Custom request `counterlens/tree`, see docs/protocol.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from counterlens.confidence.granularity import LABELS
from counterlens.confidence.tree import TreeNode, TreeView, tree, within
from counterlens.lsp.analysis import Analysis, ScoringState
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.language import t
from counterlens.lsp.places import Places
from counterlens.lsp.targets import document_of, plain, position
from counterlens.syntax.statements import definition_at

REQUEST = "counterlens/tree"
MOST = 20_000
"""Maximum number of rows in one answer."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One node or token."""

    parent: int
    kind: str
    category: str
    text: str
    range: types.Range
    confidence: float | None
    level: int | None
    minimum: float | None
    bits: float | None
    leaf: bool


@dataclass(frozen=True, slots=True)
class TreeScope:
    """The function or type of the rows."""

    name: str
    range: types.Range


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """The rows of one version of a document."""

    version: int
    state: str
    reason: str | None
    view: str
    calibrated: bool
    levels: int
    labels: tuple[str, ...]
    rows: tuple[TreeRow, ...]
    truncated: int = 0
    scope: TreeScope | None = None


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(REQUEST)(_tree)


async def _tree(ls: CounterlensServer, params: Any) -> SyntaxTree:
    """Answer the request with the current results; off the event loop, as long files have many nodes."""
    wanted = getattr(params, "view", None)
    view = TreeView(wanted) if wanted in list(TreeView) else TreeView.PARTIAL
    analysis = ls.analyses.get(document_of(params))
    if analysis is None:
        return SyntaxTree(-1, ScoringState.UNAVAILABLE, t("the document is not open"), view, False, 0, (), ())
    places = ls.places(analysis)
    at = plain(params).get("position")
    offset = None if at is None else places.offset(position(at))
    return await ls.offload(syntax_tree, analysis.frozen(), places, view, offset)


def syntax_tree(analysis: Analysis, places: Places, view: TreeView, offset: int | None = None) -> SyntaxTree:
    """The tree of a document in one of the three views, or that of the definition around a byte."""
    confidence, document = analysis.shown, analysis.document
    rows: tuple[TreeNode, ...] = ()
    scope = None
    if confidence is not None:
        rows = analysis.memo.get(("tree", view), lambda: tree(confidence, view))
        if offset is not None:
            scope = definition_at(document.tree.root_node, document.data, offset)
    if scope is not None:
        rows = within(rows, scope.start, scope.end)
    return SyntaxTree(
        version=document.version,
        state=analysis.state,
        reason=analysis.reason or None,
        view=view,
        calibrated=analysis.calibration is not None,
        levels=len(LABELS),
        labels=tuple(t(label) for label in LABELS),
        rows=tuple(
            TreeRow(
                parent=row.parent,
                kind=row.kind,
                category=row.category,
                text=row.text,
                range=places.range(row.start, row.end),
                confidence=row.value,
                level=row.level,
                minimum=row.minimum,
                bits=row.bits,
                leaf=row.leaf,
            )
            for row in rows[:MOST]
        ),
        truncated=max(0, len(rows) - MOST),
        scope=scope and TreeScope(scope.name, places.range(scope.start, scope.end)),
    )
