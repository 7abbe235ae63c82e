"""Python's placebos by id. They are not in `MUTATIONS`, because they perturb no concept."""

from __future__ import annotations

import ast
import warnings
from typing import ClassVar

from counterlens.mutations.blank_line import BlankLine
from counterlens.mutations.mutation import AnyMutation, Example
from counterlens.python.mutations.comment_move import PythonCommentMove
from counterlens.python.mutations.docstring_quotes import DocstringQuotes
from counterlens.python.syntax.parsing import parse_module
from counterlens.syntax.recursion import with_depth


class PythonBlankLine(BlankLine):
    """Insert a blank line before a statement of a function, or remove one.

    A placebo: Python's parser gives the same tree.
    """

    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="def f(a):\n    b = a + 1\n    return b\n",
            after="def f(a):\n\n    b = a + 1\n\n    return b\n",
        ),
        Example(before="def f(a): return a\n", refused="no statement in it starts a line"),
    )


_ALL: tuple[AnyMutation, ...] = (PythonCommentMove(), PythonBlankLine(), DocstringQuotes())
PLACEBOS = {placebo.id: placebo for placebo in _ALL}


def python_meaning(source: str) -> str | None:
    """Python's syntax tree of a source as text, without positions; None if the source does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes unknown to Python, which keep their backslash
        try:
            return with_depth(lambda: ast.dump(parse_module(source)))
        except (SyntaxError, ValueError, MemoryError):
            return None
