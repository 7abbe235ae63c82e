"""Python's placebos by id. They are not among `MUTATIONS`: nothing is learned of a concept from them."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping

from counterlens.mutations.blank_line import BlankLine
from counterlens.mutations.comment_move import CommentMove
from counterlens.mutations.docstring_quotes import DocstringQuotes
from counterlens.mutations.mutation import Mutation
from counterlens.mutations.reading import with_depth
from counterlens.syntax.python_ast import parse_module

PLACEBOS: Mapping[str, Mutation] = {one.id: one for one in (CommentMove(), BlankLine(), DocstringQuotes())}


def python_meaning(source: str) -> str | None:
    """The syntax tree of a source by Python's parser, without positions; None if it cannot parse it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that Python does not know: they stay as they are
        try:
            return with_depth(lambda: ast.dump(parse_module(source)))
        except (SyntaxError, ValueError, MemoryError):
            return None
