"""The context of a Python mutation with its analysis of side effects, and its base class.

The analysis gives the variables, objects, exceptions and jumps that code can affect.

Lowering rules, from the strongest:

- A call of anything except a known builtin or method is opaque: it may run any code.
- Iteration over a possible iterator consumes it, which is a write to an object.
- A store to an attribute or subscript, `+=` on what may be mutable, and methods such as `append` write to an
  object; objects are not distinguished, so one write conflicts with every read of any object.
- Operators, attribute and subscript reads, and non-mutating methods of built-in classes read objects and
  may raise. That their implementations have no side effects is assumed (`pure-operators`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from counterlens.mutations.mutation import Mutation
from counterlens.python.mutations import effect_expressions
from counterlens.python.mutations.acting_reads import ARITHMETIC, STORE
from counterlens.python.mutations.effect_expressions import iterates, make_function, name, operator
from counterlens.python.mutations.effect_rules import EffectAnalysis, Heap, Rules, SideEffects
from counterlens.python.mutations.kinds import QUIET_IMPORTS, ValueKind
from counterlens.python.mutations.module import Module


@dataclass(frozen=True)
class PythonContext:
    """A Python file and the random seed; its analyses are computed once for all mutations."""

    module: Module
    seed: int = 0

    @cached_property
    def effects(self) -> EffectAnalysis:
        """The side-effect analysis of the file."""
        return EffectAnalysis(self.module, _RULES)


class PythonMutation(Mutation[PythonContext]):
    """One way to perturb one concept of Python."""


def _assign(analysis: EffectAnalysis, node: cst.Assign, to: SideEffects) -> None:
    analysis.add(node.value, to)
    for target in node.targets:
        _target(analysis, target.target, node.value, to)


def _annotated_assignment(analysis: EffectAnalysis, node: cst.AnnAssign, to: SideEffects) -> None:
    """An annotated assignment; the annotation of a local variable is never evaluated."""
    if node.value is not None:
        analysis.add(node.value, to)
    _target(analysis, node.target, node.value, to)
    if not isinstance(node.target, cst.Name):
        analysis.add(node.annotation, to)


def _augmented_assignment(analysis: EffectAnalysis, node: cst.AugAssign, to: SideEffects) -> None:
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
        _import_alias(analysis, alias, to)


def _import_alias(analysis: EffectAnalysis, alias: cst.ImportAlias, to: SideEffects) -> None:
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
        EffectAnalysis.parts,
    ),
    **dict.fromkeys((cst.Import, cst.ImportFrom), _import),
    **dict.fromkeys((cst.Break, cst.Continue), _jump),
    **dict.fromkeys((cst.Return, cst.Raise), _exit),
    cst.Assert: operator,
    cst.Assign: _assign,
    cst.AnnAssign: _annotated_assignment,
    cst.AugAssign: _augmented_assignment,
    cst.If: _if,
    cst.For: _for,
    cst.While: _while,
    cst.FunctionDef: _define,
}  # fmt: skip


_RULES: Rules = {**effect_expressions.RULES, **effect_expressions.CALL_RULES, **RULES}
