"""Side-effect analysis: the variables, objects, exceptions and jumps that code can affect.

Lowering rules, from the strongest:

- A call of anything except a known builtin or method is opaque: it may run any code.
- Iteration over a possible iterator consumes it, which is a write to an object.
- A store to an attribute or subscript, `+=` on what may be mutable, and methods such as `append` write to an
  object; objects are not distinguished, so one write conflicts with every read of any object.
- Operators, attribute and subscript reads, and non-mutating methods of built-in classes read objects and
  may raise. That their implementations have no side effects is assumed (`pure-operators`).

Effects of expressions except calls and comprehensions.
"""

from __future__ import annotations

import libcst as cst

from counterlens.mutations import effect_calls
from counterlens.mutations.acting_reads import (
    ARITHMETIC,
    ATTRIBUTE,
    COMPARISON,
    KEYS,
    MEMBERSHIP,
    STORE,
    SUBSCRIPT,
    TEXT,
)
from counterlens.mutations.children import children
from counterlens.mutations.effect_calls import iterates
from counterlens.mutations.effect_rules import EffectAnalysis, Rules, compound
from counterlens.mutations.effects import Heap, SideEffects
from counterlens.mutations.kinds import ValueKind
from counterlens.mutations.known_code import PURE_BUILTINS, QUIET_IMPORTS
from counterlens.mutations.module import Module
from counterlens.mutations.variables import Role


def name(analysis: EffectAnalysis, node: cst.Name, to: SideEffects) -> None:
    """Add the effects of reading or binding a name."""
    occurrence = analysis.module.scopes.occurrence.get(node)
    if occurrence is None or occurrence.variable is None:
        to.raises |= analysis.module.scopes.builtin(node) not in PURE_BUILTINS
        return
    variable = occurrence.variable
    if variable.scope is analysis.module.scopes.module and analysis.unseen.exposes_module:
        to.touches(Heap.READ if occurrence.role is Role.USE else Heap.WRITE)
    if occurrence.role not in {Role.BIND, Role.IMPORT, Role.DEFINE}:
        to.reads.add(variable)
        to.raises |= not analysis.bound.at(occurrence)
    if occurrence.role is not Role.USE:
        to.writes.add(variable)


def make_function(analysis: EffectAnalysis, node: cst.Lambda | cst.FunctionDef, to: SideEffects) -> None:
    """Add the effects of creating a function: it reads what it captures, so later writes must stay later."""
    inner = analysis.module.scopes.of_node[node]
    for scope in inner.inside():
        for occurrence in scope.occurrences:
            if occurrence.variable is not None and occurrence.variable.scope is not scope:
                to.reads.add(occurrence.variable)
    analysis.parts(node.params, to)
    for variable in inner.variables.values():
        to.writes.discard(variable)


def _nothing(analysis: EffectAnalysis, node: cst.CSTNode, to: SideEffects) -> None:
    """A literal or `pass`: no effects."""


def operator(analysis: EffectAnalysis, node: cst.CSTNode, to: SideEffects) -> None:
    """Add the effects of an operator, subscript or format, which the operands' classes implement."""
    analysis.parts(node, to)
    operands = [child for child in children(node) if isinstance(child, cst.BaseExpression)]
    if not isinstance(node, cst.Subscript) and all(analysis.kinds.of(o) <= ValueKind.ATOM for o in operands):
        to.raises |= not isinstance(node, cst.FormattedStringExpression) and not _never_raises(
            node, all(analysis.kinds.of(operand) is ValueKind.NUMBER for operand in operands)
        )
        return
    if isinstance(node, cst.Subscript):
        analysis.operate(to, SUBSCRIPT, [node.value])
        if analysis.acting.inserts and analysis.kinds.of(node.value) is ValueKind.UNKNOWN:
            to.opaque |= analysis.acting.inserts_by_call
            to.touches(Heap.WRITE)
    elif isinstance(node, cst.Assert):
        analysis.test(node.test, to)
        to.raises = True
    else:
        analysis.operate(
            to, TEXT if isinstance(node, cst.FormattedStringExpression) else ARITHMETIC, operands
        )


def _attribute(analysis: EffectAnalysis, node: cst.Attribute, to: SideEffects) -> None:
    analysis.add(node.value, to)
    analysis.operate(to, ATTRIBUTE)
    if node.attr.value in analysis.acting.properties:
        to.opaque = True
        to.touches(Heap.WRITE)


