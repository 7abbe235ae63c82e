"""Texts of other versions of Python: what they need is said, and nobody is asked to mend valid code."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from counterlens.dependence import dependences
from counterlens.errors import SourceError
from counterlens.mutations import survey
from counterlens.python.judging.language import PYTHON
from counterlens.python.syntax.versions import newer_syntax, newest_syntax, parse_error
from tests.standard_library import LIBRARY

FUNCTION = """

def smaller(a, b):
    if a < b:
        x = a
    else:
        x = b
    return x
"""
NEW = {
    "match": ((3, 10), "match 1:\n    case _:\n        pass\n"),
    "except star": ((3, 11), "try:\n    pass\nexcept* OSError:\n    pass\n"),
    "class of types": ((3, 12), "class Box[T]:\n    pass\n"),
    "bounds": ((3, 12), "def f[T: (int, str), *Ts, **P](x: T) -> T:\n    return x\n"),
    "type statement": ((3, 12), "type Number = int\n"),
    "same quotes": ((3, 12), 'x = f"{ {"k": 1}["k"] }"\n'),
    "nested f-strings": ((3, 12), "x = f'{f'{1}'}'\n"),
    "backslash": ((3, 12), "x = f\"{'\\n'.join(['a'])}\"\n"),
    "line ends": ((3, 12), 'x = f"{\n1\n}"\n'),
    "comment": ((3, 12), 'x = f"""{\n1  # one\n}"""\n'),
    "default of a class": ((3, 13), "class Box[T = int]:\n    pass\n"),
    "default of a function": ((3, 13), "def f[T: object = int](x: T) -> T:\n    return x\n"),
    "default of an alias": ((3, 13), "type A[*Ts = *tuple[int, ...]] = tuple[*Ts]\n"),
    "default of parameters": ((3, 13), "class Box[**P = [int, str]]:\n    pass\n"),
    "template": ((3, 14), "x = t'a {1}'\n"),
    "raw template": ((3, 14), 'x = rt"a"\n'),
    "except": ((3, 14), "try:\n    pass\nexcept KeyError, ValueError:\n    pass\n"),
    "except star of several": ((3, 14), "try:\n    pass\nexcept* KeyError, ValueError:\n    pass\n"),
    "unpacking": ((3, 15), "x = [*y for y in [[1]]]\n"),
    "lazy": ((3, 15), "lazy import json\n"),
}
LAYOUT = {
    "form feed between functions": "x = 1\n\f\ndef f(a):\n    return a\n",
    "form feed before a function": "x = 1\n\fdef f(a):\n    return a\n",
    "form feed in a line": "x\f=\f1\n",
    "form feed at an end": "def f(a):\f\n    return a\f\n",
    "form feed in texts": "# a\fb\nx = 'a\fb'\ny = '''\n\f  a'''\n",
    "form feed in a block": "def f(a):\n    x = a\n\f\n    return x\n",
    "form feed before a comment": "def f(a):\n\f    # note\n    return a\n",
    "form feed in brackets": "x = [\n\f    1,\n]\n",
    "tabs": "def f(a):\n\tif a:\n\t    return 1\n\treturn 2\n",
    "coding": "# -*- coding: latin-1 -*-\nx = 'é'\n",
    "carriage returns": "def f(a):\r    return a\r",
}
INDENTED = {
    "before": "def f(a):\n\f    if a:\n        return 1\n    return 2\n",
    "after": "def f(a):\n    \f    if a:\n        return 1\n    return 2\n",
    "deeper": "def f(a):\n    if a:\n\f        return 1\n    return 2\n",
    "in the middle of a block": "def f(a):\n    x = a\n\f    y = x\n    return y\n",
    "else": "def f(a):\n    if a:\n        return 1\n\f    else:\n        return 2\n",
    "decorator": "class A:\n    x = 1\n\f    @property\n    def f(self):\n        return 1\n",
    "several": "class A:\n    x = 1\n\f\f    def f(self):\n        return 1\n",
}


@pytest.mark.parametrize(("version", "text"), NEW.values(), ids=NEW.keys())
def test_the_version_that_a_text_needs_is_named(version: tuple[int, int], text: str) -> None:
    syntax = newest_syntax(FUNCTION + text)
    assert syntax is not None
    assert (syntax.version, syntax.line > FUNCTION.count("\n")) == (version, True)
    assert newer_syntax(text, version) is None
    assert newer_syntax(text, (version[0], version[1] - 1)) == newest_syntax(text)


