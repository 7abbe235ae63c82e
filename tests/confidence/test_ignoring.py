"""Comments that hide what is surprising."""

from __future__ import annotations

import pytest

from counterlens.confidence.exclusion import directive, ignore_comments
from counterlens.languages.registry import installed_languages
from counterlens.syntax.concepts import Category
from counterlens.syntax.document import Document

SOURCE = """a = b * c  # counterlens: ignore[operators]
d = e * f  # why not? counterlens: ignore
# counterlens: ignore[types, Natural  Language, nonsense]
g = (
    h * 2)
text = "# counterlens: ignore"
"""


def covered(document: Document, line: int, category: Category) -> bool:
    start = document.positions.line_start(line)
    return ignore_comments(document).covers(start, start + 1, category)


def test_a_comment_hides_its_categories_on_its_line() -> None:
    document = Document(SOURCE)
    assert covered(document, 0, Category.OPERATORS)
    assert not covered(document, 0, Category.TYPES)
    assert all(covered(document, 1, category) for category in Category)
    assert not any(covered(document, 5, category) for category in Category)  # a string is no comment


def test_a_comment_alone_is_about_the_next_line() -> None:
    document = Document(SOURCE)
    hidden = {category for category in Category if covered(document, 3, category)}
    assert hidden == {Category.TYPES, Category.NATURAL_LANGUAGE}
    assert not covered(document, 2, Category.TYPES)
    assert not covered(document, 4, Category.TYPES)


def test_a_place_of_several_lines_is_hidden_by_any_of_them() -> None:
    document = Document("x = (1 +\n     2)  # counterlens: ignore[operators]\n")
    assert ignore_comments(document).covers(4, len(document.data) - 1, Category.OPERATORS)


BODIES = {
    "python": "\nx = y",
    "java": "class A { void f() {\nx = y; } }",
    "javascript": "\nx = y;",
    "typescript": "\nx = y;",
    "go": "package a\nvar x = y",
    "rust": "\nconst X: u8 = Y;",
    "c": "\nint x = y;",
    "cpp": "\nint x = y;",
    "csharp": "\nx = y;",
    "shellscript": "\nx=y",
}
"""A program of two lines in each language; the comment goes behind the second."""


@pytest.mark.parametrize("language", BODIES)
def test_what_is_written_is_what_is_read(language: str) -> None:
    assert language in installed_languages()
    for category in Category:
        body = f"{BODIES[language]}  {directive(language, category)}\n"
        document = Document(body, language=language)
        assert not document.tree.root_node.has_error
        assert {each for each in Category if covered(document, 1, each)} == {category}
        whole = Document(directive(language, category, whole_file=True) + "\n" + body, language=language)
        assert ignore_comments(whole).everywhere == {category}


def test_a_file_without_comments_hides_nothing() -> None:
    assert not ignore_comments(Document("x = 1\n")).lines
    assert not ignore_comments(Document("")).everywhere