def _is(analysis: EffectAnalysis, node: cst.Comparison, to: SideEffects) -> None:
    if all(isinstance(target.operator, cst.Is | cst.IsNot) for target in node.comparisons) or all(
        analysis.kinds.of(side) is ValueKind.NUMBER
        for side in (node.left, *(target.comparator for target in node.comparisons))
    ):
        analysis.parts(node, to)
        return
    analysis.parts(node, to)
    left = node.left
    for target in node.comparisons:
        right = target.comparator
        if isinstance(target.operator, cst.In | cst.NotIn):
            analysis.operate(to, MEMBERSHIP, [right, left])
            if analysis.acting.consumes(right):
                to.touches(Heap.WRITE)
        elif not isinstance(target.operator, cst.Is | cst.IsNot):
            analysis.operate(to, COMPARISON, [left, right])
        left = right


def _unary(analysis: EffectAnalysis, node: cst.UnaryOperation, to: SideEffects) -> None:
    analysis.add(node.expression, to)
    if isinstance(node.operator, cst.Not):
        analysis.test(node.expression, to)
    elif analysis.kinds.of(node.expression) is not ValueKind.NUMBER:
        analysis.operate(to, ARITHMETIC, [node.expression])


def _boolean(analysis: EffectAnalysis, node: cst.BooleanOperation, to: SideEffects) -> None:
    analysis.parts(node, to)
    analysis.test(node.left, to)


def _conditional(analysis: EffectAnalysis, node: cst.IfExp, to: SideEffects) -> None:
    analysis.parts(node, to)
    analysis.test(node.test, to)


def _display(
    analysis: EffectAnalysis, node: cst.List | cst.Tuple | cst.Set | cst.Dict, to: SideEffects
) -> None:
    analysis.parts(node, to)
    if isinstance(node, cst.Set | cst.Dict):
        literal = all(
            isinstance(getattr(e, "key", getattr(e, "value", None)), cst.Integer | cst.SimpleString)
            for e in node.elements
        )
        if not literal:
            touched = to.heap
            analysis.operate(to, KEYS)
            to.heap = max(touched, Heap.WRITE if to.opaque else touched)


def _starred(
    analysis: EffectAnalysis, node: cst.StarredElement | cst.StarredDictElement, to: SideEffects
) -> None:
    analysis.add(node.value, to)
    iterates(analysis, node.value, to)


def _never_raises(node: cst.CSTNode, numbers: bool) -> bool:
    quiet = (cst.Add, cst.Subtract, cst.Multiply)
    return numbers and isinstance(node, cst.BinaryOperation) and isinstance(node.operator, quiet)


EXPRESSION_RULES: Rules = {
    **dict.fromkeys(
        (cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.Ellipsis, cst.FormattedStringText,
         cst.ParamStar, cst.ParamSlash),
        _nothing,
    ),
    **dict.fromkeys(
        (cst.ConcatenatedString, cst.FormattedString, cst.Element,
         cst.DictElement, cst.NamedExpr, cst.Slice, cst.Parameters),
        compound,
    ),
    **dict.fromkeys((cst.BinaryOperation, cst.Subscript, cst.FormattedStringExpression), operator),
    **dict.fromkeys((cst.List, cst.Tuple, cst.Set, cst.Dict), _display),
    **dict.fromkeys((cst.StarredElement, cst.StarredDictElement), _starred),
    cst.Name: name,
    cst.Attribute: _attribute,
    cst.Comparison: _is,
    cst.UnaryOperation: _unary,
    cst.BooleanOperation: _boolean,
    cst.IfExp: _conditional,
    cst.Lambda: make_function,
}  # fmt: skip


def _assign(analysis: EffectAnalysis, node: cst.Assign, to: SideEffects) -> None:
    analysis.add(node.value, to)
    for target in node.targets:
        _target(analysis, target.target, node.value, to)


def _annotated(analysis: EffectAnalysis, node: cst.AnnAssign, to: SideEffects) -> None:
    """An annotated assignment; the annotation of a local variable is never evaluated."""
    if node.value is not None:
        analysis.add(node.value, to)
    _target(analysis, node.target, node.value, to)
    if not isinstance(node.target, cst.Name):
        analysis.add(node.annotation, to)


def _augmented(analysis: EffectAnalysis, node: cst.AugAssign, to: SideEffects) -> None:
    analysis.add(node.value, to)
    _target(analysis, node.target, None, to)
    variable = analysis.module.scopes.variable(node.target)
    kind = analysis.kinds.variable(variable) if variable is not None else ValueKind.UNKNOWN
    if kind <= ValueKind.ATOM:
        quiet = isinstance(node.operator, cst.AddAssign | cst.SubtractAssign | cst.MultiplyAssign)
        to.raises |= not (quiet and kind is ValueKind.NUMBER)
        return
    analysis.operate(to, ARITHMETIC, [node.target, node.value])
    to.touches(Heap.WRITE)