@pytest.mark.parametrize("text", [text for _, text in NEW.values()], ids=NEW.keys())
def test_mutations_read_every_version(text: str) -> None:
    made = survey(text + FUNCTION, function="smaller").counterfactuals
    assert {"if-else-flip", "rename-random"} <= {one.mutation for one in made}
    assert all(newest_syntax(one.source) == newest_syntax(text + FUNCTION) for one in made)


@pytest.mark.parametrize(("version", "text"), NEW.values(), ids=NEW.keys())
def test_dependence_says_what_it_needs(version: tuple[int, int], text: str) -> None:
    """On a Python that can read the text, it works."""
    if version <= sys.version_info[:2]:
        assert dependences(text + FUNCTION, "smaller").edges
        assert PYTHON.unreadable(text) is None
        return
    needed = ".".join(map(str, version))
    with pytest.raises(SourceError, match=f"the source needs Python {needed}: ") as refused:
        dependences(text + FUNCTION, "smaller")
    assert f"Python {needed} or later" in str(refused.value.hint)
    assert f"needs Python {needed}" in str(PYTHON.unreadable(text))


@pytest.mark.parametrize(
    "text", ["def f(:\n", "x = (\n", "class Box[T]:\n    x = = 1\n", "print 'a'\n", "f'{'", "x = 1\n\x1a"]
)
def test_what_is_wrong_in_every_version_is_called_so(text: str) -> None:
    assert newest_syntax(text) is None
    with pytest.raises(SourceError, match="the source does not parse") as refused:
        survey(text)
    assert refused.value.hint == "Fix it: mutations need valid Python"
    with pytest.raises(SourceError, match="not valid Python in line"):
        dependences(text, "f")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + ")" * 5000,
        "(" * 10_000,
        "x = " + "lambda: " * 10_000 + "=",
        "x = " + "not " * 10_000,
        "x = " + "-" * 10_000 + "\nclass A[T = int]: pass\n",
        "if x:\n    pass\n" + "elif y:\n    pass\n" * 20_000 + "else\n",
        "".join(" " * at + "if x:\n" for at in range(2000)) + " " * 2000 + "y = = 1\n",
        "\n".join(["x = a", *(["** b \\"] * 10_000), "=", ""]),
        "x = (" + "a\n if b else " * 10_000,
    ],
)
def test_depth_is_no_matter_of_versions(text: str) -> None:
    """LibCST's parser would end the process on some of these."""
    assert newest_syntax(text) is None
    with pytest.raises(SourceError):
        survey(text)


def test_what_is_too_deep_for_the_running_version_is_called_so() -> None:
    assert "nested too deeply" in parse_error("", RecursionError()).message


@pytest.mark.parametrize("text", LAYOUT.values(), ids=LAYOUT.keys())
def test_odd_layout_is_read(text: str) -> None:
    ast.parse(text)
    survey(text)


@pytest.mark.parametrize("text", INDENTED.values(), ids=INDENTED.keys())
def test_a_form_feed_in_an_indentation_is_named(text: str) -> None:
    ast.parse(text)
    with pytest.raises(SourceError, match="cannot read the form feed in the indentation of line") as refused:
        survey(text)
    line = text.count("\n", 0, text.index("\f")) + 1
    assert refused.value.message.endswith(f"line {line}")
    assert refused.value.hint is None


@pytest.mark.parametrize("name", ["dataclasses.py", "typing.py", "enum.py"])
def test_the_running_version_reads_its_own_library(name: str) -> None:
    assert newer_syntax(Path(LIBRARY, name).read_text(encoding="utf-8")) is None


@pytest.mark.parametrize(
    "text",
    [
        *("return(1 if a else 2)", "return(lambda: 1)", "b = not(a if a else 2)", "assert(1 if a else 2)"),
        *("b = 1 in(lambda: a)", "b = a if(a if a else 2) else 1", "raise(a if a else b)"),
        *("while(a if a else 2):\n        pass", "b = a and(1 if a else 2)", "yield(a if a else 2)"),
    ],
)
def test_what_libcst_refuses_has_its_line(text: str) -> None:
    source = f"def f(a):\n    a = (1 if a else 2)\n    {text}\n"
    compile(source, "f.py", "exec")
    with pytest.raises(SourceError, match="cannot read line 3, which is valid Python") as caught:
        survey(source)
    assert caught.value.hint == "Write a blank between them"
    survey(source.replace(text, text.replace("(", " (")))
