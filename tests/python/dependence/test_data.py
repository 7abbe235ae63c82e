"""Data dependence, construct by construct: (line of the definition, line of the use, variable)."""

from __future__ import annotations

import ast
import textwrap

import pytest

from counterlens.dependence import Kind, Rules, dependences
from counterlens.python.dependence.rules import MUTATING_METHODS, PythonRules


def data(body: str, only: str = "", rules: Rules | None = None) -> set[tuple[int, int, str]]:
    """Data dependence in a function whose body begins in line 2, of one variable or of all."""
    source = "async def f(a, b, c):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    ast.parse(source)
    found = dependences(source, "f", rules=rules or Rules()).data
    return {edge for edge in found if not only or edge[2] == only}


CASES = {
    "parameters": ("return a + b", "", {(1, 2, "a"), (1, 2, "b")}),
    "rebinding kills": ("x = 1\nx = 2\nreturn x", "x", {(3, 4, "x")}),
    "either way": ("if a:\n    x = 1\nelse:\n    x = 2\nreturn x", "x", {(3, 6, "x"), (5, 6, "x")}),
    "empty loop": ("x = 0\nfor x in a:\n    pass\nreturn x", "x", {(2, 5, "x"), (3, 5, "x")}),
    "around the loop": (
        "x = 0\nwhile x < a:\n    x += 1",
        "x",
        {(2, 3, "x"), (2, 4, "x"), (4, 3, "x"), (4, 4, "x")},
    ),
    "endless loop": ("x = 0\nwhile 1:\n    x = 1\n    break\nreturn x", "x", {(4, 6, "x")}),
    "tuple and star": ("x, (y, *z) = a\nreturn x, y, z", "z", {(2, 3, "z")}),
    "del": ("x = 1\ndel x\nreturn x", "x", {(2, 3, "x")}),
    "annotation alone": ("x = 1\nx: int\nreturn x", "x", {(2, 4, "x")}),
    "walrus": ("x = 1\nif (x := a) and x:\n    return x", "x", {(3, 3, "x"), (3, 4, "x")}),
    "walrus that may be skipped": ("x = 1\na and (x := 2)\nreturn x", "x", {(2, 4, "x"), (3, 4, "x")}),
    "walrus out of a comprehension": ("[(x := i) for i in a]\nreturn x", "x", {(2, 3, "x")}),
    "comprehension has its own names": ("i = 1\ny = [i for i in a]\nreturn i", "i", {(2, 4, "i")}),
    "comprehension reads": ("k = 1\nreturn [i + k for i in a]", "k", {(2, 3, "k")}),
    "lambda reads later": ("k = 1\ng = lambda: k\nk = 2\nreturn g()", "k", {(2, 3, "k"), (4, 3, "k")}),
    "key is called at once": ("k = 1\na.sort(key=lambda v: k)\nk = 2", "k", {(2, 3, "k")}),
    "generator reads later": ("k = 1\ng = (k for _ in a)\nk = 2\nreturn g", "k", {(2, 3, "k"), (4, 3, "k")}),
    "nested function reads": ("def g():\n    return k\nk = 2\nreturn g()", "k", {(4, 2, "k")}),
    "nonlocal": (
        "x = 1\ndef g():\n    nonlocal x\n    x = 2\nx = 3\ng()\nreturn x",
        "x",
        {(3, 8, "x"), (6, 8, "x")},
    ),
    "defaults": ("k = 1\ndef g(x=k): return x\nk = 2", "k", {(2, 3, "k")}),
    "import": ("import os.path as p, sys\nreturn p, sys", "", {(2, 3, "p"), (2, 3, "sys")}),
    "with": ("with a as x, x.y as z:\n    return z", "x", {(2, 2, "x")}),
    "handler sees the middle of the body": (
        "x = 0\ntry:\n    x = 1\n    x = a()\nexcept E:\n    return x\nreturn x",
        "x",
        {(2, 7, "x"), (4, 7, "x"), (5, 7, "x"), (5, 8, "x")},
    ),
    "exception's name": ("try:\n    a()\nexcept E as e:\n    b(e)\nc(e)", "e", {(4, 5, "e")}),
    "finally after finally": (
        "e = 0\ntry:\n    try:\n        e = a()\n    finally:\n        e = b()\nfinally:\n    c(e)",
        "e",
        {(2, 9, "e"), (5, 9, "e"), (7, 9, "e")},
    ),
    "between two handlers": (
        "try:\n    try:\n        e = a()\n    except E:\n        return\n    e = b()\nexcept E:\n    c(e)",
        "e",
        {(4, 9, "e"), (7, 9, "e")},
    ),
    "finally": ("x = 0\ntry:\n    x = a()\nfinally:\n    b(x)", "x", {(2, 6, "x"), (4, 6, "x")}),
    "match": (
        "match a:\n    case [x, y] if x:\n        return y\n    case {'k': x, **r}:\n        return x, r",
        "x",
        {(3, 3, "x"), (5, 6, "x")},
    ),
    "case reads the subject": ("match a:\n    case 1: return b", "a", {(1, 2, "a"), (1, 3, "a")}),
    "class body": (
        "x = 1\nclass K:\n    x = 2\n    y = x\nreturn x",
        "x",
        {(4, 5, "x"), (4, 3, "x"), (2, 6, "x")},
    ),
    "class of the same name": (
        "K = a\nclass K(K):\n    z = K\nreturn K",
        "K",
        {(2, 3, "K"), (2, 4, "K"), (3, 5, "K")},
    ),
    "yield and await": (
        "x = yield a\ny = await x\nb(y)",
        "",
        {(1, 2, "a"), (2, 3, "x"), (3, 4, "y"), (1, 4, "b")},
    ),
    "dead code": ("x = 1\nreturn x\nx = 2\nreturn x", "x", {(2, 3, "x"), (4, 5, "x")}),
    "attribute": ("x = a()\nx.y = 1\nreturn x.y", "x", {(2, 3, "x"), (2, 4, "x"), (3, 4, "x")}),
    "another attribute": ("x = a()\nx.y = 1\nreturn x.z", "x", {(2, 3, "x"), (2, 4, "x")}),
    "key": (
        "x = a()\nx['k'] = 1\nx[b] = 2\nreturn x['k']",
        "x",
        {(2, 3, "x"), (2, 4, "x"), (3, 4, "x"), (2, 5, "x"), (3, 5, "x"), (4, 5, "x")},
    ),
    "append twice": (
        "x = []\nx.append(1)\nx.append(2)\nreturn x",
        "x",
        {(2, 3, "x"), (2, 4, "x"), (3, 4, "x"), (2, 5, "x"), (3, 5, "x"), (4, 5, "x")},
    ),
    "clear": (
        "x = []\nx.append(1)\nx.clear()\nreturn x",
        "x",
        {(2, 3, "x"), (2, 4, "x"), (3, 4, "x"), (2, 5, "x"), (4, 5, "x")},
    ),
    "heappush": ("x = []\nheappush(x, 1)\nreturn x", "x", {(2, 3, "x"), (2, 4, "x"), (3, 4, "x")}),
    "reading method": ("x = a()\nx.count(1)\nreturn x", "x", {(2, 3, "x"), (2, 4, "x")}),
    "write": (
        "with open(a) as x:\n    x.write(b)\n    x.seek(0)\n    return x.read()",
        "x",
        {(2, 3, "x"), (2, 4, "x"), (2, 5, "x"), (3, 4, "x"), (3, 5, "x"), (4, 5, "x")},
    ),
    "readline": (
        "x = open(a)\nfirst = x.readline()\nreturn first, x.readline()",
        "x",
        {(2, 3, "x"), (2, 4, "x"), (3, 4, "x")},
    ),
    "next": (
        "x = iter(a)\nb = next(x)\nreturn next(x, None)",
        "x",
        {(2, 3, "x"), (2, 4, "x"), (3, 4, "x")},
    ),
    "iterated object": (
        "x = [1]\nfor i in x:\n    x.append(i)",
        "x",
        {(2, 3, "x"), (2, 4, "x"), (4, 3, "x"), (4, 4, "x")},
    ),
    "iterated once": (
        "x = [1]\nfor i in range(len(x)):\n    x.append(i)",
        "x",
        {(2, 3, "x"), (2, 4, "x"), (4, 4, "x")},
    ),
    "closure changes": (
        "x = []\ndef g():\n    x.append(1)\ng()\nreturn x",
        "x",
        {(2, 3, "x"), (3, 3, "x"), (2, 6, "x"), (3, 6, "x")},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_data_dependence(name: str) -> None:
    body, only, expected = CASES[name]
    assert data(body, only) == expected


def test_kinds_tell_names_from_objects() -> None:
    found = dependences("def f(x):\n    x.a = 1\n    return x\n", "f")
    edges = {(e.source, e.target, e.kind) for e in found.edges}
    assert edges == {(0, 1, Kind.NAME), (0, 2, Kind.NAME), (1, 2, Kind.HEAP)}


def test_mutating_methods_can_be_chosen() -> None:
    body = "x = a()\nx.feed(1)\nreturn x"
    assert (3, 4, "x") not in data(body)
    assert (3, 4, "x") in data(body, rules=PythonRules(mutating_methods=MUTATING_METHODS | {"feed"}))


def test_module_level() -> None:
    source = "import os\nx = 1\nif __name__ == '__main__':\n    y = x\n    print(y, os)\n"
    found = dependences(source)
    assert found.function == "<module>"
    assert found.control == {(3, 4), (3, 5)}
    assert found.data == {(2, 4, "x"), (4, 5, "y"), (1, 5, "os")}


def test_globals_that_functions_bind() -> None:
    source = "n = 0\ndef up():\n    global n\n    n += 1\nn = 5\nup()\nprint(n)\n"
    assert {edge for edge in dependences(source).data if edge[2] == "n"} >= {(5, 7, "n"), (2, 7, "n")}
    assert dependences(source, "up").data == set()


def test_a_class_body_may_augment_a_global() -> None:
    source = "d = 1\ndef f():\n    class K:\n        d += 1\n"
    assert dependences(source).data == {(1, 2, "d")}
    assert dependences(source, "f").data == {(4, 3, "d")}


def test_star_imports_may_define_anything_that_is_no_builtin() -> None:
    assert dependences("from m import *\nprint(sqrt(2))\n").data == {(1, 2, "sqrt")}
