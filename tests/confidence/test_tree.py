"""The tree view: the paper's three views, flat and ready for JSON."""

from __future__ import annotations

import dataclasses
import json

from hypothesis import given
from hypothesis import strategies as st

from counterlens.confidence import confidence
from counterlens.confidence.tree import TreeView, tree, within
from counterlens.syntax.document import Document
from tests.confidence.test_confidence import SOURCE, SPLITS, scores_of


@given(SPLITS, st.sampled_from(list(TreeView)))
def test_rows_are_a_tree_in_the_order_of_the_text(splits: list[int], view: TreeView) -> None:
    n = len(splits) + 1
    found = confidence(Document(SOURCE), scores_of(SOURCE, splits, [float("nan"), *[-1.0] * (n - 1)]))
    rows = tree(found, view)
    children = {row.parent for row in rows}
    for i, row in enumerate(rows):
        assert row.leaf == (i not in children)
        assert (row.level is None) == (row.value is None)
        if row.parent >= 0:
            parent = rows[row.parent]
            assert row.parent < i
            assert parent.start <= row.start <= row.end <= parent.end
            assert row.depth == parent.depth + 1
        assert "\n" not in row.text
        assert len(row.text) <= 40
    json.dumps([dataclasses.asdict(row) for row in rows], allow_nan=False)


def test_the_views_hold_non_terminals_all_nodes_and_tokens() -> None:
    text = "if x > 1:\n    y = f(2)\n"
    found = confidence(Document(text), scores_of(text, [2, 4, 9, 14], [-1.0] * 5))
    partial = [row.kind for row in tree(found)]
    assert partial == [
        "module",
        "if_statement",
        "comparison_operator",
        "block",
        "expression_statement",
        "assignment",
        "call",
        "argument_list",
    ]
    complete = tree(found, TreeView.COMPLETE)
    assert len(complete) == len(found.nodes)
    assert {"identifier", ">", "integer"} <= {row.kind for row in complete}
    sequence = tree(found, TreeView.SEQUENCE)
    assert [row.text for row in sequence] == ["if", "x", "> 1:", "\\n    ", "y = f(2)"]
    assert {(row.parent, row.depth, row.kind) for row in sequence} == {(-1, 0, "token")}


def test_a_part_is_a_view_of_its_own() -> None:
    text = "if x > 1:\n    y = f(2)\n"
    found = confidence(Document(text), scores_of(text, [2, 4, 9, 14], [-1.0] * 5))
    start, end = text.index("y"), len(text) - 1
    part = within(tree(found), start, end)
    assert [(row.kind, row.parent, row.depth) for row in part][:3] == [
        ("block", -1, 0),
        ("expression_statement", 0, 1),
        ("assignment", 1, 2),
    ]
    assert [row.text for row in within(tree(found, TreeView.SEQUENCE), start - 1, end)] == [
        "\\n    ",
        "y = f(2)",
    ]


def test_a_very_deep_tree_is_no_trouble() -> None:
    text = "x = " + "(" * 3000 + "1" + ")" * 3000 + "\n"
    found = confidence(Document(text), scores_of(text, [], [-1.0]))
    rows = tree(found)
    assert max(row.depth for row in rows) >= 3000
    json.dumps([dataclasses.asdict(row) for row in rows])
