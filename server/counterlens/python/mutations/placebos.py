"""Python's placebos by id. They are not in `MUTATIONS`, because they perturb no concept."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping

from counterlens.mutations.blank_line import BlankLine
from counterlens.mutations.mutation import Mutation
from counterlens.python.mutations.comment_move import CommentMove
from counterlens.python.mutations.docstring_quotes import DocstringQuotes
from counterlens.python.mutations.reading import with_depth
from counterlens.python.syntax.parsing import parse_module

PLACEBOS: Mapping[str, Mutation] = {one.id: one for one in (CommentMove(), BlankLine(), DocstringQuotes())}


def python_meaning(source: str) -> str | None:
    """Python's syntax tree of a source as text, without positions; None if the source does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes unknown to Python, which keep their backslash
        try:
            return with_depth(lambda: ast.dump(parse_module(source)))
        except (SyntaxError, ValueError, MemoryError):
            return None
