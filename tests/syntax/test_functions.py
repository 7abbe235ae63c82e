"""Functions are found by name and by place, also in broken files."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.errors import SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function, function_at, functions

SOURCE = """import os

@cache
def outer(a):
    def inner(b):
        return b
    return inner(a)

class Box:
    def get(self):
        return 1

    async def put(self): pass

def get(): return 2
"""


def test_qualified_names_and_lines() -> None:
    found = {f.qualname: (f.start_line, f.end_line, f.column) for f in functions(Document(SOURCE))}
    assert found == {
        "outer": (3, 7, 0),
        "outer.inner": (5, 6, 4),
        "Box.get": (10, 11, 4),
        "Box.put": (13, 13, 4),
        "get": (15, 15, 0),
    }


def test_an_unqualified_name_is_enough_where_it_is_the_only_such() -> None:
    document = Document(SOURCE)
    assert find_function(document, "put").qualname == "Box.put"
    assert find_function(document, "get").qualname == "get"


def test_an_ambiguous_or_unknown_name_says_what_there_is() -> None:
    twice = Document("class A:\n    def f(self): ...\nclass B:\n    def f(self): ...\n")
    with pytest.raises(SourceError, match=r"A\.f, B\.f"):
        find_function(twice, "f")
    with pytest.raises(SourceError, match=r"It has outer, outer\.inner"):
        find_function(Document(SOURCE), "nothing")
    with pytest.raises(SourceError, match="no functions at all"):
        find_function(Document("x = 1\n"), "f")


def test_the_innermost_function_around_a_place() -> None:
    document = Document(SOURCE)
    at = function_at(document, SOURCE.index("return b"))
    assert at is not None
    assert at.qualname == "outer.inner"
    assert function_at(document, 0) is None


def test_a_broken_file_still_has_functions() -> None:
    document = Document("def f(x):\n    return (\n\ndef g(y):\n    return y\n")
    assert "g" in {f.name for f in functions(document)}


def test_reading_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no file"):
        Document.read(tmp_path / "missing.py")
    with pytest.raises(SourceError, match="is a folder"):
        Document.read(tmp_path)


def test_methods_of_java_are_functions() -> None:
    text = """class A {
    /** Doc. */
    @Override
    public int f(int a) { return a; }
    int f(int a, String... b) { return a; }
    A() { }
    abstract int g();
    class B { void h() { Runnable r = new Runnable() { public void run() { int i = 0; } }; } }
}
"""
    document = Document(text, language="java")
    found = {one.qualname: one for one in functions(document)}
    assert [*found] == ["A.f(int)", "A.f(int, String...)", "A.A", "A.B.h", "A.B.h.run"]
    first = found["A.f(int)"]
    assert text[first.start :].startswith("@Override")
    assert text[first.header :].startswith("public int f")
    assert text[first.body : first.end] == "return a; }"
    assert (first.name, first.start_line, first.end_line, first.column) == ("f", 3, 4, 4)
    assert find_function(document, "h").qualname == find_function(document, "A.B.h").qualname == "A.B.h"
    assert find_function(document, "f(int)").qualname == "A.f(int)"
    for name in ("f", "A.f"):
        with pytest.raises(SourceError, match="several functions are called"):
            find_function(document, name)


def test_other_languages_have_no_functions_that_can_be_probed() -> None:
    document = Document("function f() { return 1; }\n", language="javascript")
    assert functions(document) == []
    with pytest.raises(SourceError, match="is JavaScript: only functions of Python and Java"):
        find_function(document, "f")


def test_a_language_without_a_grammar_has_no_functions() -> None:
    assert functions(Document("some text", language="plaintext")) == []


def test_the_indentation_of_a_line_belongs_to_what_the_line_is_of() -> None:
    text = (
        "class A:\n    x = 1\n\n    def f(self):\n        def g():\n            return 1\n        return g\n"
    )
    document = Document(text)

    def at(line: str, shift: int = 0) -> str | None:
        function = function_at(document, text.index(line) + shift)
        return function.qualname if function else None

    assert at("    def f") == at("    def f", 2) == at("def f") == "A.f"
    assert at("        def g") == at("            return 1") == "A.f.g"
    assert at("        return g", 3) == "A.f"
    assert at("\n    def f") is None
    assert at("    x = 1") is None
    assert function_at(Document("   "), 1) is None
