"""Cheats: bodies that no test should pass, and the tests that pass them."""

from __future__ import annotations

import ast
import textwrap

import pytest

from counterlens.python.judging.cheats import cheats
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

pytestmark = pytest.mark.usefixtures("every_cheat")


def cheats_of(text: str, qualname: str, *tests: str) -> dict[str, str]:
    document = Document(textwrap.dedent(text))
    return cheats(document, find_function(document, qualname), tests)


def test_what_tests_visibly_expect_and_arguments_are_given_back() -> None:
    tests = "assert f(2) == [7, 8]\nself.assertEqual(f(3), 'nine')\n"
    made = cheats_of('def f(x, y):\n    """\n    >>> f(1, 2)\n    99\n    """\n    return x\n', "f", tests)
    wanted = {"pass", "return True", "return ''", "return [7, 8]", "return 'nine'", "return 99"}
    assert wanted | {"return x", "return y", "return iter(())", "raise NotImplementedError"} <= set(made)
    assert made["return 99"].endswith('    """\n    return 99\n')


@pytest.mark.parametrize(
    ("text", "qualname"),
    [
        ("def f(x): return 2 * x\n", "f"),
        ("def f(x): 'é'; return 2 * x\n", "f"),
        ("class A:\n    @property\n    def f(self): return 1\n\nB = 2\n", "A.f"),
        ("if True:\n    def f(x):\n        y = (\n            1)\n        return y\nB = 2\n", "f"),
        ("async def f(x):\n    return x\nB = 2", "f"),
        ("def f(x):\n\treturn x\n", "f"),
        ("def f(x):\n    yield x\n", "f"),
        ("async def f(x):\n    '''It yields.'''\n    yield x\n", "f"),
    ],
)
def test_only_the_body_changes(text: str, qualname: str) -> None:
    kind = "yield" if "yield" in text else "return"
    made = cheats_of(text, qualname)
    assert f"{kind} True" in made
    for body, program in made.items():
        tree = ast.parse(program)
        assert len(tree.body) == len(ast.parse(text).body), program
        node = next(node for node in ast.walk(tree) if getattr(node, "name", "") == "f")
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        assert body.partition(" ")[0] in ast.unparse(node) or body == "pass"
        yields = any(isinstance(inner, ast.Yield) for inner in ast.walk(node))
        assert yields == (kind == "yield"), program


def test_a_missing_function_has_none() -> None:
    document = Document("def f(x):\n    return x\n")
    function = find_function(document, "f")
    assert cheats(Document("x = 1\n"), function, ()) == {}
    assert cheats(Document("def f(:\n"), function, ()) == {}
