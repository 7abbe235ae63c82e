"""Statements, functions by name, and what is said of sources that are no good."""

from __future__ import annotations

import textwrap

import pytest

from counterlens.dependence import MODULE, dependences
from counterlens.errors import SourceError
from counterlens.python.dependence.program import Program

SOURCE = textwrap.dedent('''\
    @decorator
    def f(
        a,  # : not the colon
        b={1: 2},
    ) -> "x":
        """What: it does."""
        if (
            a and
            b
        ):  # why
            x = (1,
                 2)
        elif b: y = 1; z = 2
        try:
            pass
        except (A, B) as e:
            raise
        finally:
            ...
        match a:
            case (
                1 | 2
            ) if b: pass
        with a as x, \\
                b: pass
        def g(y): return y
        class K(a): é = 1
        return "ü"
    ''')


def test_statements_are_headers_with_their_text() -> None:
    found = [(one.line, one.end_line, one.text) for one in dependences(SOURCE, "f").statements]
    assert found == [
        (2, 5, 'def f(\n    a,  # : not the colon\n    b={1: 2},\n) -> "x":'),
        (6, 6, '"""What: it does."""'),
        (7, 10, "if (\n        a and\n        b\n    ):"),
        (11, 12, "x = (1,\n             2)"),
        (13, 13, "elif b:"),
        (13, 13, "y = 1"),
        (13, 13, "z = 2"),
        (14, 14, "try:"),
        (15, 15, "pass"),
        (16, 16, "except (A, B) as e:"),
        (17, 17, "raise"),
        (19, 19, "..."),
        (20, 20, "match a:"),
        (21, 23, "case (\n            1 | 2\n        ) if b:"),
        (23, 23, "pass"),
        (24, 25, "with a as x, \\\n            b:"),
        (25, 25, "pass"),
        (26, 26, "def g(y):"),
        (27, 27, "class K(a):"),
        (27, 27, "é = 1"),
        (28, 28, 'return "ü"'),
    ]
    assert [one.id for one in dependences(SOURCE, "f").statements] == list(range(21))


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_and_byte_order_marks_change_nothing(end: str) -> None:
    plain = dependences(SOURCE, "f")
    other = dependences("\ufeff" + SOURCE.replace("\n", end), "f")
    assert other.statements == plain.statements
    assert other.edges == plain.edges


def test_functions_are_found_by_name() -> None:
    source = "class K:\n    def m(self):\n        def inner(): pass\ndef f(): pass\ndef f(): return 1\n"
    program = Program(source)
    assert program.functions == ["K.m", "K.m.inner", "f", "f"]
    assert program.dependences("m").function == "K.m"
    assert program.dependences("K.m.<locals>.inner").function == "K.m.inner"
    assert program.dependences("f").statements[0].line == 5
    assert [found.function for found in program.all()] == [MODULE, *program.functions]


@pytest.mark.parametrize(
    ("source", "function", "message"),
    [
        ("def f(:\n", "f", "not valid Python in line 1"),
        ("x = 1\n\0", MODULE, "not valid Python"),
        ("x = '\ud800'\n", MODULE, "not valid Python"),
        ("(" * 5000 + ")" * 5000, MODULE, "not valid Python"),
        ("-" * 200_000 + "1", MODULE, "nested too deeply"),
        ("def f(): pass\n", "g", "there is no function g"),
        ("x = 1\n", "g", "there are none at all"),
        ("class A:\n def m(s): 0\nclass B:\n def m(s): 0\n", "m", "several functions are called m: A.m, B.m"),
    ],
)
def test_bad_input_is_told_in_words(source: str, function: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        dependences(source, function)


def test_long_and_deep_code_is_no_trouble() -> None:
    chain = "if x == 0: y = 0\n" + "".join(f"elif x == {n}: y = {n}\n" for n in range(1, 900))
    assert len(dependences(chain + "print(y)\n").control) == 900 + 899
    long = "x = 1\ny = " + " + ".join(["x"] * 900) + "\n"
    assert dependences(long).data == {(1, 2, "x")}
    empty = dependences("")
    assert (empty.statements, empty.edges) == ((), frozenset())
