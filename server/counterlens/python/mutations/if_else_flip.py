"""`if-else-flip`: negates the condition of an if-else and swaps its branches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import libcst as cst

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit, Slice, exchange, indenting, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.conditions import Negation, compares, complement, quote, wrap_in_not
from counterlens.python.mutations.module import Module, block_indent
from counterlens.python.mutations.mutation import PythonContext, PythonMutation

Flavour = Literal["complement", "not"]


class IfElseFlip(PythonMutation):
    """Negate the condition of an `if` with an `else`, and swap its branches.

    The flavour `complement` negates by complementary operators (`==` to `!=`, `<` to `>=`) and De Morgan's
    laws, and falls back to `not` if a part of the condition has no complement. The flavour `not` always
    writes `not`. The text after a colon, comments included, moves with its branch.

    An `elif` counts as an `if` in the `else` branch, and becomes one. An `if` without `else` whose body
    always jumps (`return`, `raise`, `break`, `continue`) has the rest of its block as its `else` branch.
    """

    id = "if-else-flip"
    concept = Concept.CONTROL_FLOW
    source = "Hooda et al. 2024, section 3.3; Ahmed et al. 2024, section 3.1.2; Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="if a == b:\n    x = 1\nelse:\n    x = 2\n",
            after="if a != b:\n    x = 2\nelse:\n    x = 1\n",
        ),
        Example(
            before="if a < 0 and b is None:  # neither\n    pass\nelse:  # some\n    f()\n",
            after="if a >= 0 or b is not None:  # some\n    f()\nelse:  # neither\n    pass\n",
        ),
        Example(
            before="if a or b == 1 and c:\n    pass\nelse: f()\n",
            after="if not (a or b == 1 and c): f()\nelse:\n    pass\n",
        ),
        Example(
            before="""
            if a:  # one
                x = 1
            # two
            elif b:
                x = 2
            """,
            after="""
            if not a:
                # two
                if b:
                    x = 2
            else:  # one
                x = 1
            """,
            refused="no else",
        ),
        Example(
            before="""
            def f(a):
                if not a: return 0  # none

                # the rest
                x = g(a,
                  1)
                return x

            f(1)
            """,
            after="""
            def f(a):
                if a:

                    # the rest
                    x = g(a,
                      1)
                    return x
                else: return 0  # none

            f(1)
            """,
        ),
        Example(before="if 0 < a < 9: x = 1\nelse: x = 2", after="if not (0 < a < 9): x = 2\nelse: x = 1"),
        Example(before="if a:\n    x = 1\n", refused="no else"),
    )

    def __init__(self, flavour: Flavour = "complement", *, published: bool = False) -> None:
        """`published`: restrict to the sites of Hooda et al. 2024, section 3.3."""
        self.flavour: Flavour = flavour
        self.published = published

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        for node in context.module.nodes(cst.If):
            reason = _why_unpublished(context, node) if self.published else None
            if reason is not None:
                yield SiteRefused(context.module.start(node), reason)
                continue
            yield self._site(context.module, node)

    def _site(self, module: Module, node: cst.If) -> Site | SiteRefused:
        start, end = module.span(node)
        shape = _flip(module, node)
        if shape is None:
            return SiteRefused(
                start, "there is no else branch, and its body may continue with the code that follows"
            )
        negation = self._negate(module, node.test)
        return Site(
            span=(start, end),
            description=f"negated the condition `{quote(module, node.test)}` and {shape.done}",
            edits=(*negation.edits, *shape.edits),
            assumptions=negation.assumptions,
            cut=shape.cut,
            reindented=shape.reindented,
        )

    def _negate(self, module: Module, test: cst.BaseExpression) -> Negation:
        negation = complement(module, test) if self.flavour == "complement" else None
        return negation if negation is not None else wrap_in_not(module, test)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The rewriting that swaps the branches."""

    done: str
    edits: tuple[Edit, ...]
    cut: tuple[int, int] | None
    reindented: tuple[tuple[int, int], ...] = ()


def _flip(module: Module, node: cst.If) -> _Shape | None:
    if isinstance(node.orelse, cst.Else):
        edits = exchange(module.suite(node.body), module.suite(node.orelse.body))
        cut = _first_lines(module, node.body, node.orelse.body)
        return _Shape("swapped its branches", edits, cut)
    if isinstance(node.orelse, cst.If):
        keyword = module.start(node.orelse)
        end = module.without_newline(module.statement_end(node))
        return _nest(module, node, end, (replace(keyword, keyword + len("elif"), "if"),))
    block = module.parent(node)
    if isinstance(block, cst.IndentedBlock) and block.body[-1] is not node and always_leaves(node.body):
        return _nest(module, node, module.suite(block)[1], ())
    return None


def _nest(module: Module, node: cst.If, end: int, more: tuple[Edit, ...]) -> _Shape:
    """Move the code after a body, up to an offset, into its place, and the body into an `else` after it."""
    body = module.suite(node.body)
    base = module.indentation(node)
    indented = isinstance(node.body, cst.IndentedBlock)
    extra = block_indent(module, node.body) if isinstance(node.body, cst.IndentedBlock) else "    "
    rest = module.next_line(body[1])
    edits = (
        Edit(*body, ()),
        *more,
        *indenting(module, rest, end, base, extra),
        Edit(end, end, (f"{module.newline}{base}else:", Slice(*body))),
    )
    cut = (module.next_line(body[0]), rest) if indented else None
    return _Shape("moved the code that follows into the other branch", edits, cut, ((rest, end),))


def _why_unpublished(context: PythonContext, node: cst.If) -> str | None:
    """The reason why Hooda et al. 2024 (section 3.3) do not flip an `if`; None if they do."""
    module = context.module
    above = module.parent(node)
    if not isinstance(node.orelse, cst.Else) or (isinstance(above, cst.If) and above.orelse is node):
        return "it is not an if-else: it has no `else`, or is an `elif`"
    if not compares(node.test) or complement(module, node.test) is None:
        return "its condition does not consist of comparisons that have complementary operators"
    if not context.effects.of(node.test).inert:
        return "its condition may change the state of the program"
    return None


def always_leaves(suite: cst.BaseSuite) -> bool:
    """Whether a body always ends in a jump, so that the code after it in its block never runs after it."""
    last = suite.body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    while isinstance(last, cst.If):
        if last.orelse is None or not always_leaves(last.body):
            return False
        if isinstance(last.orelse, cst.Else):
            return always_leaves(last.orelse.body)
        last = last.orelse
    return isinstance(last, cst.Return | cst.Raise | cst.Break | cst.Continue)


def _first_lines(module: Module, then: cst.BaseSuite, other: cst.BaseSuite) -> tuple[int, int] | None:
    """The offsets of the first lines of two indented bodies, after the newlines of their headers."""
    if isinstance(then, cst.IndentedBlock) and isinstance(other, cst.IndentedBlock):
        return module.end(then.header), module.end(other.header)
    return None
