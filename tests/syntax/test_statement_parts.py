"""Statements cut into parts: simple ones, and the headers of compound ones and their clauses."""

from __future__ import annotations

import pytest

from counterlens.syntax.document import Document
from counterlens.syntax.statements import statement_parts

SOURCE = '''import os
def f(x):
    """A docstring."""
    # a comment
    total = 0
    for i in range(3):
        if i > 1 and (
            x):
            total += i
        elif x:
            print(x)
        else:
            continue
    try:
        y = 1; z = 2
    except (A, B) as e:
        raise
    with open(x) as g:
        return lambda: 3
'''


def parts(source: str, start: int = 0, language: str = "python") -> list[tuple[str, str]]:
    document = Document(source, None, language)
    found = statement_parts(document.tree.root_node, document.data, start, len(document.data))
    return [(part.kind, document.data[part.start : part.end].decode()) for part in found]


def test_every_statement_of_python_is_a_part_without_its_body() -> None:
    assert parts(SOURCE) == [
        ("import_statement", "import os"),
        ("function_definition", "def f(x):"),
        ("assignment", "total = 0"),
        ("for_statement", "for i in range(3):"),
        ("if_statement", "if i > 1 and (\n            x):"),
        ("augmented_assignment", "total += i"),
        ("elif_clause", "elif x:"),
        ("call", "print(x)"),
        ("continue_statement", "continue"),
        ("assignment", "y = 1"),
        ("assignment", "z = 2"),
        ("except_clause", "except (A, B) as e:"),
        ("raise_statement", "raise"),
        ("with_statement", "with open(x) as g:"),
        ("return_statement", "return lambda: 3"),
    ]


def test_only_those_that_begin_in_the_range() -> None:
    assert parts(SOURCE, SOURCE.index("print"))[0] == ("call", "print(x)")


@pytest.mark.parametrize("depth", [3, 2000])
def test_deep_expressions_are_no_obstacle(depth: int) -> None:
    source = "x = " + " + ".join(["1"] * depth) + "\n"
    assert parts(source) == [("assignment", source.strip())]


def test_java() -> None:
    source = "class A { int f(int x) { if (x > 1) { return x; } return 0; } }"
    assert ("return_statement", "return 0;") in parts(source, language="java")
