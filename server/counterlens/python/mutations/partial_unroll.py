"""`partial-unroll`."""

from __future__ import annotations

from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import INTEGER_RANGE, ITERATOR_PROTOCOL, OBJECT_LIFETIME, Concept
from counterlens.mutations.edits import Edit, Piece, Slice
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.counting import (
    Range,
    iterable,
    jumps_back,
    leaves_unbound,
    literal,
    loops_around,
    range_of,
)
from counterlens.python.mutations.if_else_flip import always_leaves
from counterlens.python.mutations.module import Module, block_indent
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.variables import ScopeKind

_DEEPEST = 3
"""Number of loops around a loop that is refused: each one that is unrolled doubles what is inside."""
_TIGHT = (cst.Name, cst.Call, cst.Attribute, cst.Subscript)
_ITERATION = ("iter", "next", "object")


class PartialUnroll(PythonMutation):
    """Unroll a loop once, so that each round runs the body twice.

    Between the two copies stands what would come between two rounds: the condition of a `while`, the next
    number of a `for` over a range, or the next item of any other `for`. All of it is evaluated as often, and
    in the same order, as before, so `break`, `continue`, `yield` and exceptions do the same. A loop with an
    `else` is refused, because it would be skipped.
    """

    id = "partial-unroll"
    concept = Concept.CONTROL_FLOW
    source = "Orvalho and Kwiatkowska 2026, loop unrolling"
    types = (cst.For, cst.While)
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            while a < b:  # still
                if f(a): continue
                a += 1
            """,
            after="""
            while a < b:  # still
                if f(a): continue
                a += 1
                if not (a < b):
                    break
                if f(a): continue
                a += 1
            """,
        ),
        Example(
            before="""
            def f(n):
                for i in range(n):
                    g(i)
                return i
            """,
            after="""
            def f(n):
                for i in range(0, n, 2):
                    g(i)
                    if i + 1 >= n:
                        break
                    i += 1
                    g(i)
                return i
            """,
        ),
        Example(
            before="""
            def f(xs):
                for a, b in xs:
                    g(a, b)
            """,
            after="""
            def f(xs):
                items, end = iter(xs), object()
                for a, b in items:
                    g(a, b)
                    if (item := next(items, end)) is end:
                        break
                    a, b = item
                    g(a, b)
            """,
        ),
        Example(before="while f():\n    g()\nelse:\n    h()\n", refused="`else`"),
        Example(before="while f():\n    g()\n    break\n", refused="never goes round again"),
        Example(before="def f():\n    while g():\n        global x\n        x = 1\n", refused="`global`"),
        Example(before="for i in range(3):\n    f(i)\n", refused="visible from outside"),
    )

    def site(self, context: PythonContext, node: cst.For | cst.While) -> Site | SiteRefused | None:
        module = context.module
        reason = _why_not(module, node)
        if reason is not None:
            return SiteRefused(module.start(node), reason)
        if isinstance(node, cst.While):
            return _unroll_while(module, node)
        counted = range_of(module, node)
        if counted is not None and _counts_alone(module, node, counted):
            return _unroll_range(module, node, counted)
        if any(module.scopes.hides(name, module.scope_of(node)) for name in _ITERATION):
            return SiteRefused(module.start(node), "`iter`, `next` or `object` may mean something else here")
        return _unroll_iteration(module, node)


def _why_not(module: Module, node: cst.For | cst.While) -> str | None:
    if not isinstance(node.body, cst.IndentedBlock):
        return "its body is on the line of its header"
    if node.orelse is not None:
        return "its `else` would be skipped when the second copy is left"
    if always_leaves(node.body):
        return "its body ends in a jump, so it never goes round again"
    if len(loops_around(module, node)) >= _DEEPEST:
        return f"it is inside {_DEEPEST} loops, and each one doubles the code inside"
    if _declares(module, node):
        return "a `global` or `nonlocal` in its body would stand after a use of the name"
    if isinstance(node, cst.While):
        return None
    if node.asynchronous is not None:
        return "it is asynchronous"
    if module.scope_of(node).kind is not ScopeKind.FUNCTION:
        return "a new variable of a module or class would be visible from outside"
    return None


def _declares(module: Module, node: cst.For | cst.While) -> bool:
    """Whether a body has a declaration of the scope of the loop, which must precede all uses of a name."""
    first, last = module.span(node.body)
    return any(
        first <= module.start(declaration) < last and module.scope_of(declaration) is module.scope_of(node)
        for declaration in (*module.nodes(cst.Global), *module.nodes(cst.Nonlocal))
    )


def _unroll_while(module: Module, node: cst.While) -> Site:
    test = Slice(*module.outer(node.test))
    bare = bool(node.test.lpar) or isinstance(node.test, _TIGHT)
    between: tuple[Piece, ...] = ("not ", test) if bare else ("not (", test, ")")
    endless = isinstance(node.test, cst.Name) and node.test.value == "True"
    if endless or literal(node.test):  # nothing is evaluated there, and it never ends the loop
        between = ()
    return Site(
        span=module.span(node),
        description="unrolled the `while` once: each round has its body twice",
        edits=(_copy(module, node, between, ()),),
    )


def _counts_alone(module: Module, node: cst.For, counted: Range) -> bool:
    """Whether only the loop sets its variable, and every round ends at the end of the body."""
    variable = module.scopes.variable(node.target)
    if variable is None or variable.shared or jumps_back(node.body):
        return False
    # A stop that is evaluated before the loop must not come before a start that may do something.
    simple = counted.stop_is_fixed(module, node) or counted.starts_literally
    return simple and leaves_unbound(module, variable, node.body)


def _unroll_range(module: Module, node: cst.For, counted: Range) -> Site:
    name, newline, indent = module.text(module.span(node.target)), module.newline, module.indentation(node)
    sign, over = ("+", ">=") if counted.by > 0 else ("-", "<=")
    before: list[Edit] = []
    stop = counted.stop
    if not counted.stop_is_fixed(module, node):
        variable = module.free_name("stop", len(loops_around(module, node)))
        at = module.start(node)
        before = [Edit(at, at, (f"{variable} = ", *stop, f"{newline}{indent}"))]
        stop = (variable,)
    numbers = ("range(", *counted.start, ", ", *stop, f", {2 * counted.by})")
    ended = (f"{name} {sign} {abs(counted.by)} {over} ", *stop)
    return Site(
        span=module.span(node),
        description=f"unrolled the `for` over `{name}` once: each round has its body for two numbers",
        edits=(
            *before,
            Edit(*module.outer(node.iter), numbers),
            _copy(module, node, ended, (f"{name} {counted.step}",)),
        ),
        assumptions=(INTEGER_RANGE,),
    )


def _unroll_iteration(module: Module, node: cst.For) -> Site:
    depth = len(loops_around(module, node))
    items, item, end = (module.free_name(name, depth) for name in ("items", "item", "end"))
    target = Slice(*module.outer(node.target))
    opening = (f"{items}, {end} = iter(", *iterable(module, node), "), object()")
    header = (*opening, f"{module.newline}{module.indentation(node)}for ", target, f" in {items}")
    ended = (f"({item} := next({items}, {end})) is {end}",)
    return Site(
        span=module.span(node),
        description=f"unrolled the `for` over `{module.text(module.outer(node.target))}` once: each round "
        "has its body for two items",
        edits=(
            Edit(module.start(node), module.outer(node.iter)[1], header),
            _copy(module, node, ended, (target, f" = {item}")),
        ),
        assumptions=(ITERATOR_PROTOCOL, OBJECT_LIFETIME),
    )


def _copy(
    module: Module, node: cst.For | cst.While, ended: tuple[Piece, ...], advance: tuple[Piece, ...]
) -> Edit:
    """The insertion of what comes between two rounds, and of the body again.

    Args:
        ended: The condition that ends the loop there; empty if it never ends there.
        advance: The statement that makes the next value; empty if there is none.
    """
    block = cst.ensure_type(node.body, cst.IndentedBlock)
    first, last = module.end(block.header), module.suite(block)[1]
    newline, unit = module.newline, block_indent(module, block)
    deep = module.indentation(node) + unit
    pieces: list[Piece] = [newline]
    if ended:
        pieces += [f"{deep}if ", *ended, f":{newline}{deep}{unit}break{newline}"]
    if advance:
        pieces += [deep, *advance, newline]
    return Edit(last, last, (*pieces, Slice(first, last)))
