"""Counting loops: a `for` over a range, or a `while` with a counter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from counterlens.mutations.edits import Piece, Slice
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.reading import children
from counterlens.python.mutations.variables import Role, Variable

_LOOSE = (cst.IfExp, cst.Lambda, cst.BooleanOperation, cst.Comparison, cst.UnaryOperation)
_BINDS = {Role.BIND, Role.AUGMENT, Role.DELETE, Role.IMPORT, Role.DEFINE}


@dataclass(frozen=True, slots=True)
class Range:
    """The arguments of `range` in a `for`, as pieces of text.

    Attributes:
        stop: The end, exclusive.
        by: The step, not 0.
        bound: The expression of the stop.
        starts_literally: Whether the start is a number in the source.
    """

    start: tuple[Piece, ...]
    stop: tuple[Piece, ...]
    by: int
    bound: cst.BaseExpression
    starts_literally: bool

    @property
    def step(self) -> str:
        """The text after the variable in the statement that advances the counter: `+= 1`."""
        return f"+= {self.by}" if self.by > 0 else f"-= {-self.by}"

    @property
    def operator(self) -> str:
        """The comparison of the counter with the stop that holds while the loop runs."""
        return "<" if self.by > 0 else ">"

    def stop_is_fixed(self, module: Module, node: cst.For) -> bool:
        """Whether the stop has the same value, without side effects, whenever the loop evaluates it."""
        if literal(self.bound) is not None:
            return True
        variable = module.scopes.variable(self.bound)
        if variable is None or variable.shared:
            return False
        target = module.scopes.variable(node.target)
        return variable is not target and leaves_unbound(module, variable, node.body)


def range_of(module: Module, node: cst.For) -> Range | None:
    """The range of a `for name in range(...)`; None for other loops, and if the direction is unknown."""
    call = node.iter
    if not isinstance(node.target, cst.Name) or not isinstance(call, cst.Call):
        return None
    if module.scopes.builtin(call.func) != "range" or call.lpar or not 1 <= len(call.args) <= 3:
        return None
    if any(argument.star or argument.keyword is not None for argument in call.args):
        return None
    values = [argument.value for argument in call.args]
    if any(isinstance(value, cst.NamedExpr | cst.GeneratorExp) for value in values):
        return None
    step = literal(values[2]) if len(values) == 3 else 1
    if not step:
        return None
    bound = values[1] if len(values) > 1 else values[0]
    start: tuple[Piece, ...] = _operand(module, values[0]) if len(values) > 1 else ("0",)
    return Range(
        start=start,
        stop=_operand(module, bound),
        by=step,
        bound=bound,
        starts_literally=len(values) == 1 or literal(values[0]) is not None,
    )


@dataclass(frozen=True, slots=True)
class Counting:
    """A `while` that counts a variable from a start by a step to a stop.

    Attributes:
        start: Byte range of its first value.
        stop: Byte range of the value with which it is compared.
        step: The increment.
        inclusive: Whether the loop also runs at the stop itself.
        removed: Byte ranges of the two statements that a `for` does not need.
    """

    name: str
    start: tuple[int, int]
    stop: tuple[int, int]
    step: int
    inclusive: bool
    removed: tuple[tuple[int, int], tuple[int, int]]


def counting_while(module: Module, node: cst.While) -> Counting | str:
    """The range of a `while`, or the reason why it cannot be a `for` over a range."""
    test = node.test
    plain = isinstance(test, cst.Comparison) and len(test.comparisons) == 1 and not test.lpar
    if not plain or not isinstance(test, cst.Comparison) or not isinstance(test.left, cst.Name):
        return "the loop does not count: its condition is not a simple comparison"
    operator, stop = test.comparisons[0].operator, test.comparisons[0].comparator
    up = isinstance(operator, cst.LessThan | cst.LessThanEqual)
    if not up and not isinstance(operator, cst.GreaterThan | cst.GreaterThanEqual):
        return "the loop does not count: its condition is not an ordering comparison"
    variable = module.scopes.variable(test.left)
    if variable is None or variable.shared:
        return "the loop does not count with a local variable of the function"
    opening, closing = _before(module, node), _last(node.body)
    start = _start(module, opening, variable)
    step = _constant_step(module, closing, variable)
    if opening is None or closing is None or start is None or not step or (step > 0) is not up:
        return "the loop does not count: its variable is not set right before it and stepped at its end"
    if jumps_back(node.body):
        return "a `continue` would skip the step"
    reason = _other_uses(module, node, variable, (opening, closing))
    if reason is None and not _is_fixed(module, stop, variable, node):
        reason = "its limit may change"
    if reason is not None:
        return reason
    inclusive = isinstance(operator, cst.LessThanEqual | cst.GreaterThanEqual)
    lines = (_whole_line(module, opening), _whole_line(module, closing))
    return Counting(variable.name, start, module.outer(stop), step, inclusive, lines)


def leaves_unbound(module: Module, variable: Variable, body: cst.BaseSuite) -> bool:
    """Whether no code in a loop's body binds a variable."""
    first, last = module.span(body)
    return not any(o.role in _BINDS and first <= module.start(o.node) < last for o in variable.occurrences)


