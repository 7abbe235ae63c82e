"""`comment-move`: moves a comment to the line above or below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import insert, replace
from counterlens.mutations.mutation import Example, Mutation, MutationContext, Site, SiteRefused
from counterlens.python.mutations.module import Module

WIDEST = 99
"""Maximum length of a line, in characters, after a comment has moved to its end."""
_FOR_TOOLS = re.compile(
    r"#\s*(type:|noqa|nosec|pragma|pylint|pyright|mypy|ruff|fmt:|isort|yapf|!)", re.IGNORECASE
)


class CommentMove(Mutation):
    """Move a comment of a function by one line: from the end of a statement to above it, or back.

    A placebo: Python's parser gives the same tree. Comments that tools read are not moved.
    """

    id = "comment-move"
    concept = Concept.NOTHING
    source = "this project: a negative control"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            def f(a):
                b = a + 1  # the next
                # and back
                return b
            """,
            after="""
            def f(a):
                # the next
                b = a + 1
                return b  # and back
            """,
        ),
        Example(before="def f(a):\n    b = a + 1  # noqa: X1\n    return b\n", refused="no comment"),
    )

    def sites(self, context: MutationContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        found = [site for line in module.nodes(cst.SimpleStatementLine) for site in _moves(module, line)]
        around = {id(module.function_at(site.span[0])) for site in found}
        for function in module.functions:
            if id(function) not in around:
                yield SiteRefused(function.start, "it has no comment that could be moved by a line")
        yield from (site for site in found if module.function_at(site.span[0]) is not None)


def _moves(module: Module, statement: cst.SimpleStatementLine) -> Iterator[Site]:
    """The possible move of the comment of a one-line statement, if there is one."""
    start, end = module.start(statement), module.end(statement.body[-1])
    line, after = module.line_start(start), module.next_line(start)
    indentation = module.text((line, start))
    above = [empty.comment for empty in statement.leading_lines]
    behind = statement.trailing_whitespace.comment
    if indentation.strip() or module.line(start) != module.line(end) or (behind and any(above[-1:])):
        return
    if behind is not None:
        first, last = module.span(behind)
        if _movable(behind) and not module.data[end:first].strip():
            edits = insert(line, f"{indentation}{behind.value}{module.newline}"), replace(end, last, "")
            yield Site((start, last), "moved a comment to the line above", edits)
    elif above and (comment := above[-1]) is not None and _movable(comment) and not any(above[-2:-1]):
        top, stop = module.line_start(module.start(comment)), module.without_newline(after)
        moved = f"  {comment.value}"
        if module.next_line(top) == line and len(module.text((line, stop)) + moved) <= WIDEST:
            edits = replace(top, line, ""), insert(stop, moved)
            yield Site((start, end), "moved a comment to the end of the line below", edits)


def _movable(comment: cst.Comment) -> bool:
    return _FOR_TOOLS.match(comment.value) is None