def _target(
    analysis: EffectAnalysis, node: cst.CSTNode, value: cst.BaseExpression | None, to: SideEffects
) -> None:
    if isinstance(node, cst.Name):
        name(analysis, node, to)
    elif isinstance(node, cst.Tuple | cst.List):
        same = isinstance(value, cst.Tuple | cst.List) and len(value.elements) == len(node.elements)
        if not same and value is not None:
            iterates(analysis, value, to)
        for element in node.elements:
            _target(analysis, element.value, None, to)
    else:  # an attribute or subscript
        analysis.parts(node, to)
        analysis.operate(to, STORE)
        to.opaque |= isinstance(node, cst.Attribute) and node.attr.value in analysis.acting.properties
        to.touches(Heap.WRITE)


def _for(analysis: EffectAnalysis, node: cst.For, to: SideEffects) -> None:
    _target(analysis, node.target, None, to)
    analysis.add(node.iter, to)
    iterates(analysis, node.iter, to)
    _loop(analysis, node, to)
    to.yields |= node.asynchronous is not None


def _while(analysis: EffectAnalysis, node: cst.While, to: SideEffects) -> None:
    analysis.add(node.test, to)
    analysis.test(node.test, to)
    _loop(analysis, node, to)
    to.raises = True  # it may not terminate


def _if(analysis: EffectAnalysis, node: cst.If, to: SideEffects) -> None:
    analysis.parts(node, to)
    analysis.test(node.test, to)


def _loop(analysis: EffectAnalysis, node: cst.For | cst.While, to: SideEffects) -> None:
    body = SideEffects()
    analysis.add(node.body, body)
    body.jumps = False  # a jump in the body leaves this loop at most
    to.include(body)
    if node.orelse is not None:
        analysis.add(node.orelse, to)


def _jump(_analysis: EffectAnalysis, _: cst.Break | cst.Continue, to: SideEffects) -> None:
    to.jumps = True


def _exit(analysis: EffectAnalysis, node: cst.Return | cst.Raise, to: SideEffects) -> None:
    analysis.parts(node, to)
    to.exits = True
    to.raises |= isinstance(node, cst.Raise)


def _import(analysis: EffectAnalysis, node: cst.Import | cst.ImportFrom, to: SideEffects) -> None:
    names: list[cst.BaseExpression] = []
    if isinstance(node, cst.Import):
        names = [alias.name for alias in node.names]
    elif node.module is not None and not node.relative and not isinstance(node.names, cst.ImportStar):
        names = [node.module]
    roots = [analysis.module.text(analysis.module.span(name)).split(".")[0] for name in names]
    if not roots or not all(root in QUIET_IMPORTS for root in roots):
        to.opaque = to.raises = True
    if not isinstance(node, cst.Import | cst.ImportFrom) or isinstance(node.names, cst.ImportStar):
        to.yields = True
        return
    for alias in node.names:
        _imported(analysis, alias, to)


def _imported(analysis: EffectAnalysis, alias: cst.ImportAlias, to: SideEffects) -> None:
    bound: cst.CSTNode = alias.asname.name if alias.asname is not None else alias.name
    while isinstance(bound, cst.Attribute):
        bound = bound.value
    name(analysis, cst.ensure_type(bound, cst.Name), to)


def _define(analysis: EffectAnalysis, node: cst.FunctionDef, to: SideEffects) -> None:
    name(analysis, node.name, to)
    make_function(analysis, node, to)
    if node.decorators:
        to.opaque = to.raises = True


RULES: Rules = {
    **dict.fromkeys(
        (cst.Pass, cst.Expr, cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.IndentedBlock, cst.Else,
         cst.Try),
        compound,
    ),
    **dict.fromkeys((cst.Import, cst.ImportFrom), _import),
    **dict.fromkeys((cst.Break, cst.Continue), _jump),
    **dict.fromkeys((cst.Return, cst.Raise), _exit),
    cst.Assert: operator,
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.If: _if,
    cst.For: _for,
    cst.While: _while,
    cst.FunctionDef: _define,
}  # fmt: skip


_RULES: Rules = {**EXPRESSION_RULES, **effect_calls.RULES, **RULES}


def effects_in(module: Module) -> EffectAnalysis:
    """A side-effect analysis of the statements and expressions of a module."""
    return EffectAnalysis(module, _RULES)
