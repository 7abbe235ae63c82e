"""Statements and definitions are told by the names that grammars share."""

from __future__ import annotations

import pytest

from counterlens.syntax.document import Document
from counterlens.syntax.statements import definition_at, is_definition, is_part_of_statement, is_statement


@pytest.mark.parametrize(
    "kind",
    [
        *("if_statement", "local_variable_declaration", "function_item", "enum_constant"),
        *("declaration", "class_specifier", "for_range_loop", "preproc_include", "using_directive"),
    ],
)
def test_statements(kind: str) -> None:
    assert is_statement(kind)


@pytest.mark.parametrize(
    "kind",
    [
        *("block", "with_item", "parameter_declaration", "identifier", "comment"),
        *("optional_parameter_declaration", "catch_declaration", "compound_statement"),
    ],
)
def test_no_statements(kind: str) -> None:
    assert not is_statement(kind)


def test_what_stands_in_a_loops_header_or_a_declaration_is_a_part_of_it() -> None:
    assert is_part_of_statement("variable_declaration", "local_declaration_statement", last=False)
    assert not is_part_of_statement("variable_declaration", "program", last=False)
    assert is_part_of_statement("local_variable_declaration", "for_statement", last=False)
    assert is_part_of_statement("short_var_declaration", "for_clause", last=True)
    assert not is_part_of_statement("expression_statement", "for_statement", last=True)
    assert not is_part_of_statement("expression_statement", "block", last=False)


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
        ("fn f() {}", "rust", True),
        ("#[inline]\nfn f() {}", "rust", False),
        ("static X: u8 = 1;", "rust", False),
        ("extern crate a;", "rust", False),
        ("int f(void) { return 1; }", "c", True),
        ("int x = 1;", "c", False),
        ("struct a { int x; };", "c", True),
        ("class A;", "cpp", False),
        ("namespace A;", "csharp", False),
        ("func f() {}", "go", True),
        ("type A struct{}", "go", True),
    ],
)
def test_definitions(source: str, language: str, defines: bool) -> None:
    node = Document(source, language=language).tree.root_node.children[0]
    assert is_definition(node) is defines


@pytest.mark.parametrize(
    ("source", "language", "name"),
    [
        ("@d\n@e\ndef f():\n  retu‸rn 1\n", "python", "f"),
        ("@d\n@‸e\ndef f():\n  return 1\n", "python", "f"),
        ("class A:\n‸  def f(self):\n    return 1\n\n  x = 1\n", "python", "A.f"),
        ("class A:\n  def f(self):\n    return 1‸\n\n  x = 1\n", "python", "A.f"),
        ("class A:\n  def f(self):\n    return 1\n\n  x = ‸1\n", "python", "A"),
        ("def f():\n  def g():\n    ö = ‸1\n", "python", "f.g"),
        ("x = ‸1\n", "python", None),
        ("‸", "python", None),
        ("def f(): return ((((‸", "python", None),  # does not parse
        ("x = " + "(" * 3000 + "‸1" + ")" * 3000, "python", None),
        ("class A { int f() { int x = ‸1; return x; } }", "java", "A.f"),
        ("const f = (x) => { return ‸x; };", "javascript", "f"),
        ("export default function () { return ‸x; }", "javascript", ""),
        ("module.exports.f = function () { return ‸x; };", "javascript", "f"),
        ("function f() { xs.map((x) => { return ‸x; }); }", "javascript", "f"),
    ],
)
def test_the_definition_around_a_place(source: str, language: str, name: str | None) -> None:
    before, after = source.split("‸")
    document = Document(before + after, language=language)
    found = definition_at(document.tree.root_node, document.data, len(before.encode()))
    assert (found.name if found else None) == name


def test_a_definition_has_its_decorators_and_its_export() -> None:
    for source, language in [("@d\ndef f(): pass", "python"), ("export const f = () => { };", "javascript")]:
        document = Document(f"{source}\n1", language=language)
        found = definition_at(document.tree.root_node, document.data, len(source) - 2)
        assert found is not None
        assert (found.start, found.end) == (0, len(source))
