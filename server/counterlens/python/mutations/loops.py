"""`for-while-convert` and `loop-unroll`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import libcst as cst

from counterlens.mutations.base import INTEGER_RANGE, OBJECT_LIFETIME, OBSERVED_INPUT, Concept
from counterlens.mutations.edits import Edit, Piece, Slice, dedenting, insert, replace
from counterlens.mutations.mutation import Example, Site, SiteRefused
from counterlens.python.mutations.counting import (
    Counting,
    Range,
    counting_while,
    iterable,
    jumps_back,
    leaves_unbound,
    loops_around,
    own_parts,
    range_of,
)
from counterlens.python.mutations.module import Module, block_indent
from counterlens.python.mutations.mutation import PythonContext, PythonMutation
from counterlens.python.mutations.variables import Scope, ScopeKind


class ForWhileConvert(PythonMutation):
    """Write a `for` as a `while`, and a counting `while` as a `for` over a range.

    `for i in range(n)` becomes a `while` that counts `i`, or a new variable if other code needs the loop
    variable (a `continue`, a use after the loop). Any other `for` becomes a `while` over an iterator.
    `break`, `continue`, `else` and the loop variable's value after the loop are kept. The mutation applies
    only in functions, because new variables are not visible outside them.
    """

    id = "for-while-convert"
    concept = Concept.CONTROL_FLOW
    source = "Nguyen et al. 2024, Table 1"
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(
            before="""
            def f(n):
                for i in range(n):  # up
                    g(i)
                else:
                    h()
            """,
            after="""
            def f(n):
                i = 0
                while i < n:  # up
                    g(i)
                    i += 1
                else:
                    h()
            """,
        ),
        Example(
            before="""
            def f(xs):
                for i in range(len(xs), 0, -2):
                    if xs[i]: continue
                    xs.pop()
                return i
            """,
            after="""
            def f(xs):
                index = len(xs)
                while index > 0:
                    i = index
                    index -= 2
                    if xs[i]: continue
                    xs.pop()
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
                while (item := next(items, end)) is not end:
                    a, b = item
                    g(a, b)
            """,
        ),
        Example(
            before="""
            def f(xs):
                i = 1
                while i <= 10:
                    g(i)
                    i += 2
            """,
            after="""
            def f(xs):
                for i in range(1, 10 + 1, 2):
                    g(i)
            """,
        ),
        Example(before="def f(x):\n    while x:\n        x = g(x)\n", refused="does not count"),
        Example(before="for i in range(3):\n    f(i)\n", refused="visible from outside"),
        Example(before="def f(xs):\n    for x in xs: g(x)\n", refused="on the line of its header"),
    )

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        for node in context.module.nodes(cst.For):
            yield self._unless_unsafe(context.module, node) or _for_to_while(context, node)
        for loop in context.module.nodes(cst.While):
            yield self._unless_unsafe(context.module, loop) or _while_to_for(context.module, loop)

    @staticmethod
    def _unless_unsafe(module: Module, node: cst.For | cst.While) -> SiteRefused | None:
        start = module.start(node)
        scope = module.scope_of(node)
        if scope.kind is not ScopeKind.FUNCTION:
            return SiteRefused(start, "a new variable of a module or class would be visible from outside")
        if not isinstance(node.body, cst.IndentedBlock):
            return SiteRefused(start, "its body is on the line of its header")
        if isinstance(node, cst.For) and node.asynchronous is not None:
            return SiteRefused(start, "it is asynchronous")
        return None


def _for_to_while(context: PythonContext, node: cst.For) -> Site | SiteRefused:
    module = context.module
    scope = module.scope_of(node)
    counted = range_of(module, node)
    if counted is None:
        return _ask_iterator(module, node, scope)
    if _plain_counter(module, node, counted):
        return _count_itself(module, node, counted)
    return _count_apart(module, node, counted)


def _plain_counter(module: Module, node: cst.For, counted: Range) -> bool:
    """Whether the loop variable can be the counter: no other code sets it or uses it after the loop."""
    variable = module.scopes.variable(node.target)
    if variable is None or variable.shared or jumps_back(node.body):
        return False
    first, last = module.span(node)
    if any(not first <= module.start(o.node) < last for o in variable.occurrences):
        return False
    if node.orelse is not None and any(
        module.start(node.orelse) <= module.start(o.node) for o in variable.occurrences
    ):
        return False
    return leaves_unbound(module, variable, node.body) and counted.stop_is_fixed(module, node)


def _count_itself(module: Module, node: cst.For, counted: Range) -> Site:
    name = module.text(module.span(node.target))
    newline, indent = module.newline, module.indentation(node)
    block = cst.ensure_type(node.body, cst.IndentedBlock)
    deep = indent + block_indent(module, block)
    end = module.suite(block)[1]
    header = (
        name,
        " = ",
        *counted.start,
        f"{newline}{indent}while {name} {counted.operator} ",
        *counted.stop,
    )
    return Site(
        span=module.span(node),
        description=f"wrote the `for` over `{name}` as a `while` that counts it",
        edits=(
            Edit(module.start(node), _header_end(module, node), header),
            insert(end, f"{newline}{deep}{name} {counted.step}"),
        ),
        assumptions=(INTEGER_RANGE,),
    )


def _count_apart(module: Module, node: cst.For, counted: Range) -> Site:
    """Count in a new variable, and set the loop variable from it at the start of each iteration."""
    depth = _depth(module, node)
    index, stop = module.free_name("index", depth), module.free_name("stop", depth)
    newline, indent = module.newline, module.indentation(node)
    header: list[Piece] = [index, " = ", *counted.start]
    bound: tuple[Piece, ...] = counted.stop
    if not counted.stop_is_fixed(module, node):
        header += [f"{newline}{indent}{stop} = ", *counted.stop]
        bound = (stop,)
    header += [f"{newline}{indent}while {index} {counted.operator} ", *bound]
    block = cst.ensure_type(node.body, cst.IndentedBlock)
    deep = indent + block_indent(module, block)
    target = module.outer(node.target)
    opening: tuple[Piece, ...] = (
        deep,
        Slice(*target),
        f" = {index}{newline}{deep}{index} {counted.step}{newline}",
    )
    first = module.end(block.header)
    return Site(
        span=module.span(node),
        description=f"wrote the `for` over `{module.text(target)}` as a `while` that counts `{index}`",
        edits=(
            Edit(module.start(node), _header_end(module, node), tuple(header)),
            Edit(first, first, opening),
        ),
        assumptions=(INTEGER_RANGE,),
    )


def _ask_iterator(module: Module, node: cst.For, scope: Scope) -> Site | SiteRefused:
    if any(module.scopes.hides(name, scope) for name in ("iter", "next", "object")):
        return SiteRefused(module.start(node), "`iter`, `next` or `object` may mean something else here")
    depth = _depth(module, node)
    items, item, end = (module.free_name(name, depth) for name in ("items", "item", "end"))
    newline, indent = module.newline, module.indentation(node)
    block = cst.ensure_type(node.body, cst.IndentedBlock)
    deep = indent + block_indent(module, block)
    target = module.outer(node.target)
    header = (
        f"{items}, {end} = iter(",
        *iterable(module, node),
        f"), object(){newline}{indent}while ({item} := next({items}, {end})) is not {end}",
    )
    first = module.end(block.header)
    return Site(
        span=module.span(node),
        description=f"wrote the `for` over `{module.text(target)}` as a `while` that calls an iterator",
        edits=(
            Edit(module.start(node), _header_end(module, node), header),
            Edit(first, first, (deep, Slice(*target), f" = {item}{newline}")),
        ),
        assumptions=(OBJECT_LIFETIME,),
    )


def _while_to_for(module: Module, node: cst.While) -> Site | SiteRefused:
    loop = counting_while(module, node)
    if isinstance(loop, str):
        return SiteRefused(module.start(node), loop)
    return _range_over(module, node, loop)


def _range_over(module: Module, node: cst.While, counting: Counting) -> Site:
    name = counting.name
    beyond = f" {'+' if counting.step > 0 else '-'} 1" if counting.inclusive else ""
    stop: tuple[Piece, ...] = (Slice(*counting.stop), beyond)
    begin: tuple[Piece, ...] = (Slice(*counting.start), ", ")
    if counting.step == 1 and module.text(counting.start) == "0":
        begin = ()
    step = f", {counting.step}" if counting.step != 1 else ""
    header = (f"for {name} in range(", *begin, *stop, f"{step})")
    return Site(
        span=(counting.removed[0][0], module.end(node)),
        description=f"wrote the `while` that counts `{name}` as a `for` over a range",
        edits=(
            *(replace(*removed, "") for removed in counting.removed),
            Edit(module.start(node), module.outer(node.test)[1], header),
        ),
        assumptions=(INTEGER_RANGE,),
    )


def _header_end(module: Module, node: cst.For) -> int:
    """The offset where a `for`'s header ends, before its colon and any blanks in front of it."""
    return module.outer(node.iter)[1]


