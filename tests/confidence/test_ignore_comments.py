"""The position of a comment that ignores a place."""

from __future__ import annotations

import pytest

from counterlens.confidence.exclusion import ignore_comments
from counterlens.confidence.replacing import below_head, ignoring_edit
from counterlens.syntax.concepts import Category
from counterlens.syntax.document import Document


@pytest.mark.parametrize(
    ("text", "place", "wanted"),
    [
        ("x = a * b\n", "*", "x = a * b  # counterlens: ignore[operators]\n"),
        (
            "x = a * b  # why \r\ny = 1\r\n",
            "*",
            "x = a * b  # why  # counterlens: ignore[operators] \r\ny = 1\r\n",
        ),
        ("x = a * b", "*", "x = a * b  # counterlens: ignore[operators]"),
        (
            "if a:\n    x = a * \\\n        b\n",
            "*",
            "if a:\n    # counterlens: ignore[operators]\n    x = a * \\\n        b\n",
        ),
    ],
)
def test_a_comment_at_the_end_of_the_line_or_above_it(text: str, place: str, wanted: str) -> None:
    document = Document(text)
    at = text.index(place)
    edit = ignoring_edit(document, at, at + 1, Category.OPERATORS)
    assert edit is not None
    offset, comment = edit
    changed = Document(text[:offset] + comment + text[offset:])
    assert changed.text == wanted
    moved = changed.text.index(place)
    assert ignore_comments(changed).covers(moved, moved + 1, Category.OPERATORS)


def test_inside_of_a_text_of_several_lines_there_is_no_place_for_one() -> None:
    document = Document('x = f"""\n{a * b}\n"""\n')
    at = document.text.index("*")
    assert ignoring_edit(document, at, at + 1, Category.OPERATORS) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [("x = 1\n", 0), ("#!/usr/bin/env python\nx = 1\n", 1), ("#!/bin/x\n# -*- coding: utf-8 -*-\n", 2)],
)
def test_a_comment_for_the_file_leaves_the_first_lines_where_they_are(text: str, line: int) -> None:
    document = Document(text)
    assert below_head(document) == document.positions.line_start(line)
