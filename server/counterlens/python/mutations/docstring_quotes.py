"""`docstring-quotes`: changes the quotation marks of a docstring."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.syntax.parsing import parse_expression

_OTHER = {'"': "'", "'": '"'}


class DocstringQuotes(PythonMutation):
    """Change the quotation marks of a function's docstring, double to single or single to double.

    A placebo: Python's parser gives the same tree, and the docstring the same text.
    """

    id = "docstring-quotes"
    concept = Concept.NOTHING
    source = "this project: a negative control"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before='def f(a):\n    """Add\n    one."""\n    return a + 1\n',
            after="def f(a):\n    '''Add\n    one.'''\n    return a + 1\n",
        ),
        Example(before="def f(a):\n    return a + 1\n", refused="it has no docstring"),
        Example(
            before='def f(a):\n    "Add one to what isn\'t more."\n    return a + 1\n',
            refused="its docstring contains the other quotation marks",
        ),
    )

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for function in module.functions:
            token = _docstring(function.node)
            if token is None:
                yield SiteRefused(function.start, "it has no docstring that is a single literal")
                continue
            old = token.quote
            new = "".join(_OTHER[mark] for mark in old)
            prefix, inside = token.prefix, token.value[len(token.prefix) + len(old) : -len(old)]
            if not _same_text(token.value, f"{prefix}{new}{inside}{new}"):
                yield SiteRefused(function.start, "its docstring contains the other quotation marks")
                continue
            start, end = module.span(token)
            start += len(prefix)
            edits = replace(start, start + len(old), new), replace(end - len(old), end, new)
            yield Site((start, end), f"replaced {old} by {new} around the docstring", edits)


def _docstring(function: cst.FunctionDef) -> cst.SimpleString | None:
    """The token of a docstring that is one string literal, or None."""
    first = function.body.body[0] if function.body.body else None
    statement = first.body[0] if isinstance(first, cst.SimpleStatementLine) else first
    value = statement.value if isinstance(statement, cst.Expr) else None
    plain = isinstance(value, cst.SimpleString) and "b" not in value.prefix.lower() and not value.lpar
    return value if isinstance(value, cst.SimpleString) and plain else None


def _same_text(text: str, other: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes unknown to Python, which keep their backslash
        try:
            return bool(ast.literal_eval(parse_expression(text)) == ast.literal_eval(parse_expression(other)))
        except (SyntaxError, ValueError):
            return False