def _depth(module: Module, node: cst.CSTNode) -> int:
    """Number of `for` loops around a loop in its function: nested loops need separate variables."""
    return sum(isinstance(loop, cst.For) for loop in loops_around(module, node))


@dataclass(frozen=True, slots=True)
class Rounds:
    """The observed execution of a loop.

    Attributes:
        count: Number of complete runs of its body.
        values: For a `for`, the values of its target in order, as Python literals.
        entries: Number of times the loop was entered; only a loop entered once can be unrolled.
    """

    count: int
    values: tuple[str, ...] = ()
    entries: int = 1


@dataclass(eq=False)
class LoopUnroll(PythonMutation):
    """Replace a loop by its body, repeated as often as it ran for one observed input.

    It preserves the behaviour for that input only, so it needs the observation:
    `LoopUnroll({line: Rounds(...)})`. Each iteration of a `for` begins by binding the target to its value,
    and each iteration of a `while` drops the condition. Loops with `break` or `continue`, and loops that are
    entered more than once, are refused.
    """

    id = "loop-unroll"
    concept = Concept.CONTROL_FLOW
    source = "Liu et al. 2024, Table IV"
    needs_observation = True
    EXAMPLES: ClassVar[tuple[Example, ...]] = (
        Example(before="def f(xs):\n    for x in xs:\n        g(x)\n", refused="no execution"),
    )

    observed: Mapping[int, Rounds] = field(default_factory=dict)
    """Executions by the 1-based line of the loop."""
    limit: int = 200
    """Maximum number of iterations."""

    def sites(self, context: PythonContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for node in (*module.nodes(cst.For), *module.nodes(cst.While)):
            assert isinstance(node, cst.For | cst.While)
            rounds = self.observed.get(module.line(module.start(node)))
            reason = self._refusal(context, node, rounds)
            if reason is not None or rounds is None:
                yield SiteRefused(module.start(node), reason or "")
            else:
                yield _site(module, node, rounds)

    def _refusal(
        self, context: PythonContext, node: cst.For | cst.While, rounds: Rounds | None
    ) -> str | None:
        if rounds is None:
            return "no execution of this loop was observed"
        if rounds.entries != 1:
            return f"the loop was entered {rounds.entries} times"
        if rounds.count > self.limit:
            return f"the loop ran {rounds.count} iterations, more than {self.limit}"
        if not isinstance(node.body, cst.IndentedBlock):
            return "its body is on the line of its header"
        if any(isinstance(part, cst.Break | cst.Continue) for part in own_parts(node.body)):
            return "a `break` or `continue` needs the loop"
        if isinstance(node, cst.For):
            if len(rounds.values) != rounds.count:
                return "the values of the loop variable are not all known"
            return None if node.asynchronous is None else "it is asynchronous"
        effects = context.effects.of(node.test)
        return None if effects.inert and not effects.writes else "its condition has side effects"


def _site(module: Module, node: cst.For | cst.While, rounds: Rounds) -> Site:
    start, _ = module.span(node)
    base, newline = module.indentation(node), module.newline
    bodies = [node.body] if node.orelse is None else [node.body, node.orelse.body]
    dedents: list[Edit] = []
    texts: list[tuple[int, int]] = []
    for suite in bodies:
        block = cst.ensure_type(suite, cst.IndentedBlock)
        first, last = module.end(block.header), module.suite(block)[1]
        dedents += dedenting(module, first, last, base, block_indent(module, block))
        texts.append((first, last))
    pieces: list[Piece] = []
    for number in range(rounds.count):
        if isinstance(node, cst.For):
            target = Slice(*module.outer(node.target))
            pieces += [base if pieces else "", target, f" = {rounds.values[number]}{newline}"]
        pieces += [Slice(*texts[0]), newline]
    if node.orelse is not None:
        pieces += [Slice(*texts[1]), newline]
    if not pieces:
        pieces = ["pass", newline]
    pieces.pop()  # the last line keeps its original line end
    begins = start if isinstance(node, cst.For) and rounds.count else module.line_start(start)
    if not rounds.count and node.orelse is None:
        begins = start
    return Site(
        span=module.span(node),
        description=f"unrolled the loop, which ran {rounds.count} iterations for the observed input",
        edits=(Edit(begins, texts[-1][1], tuple(pieces)), *dedents),
        assumptions=(OBSERVED_INPUT,),
        sole=True,
    )