def jumps_back(body: cst.CSTNode) -> bool:
    """Whether a `continue` in a loop's body belongs to that loop."""
    return any(isinstance(part, cst.Continue) for part in own_parts(body))


def literal(node: cst.BaseExpression) -> int | None:
    """The value of an integer literal, with its sign; None for any other expression."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        value = literal(node.expression)
        return None if value is None else -value
    return int(node.value, 0) if isinstance(node, cst.Integer) else None


def loops_around(module: Module, node: cst.CSTNode) -> list[cst.For | cst.While]:
    """The loops around a node in its function, the innermost first."""
    loops = list[cst.For | cst.While]()
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef | cst.Lambda | cst.ClassDef):
            break
        if isinstance(above, cst.For | cst.While):
            loops.append(above)
    return loops


def iterable(module: Module, node: cst.For) -> tuple[Piece, ...]:
    """What a `for` iterates over, as an argument of a call."""
    whole = Slice(*module.outer(node.iter))
    return ("(", whole, ")") if isinstance(node.iter, cst.Tuple) and not node.iter.lpar else (whole,)


def own_parts(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes of a loop's body, without the bodies of inner loops, functions and classes.

    The `else` of an inner loop is included: a jump in it belongs to the outer loop.
    """
    yield node
    for child in children(node):
        if isinstance(child, cst.For | cst.While):
            if child.orelse is not None:
                yield from own_parts(child.orelse)
        elif not isinstance(child, cst.FunctionDef | cst.ClassDef | cst.BaseExpression):
            yield from own_parts(child)


def _operand(module: Module, node: cst.BaseExpression) -> tuple[Piece, ...]:
    """An expression as the right side of a comparison."""
    whole = Slice(*module.outer(node))
    loose = isinstance(node, _LOOSE) and literal(node) is None
    lines = "\n" in module.text(module.outer(node))  # the brackets around it may have allowed its newlines
    return ("(", whole, ")") if (loose or lines) and not node.lpar else (whole,)


def _before(module: Module, node: cst.While) -> cst.SimpleStatementLine | None:
    block = module.parent(node)
    if not isinstance(block, cst.IndentedBlock):
        return None
    index = list(block.body).index(node)
    return _simple(block.body[index - 1]) if index else None


def _last(body: cst.BaseSuite) -> cst.SimpleStatementLine | None:
    if not isinstance(body, cst.IndentedBlock) or len(body.body) < 2:
        return None
    return _simple(body.body[-1])


def _simple(statement: cst.CSTNode) -> cst.SimpleStatementLine | None:
    alone = isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1
    return statement if alone and isinstance(statement, cst.SimpleStatementLine) else None


def _start(
    module: Module, line: cst.SimpleStatementLine | None, variable: Variable
) -> tuple[int, int] | None:
    assign = line.body[0] if line is not None else None
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or literal(assign.value) is None:
        return None
    return (
        module.outer(assign.value) if module.scopes.variable(assign.targets[0].target) is variable else None
    )


def _constant_step(module: Module, line: cst.SimpleStatementLine | None, variable: Variable) -> int | None:
    count = line.body[0] if line is not None else None
    if not isinstance(count, cst.AugAssign) or module.scopes.variable(count.target) is not variable:
        return None
    value = literal(count.value)
    if value is None or not isinstance(count.operator, cst.AddAssign | cst.SubtractAssign):
        return None
    return value if isinstance(count.operator, cst.AddAssign) else -value


def _other_uses(
    module: Module, node: cst.While, variable: Variable, ours: tuple[cst.CSTNode, cst.CSTNode]
) -> str | None:
    """The reason why a `for` cannot hold the counter: other code sets it, or uses it after the loop."""
    if Role.PARAMETER in variable.roles:
        return "the counter is a parameter"
    first = module.start(ours[0])
    body = module.span(node.body)
    own = [module.span(part) for part in ours]
    for occurrence in variable.occurrences:
        at = module.start(occurrence.node)
        inside = body[0] <= at < body[1] or module.start(node) <= at < module.start(node.body)
        if any(start <= at < end for start, end in own):
            continue
        if not inside:
            return "the counter is used outside the loop" if at != first else None
        if occurrence.role is not Role.USE:
            return "something else sets the counter"
    return None


def _is_fixed(module: Module, stop: cst.BaseExpression, counter: Variable, node: cst.While) -> bool:
    if literal(stop) is not None:
        return True
    variable = module.scopes.variable(stop)
    if variable is None or variable is counter or variable.shared:
        return False
    return leaves_unbound(module, variable, node.body)


def _whole_line(module: Module, line: cst.SimpleStatementLine) -> tuple[int, int]:
    return module.line_start(module.start(line)), module.statement_end(line)
