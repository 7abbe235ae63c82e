"""`comment-move`: moves a comment to the line above or below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

import libcst as cst

from counterlens.mutations.comment_move import ABOVE, BELOW, WIDEST, CommentMove
from counterlens.mutations.edits import insert, replace
from counterlens.mutations.mutation import Example, Site
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext

_FOR_TOOLS = re.compile(
    r"#\s*(type:|noqa|nosec|pragma|pylint|pyright|mypy|ruff|fmt:|isort|yapf|!)", re.IGNORECASE
)


class PythonCommentMove(CommentMove[PythonContext]):
    """Move a comment of a function by one line: from the end of a statement to above it, or back.

    A placebo: Python's parser gives the same tree. Comments that tools read are not moved.
    """

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

    def moves(self, context: PythonContext) -> Iterator[Site]:
        """Like `CommentMove.moves`: those of the comments of one-line statements."""
        module = context.module
        return (site for line in module.nodes(cst.SimpleStatementLine) for site in _moves(module, line))


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
            yield Site((start, last), ABOVE, edits)
    elif above and (comment := above[-1]) is not None and _movable(comment) and not any(above[-2:-1]):
        top, stop = module.line_start(module.start(comment)), module.without_newline(after)
        moved = f"  {comment.value}"
        if module.next_line(top) == line and len(module.text((line, stop)) + moved) <= WIDEST:
            edits = replace(top, line, ""), insert(stop, moved)
            yield Site((start, end), BELOW, edits)


def _movable(comment: cst.Comment) -> bool:
    return _FOR_TOOLS.match(comment.value) is None
