"""Python's mutations, placebos and parser; the check of every site, and EMPICA's transformations.

The site of a preserving mutation must not be in a function whose variables code may look up by name
(`lookups.py`). So no single mutation has to look at this.

The eight transformations of EMPICA (Nguyen et al. 2024, Table 1) are each at all of their sites at once.
They are Counterlens's mutations, as in the paper's examples: conditions are negated by `not`, only an `if`
with its own `else` is flipped, variables are named `VAR1` and so on, any arithmetic operator may replace any
other, and the file is assumed to be the whole program.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import insert, replace
from counterlens.mutations.languages import MutatedLanguage
from counterlens.mutations.mutation import AnyMutation, Example, Site, SiteRefused, Transformation
from counterlens.mutations.placebos import ABOVE, BELOW, WIDEST, BlankLine, CommentMove
from counterlens.python.mutations.declarations import AnnotateShuffle, AnnotateStrip, ReorderParameters
from counterlens.python.mutations.def_use_break import DefUseBreak
from counterlens.python.mutations.if_else_flip import Flavour, IfElseFlip
from counterlens.python.mutations.lookups import check
from counterlens.python.mutations.loops import ForWhileConvert, LoopUnroll
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.operators import OperandSwap, ReplaceArithmetic
from counterlens.python.mutations.partial_unroll import PartialUnroll
from counterlens.python.mutations.rename import RenameGeneric, RenameRandom, RenameShuffle
from counterlens.python.mutations.simple_conditionals import (
    BlockSwapPlain,
    NegateCondition,
    RefactorCondition,
    RemoveConditional,
)
from counterlens.python.mutations.statements import IndependentSwap, RemoveDefinition
from counterlens.python.syntax.parsing import parse_expression, parse_module
from counterlens.syntax.tree import deep_recursion

_OTHER = {'"': "'", "'": '"'}
_FOR_TOOLS = re.compile(
    r"#\s*(type:|noqa|nosec|pragma|pylint|pyright|mypy|ruff|fmt:|isort|yapf|!)", re.IGNORECASE
)
_OWN: tuple[PythonMutation, ...] = (
    # control flow
    IfElseFlip(),
    IndependentSwap(),
    ForWhileConvert(),
    RefactorCondition(),
    LoopUnroll(),
    PartialUnroll(),
    NegateCondition(),
    RemoveConditional(),
    BlockSwapPlain(),
    # data flow
    DefUseBreak(),
    OperandSwap(),
    ReorderParameters(),
    ReplaceArithmetic(),
    RemoveDefinition(),
    # naming
    RenameRandom(),
    RenameShuffle(),
    RenameGeneric(),
    # types
    AnnotateStrip(),
    AnnotateShuffle(),
)
MUTATIONS = {mutation.id: mutation for mutation in _OWN}
_PUBLISHED: tuple[AnyMutation, ...] = (
    IfElseFlip(published=True),
    RenameRandom(published=True),
    RenameShuffle(published=True),
)


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
    with warnings.catch_warnings(), deep_recursion():
        warnings.simplefilter("ignore")  # about escapes unknown to Python, which keep their backslash
        try:
            return ast.dump(parse_module(source))
        except (SyntaxError, ValueError, MemoryError):
            return None


@dataclass(eq=False)
class ExplicitIfElseFlip(IfElseFlip):
    """Flip only an `if` with its own `else`, and negate by `not` (Nguyen et al. 2024, Table 1)."""

    flavour: Flavour = "not"

    def site(self, context: PythonContext, node: cst.If) -> Site | SiteRefused | None:
        return super().site(context, node) if isinstance(node.orelse, cst.Else) else None


TRANSFORMATIONS = (
    Transformation("Convert For/While", "control", ForWhileConvert()),
    Transformation("Flip IfElse", "control", ExplicitIfElseFlip()),
    Transformation("Rename Variable", "data", RenameGeneric("VAR")),
    Transformation("Reorder Parameters", "data", ReorderParameters(whole_program=True)),
    Transformation("Negate Relational Condition", "control", NegateCondition("not")),
    Transformation("Remove Conditional Statement", "control", RemoveConditional()),
    Transformation("Replace Arithmetic Operator", "data", ReplaceArithmetic(across_precedence=True)),
    Transformation("Remove Def Statement", "data", RemoveDefinition()),
)
"""The operators in the order of the table: four that preserve the meaning, four that break it."""


PYTHON = MutatedLanguage(
    own=MUTATIONS,
    kind=PythonMutation,
    parse=Module,
    context=PythonContext,
    checked=lambda context, site: check(context.module, site),
    placebos=PLACEBOS,
    meaning=python_meaning,
    transformations=TRANSFORMATIONS,
    published={mutation.id: mutation for mutation in _PUBLISHED},
    shown={ReorderParameters.id: ReorderParameters(whole_program=True)},
    reaching=IndependentSwap,
)
