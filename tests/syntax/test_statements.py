"""Statements and definitions are told by the names that grammars share."""

from __future__ import annotations

import pytest

from counterlens.syntax.document import Document
from counterlens.syntax.statements import in_loop_header, is_definition, is_statement


@pytest.mark.parametrize(
    "kind", ["if_statement", "local_variable_declaration", "function_item", "enum_constant"]
)
def test_statements(kind: str) -> None:
    assert is_statement(kind)


@pytest.mark.parametrize("kind", ["block", "with_item", "parameter_declaration", "identifier", "comment"])
def test_no_statements(kind: str) -> None:
    assert not is_statement(kind)


def test_what_stands_in_a_loops_header_is_a_part_of_it() -> None:
    assert in_loop_header("local_variable_declaration", "for_statement", last=False)
    assert in_loop_header("short_var_declaration", "for_clause", last=True)
    assert not in_loop_header("expression_statement", "for_statement", last=True)
    assert not in_loop_header("expression_statement", "block", last=False)


@pytest.mark.parametrize(
    ("source", "language", "defines"),
    [
        ("def f(): pass", "python", True),
        ("@d\nclass A: pass", "python", True),
        ("f = lambda: 1", "python", False),
        ("import a", "python", False),
        ("class A { }", "java", True),
        ("import a.b;", "java", False),
        ("package a;", "java", False),
        ("function* f() { }", "javascript", True),
        ("export default function () { }", "javascript", True),
        ("const f = () => 1;", "javascript", True),
        ("exports.f = function () { };", "javascript", True),
        ("const x = 1;", "javascript", False),
        ("f(() => 1);", "javascript", False),
    ],
)
def test_definitions(source: str, language: str, defines: bool) -> None:
    node = Document(source, language=language).tree.root_node.children[0]
    assert is_definition(node) is defines
