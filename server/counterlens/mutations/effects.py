"""What running a piece of code can do: which variables, which objects, which exceptions, which jumps.

Lowering rules, from the strongest:

- A call of anything but a known builtin or method is opaque: it may run any code.
- Iterating over what may be an iterator uses it up, which is a write to an object.
- A store to an attribute or subscript, `+=` on what may be mutable, and methods such as `append` write to an
  object; which object is not followed, so one write conflicts with every read of any object.
- Operators, attribute and subscript reads, and methods that built-in classes have and do not mutate, read
  objects and may raise. That their implementations have no side effects is assumed (`pure-operators`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import libcst as cst

from counterlens.mutations.bound import SurelyBound
from counterlens.mutations.children import children
from counterlens.mutations.kinds import Kind, Kinds
from counterlens.mutations.known_code import (
    ITERATING,
    MUTATING_METHODS,
    PURE_BUILTINS,
    PURE_MODULES,
    QUIET_IMPORTS,
    READING_METHODS,
)
from counterlens.mutations.module import Module
from counterlens.mutations.variables import Role, Variable


class Heap(IntEnum):
    """How objects that others may hold are touched."""

    NONE = 0
    READ = 1
    WRITE = 2


@dataclass(slots=True)
class Effects:
    """What a piece of code can do, at most.

    Attributes:
        reads: Variables that it reads.
        writes: Variables that it binds or deletes.
        heap: How it touches objects.
        raises: It may raise, or not end.
        opaque: It may run code that is not known.
        yields: It may hand control to someone else in between (`yield`, `await`), or declares a name.
        jumps: It may `break` or `continue` a loop around it.
        exits: It may `return` or `raise`.
        operators: It relies on operators and known methods to have no side effects.
    """

    reads: set[Variable] = field(default_factory=set)
    writes: set[Variable] = field(default_factory=set)
    heap: Heap = Heap.NONE
    raises: bool = False
    opaque: bool = False
    yields: bool = False
    jumps: bool = False
    exits: bool = False
    operators: bool = False

    @property
    def inert(self) -> bool:
        """Whether nobody can tell that it ran, but by its value and the variables it binds."""
        return not (self.opaque or self.yields or self.jumps or self.exits or self.heap is Heap.WRITE)

    def include(self, other: Effects) -> None:
        """Add all that another piece of code can do."""
        self.reads |= other.reads
        self.writes |= other.writes
        self.heap = max(self.heap, other.heap)
        for flag in ("raises", "opaque", "yields", "jumps", "exits", "operators"):
            setattr(self, flag, getattr(self, flag) or getattr(other, flag))

    def touches(self, heap: Heap) -> None:
        """Note that objects are touched."""
        self.heap = max(self.heap, heap)


_YIELDING = (cst.Yield, cst.Await, cst.Global, cst.Nonlocal)


class EffectAnalysis:
    """The effects of the statements and expressions of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[cst.CSTNode, Effects] = {}
        self._bound = SurelyBound(module)
        self.kinds = Kinds(module)

    def of(self, node: cst.CSTNode) -> Effects:
        """What a statement or expression can do."""
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = Effects()
            self._add(node, known)
        return known

    def _add(self, node: cst.CSTNode, to: Effects) -> None:
        rule = _RULES.get(type(node))
        if rule is not None:
            rule(self, node, to)
        elif isinstance(node, _YIELDING):
            to.yields = to.raises = True
            self._parts(node, to)
        elif isinstance(node, cst.BaseExpression | cst.BaseStatement | cst.BaseSmallStatement):
            to.opaque = to.raises = True  # not one of those that are known to be harmless
            self._parts(node, to)
        else:
            self._parts(node, to)

    def _parts(self, node: cst.CSTNode, to: Effects) -> None:
        for child in children(node):
            self._add(child, to)

    def _nothing(self, node: cst.CSTNode, to: Effects) -> None:
        """A literal, or `pass`."""

    # Expressions

    def _name(self, node: cst.Name, to: Effects) -> None:
        occurrence = self._module.scopes.occurrence.get(node)
        if occurrence is None or occurrence.variable is None:
            to.raises |= self._module.scopes.builtin(node) not in PURE_BUILTINS
            return
        variable = occurrence.variable
        if occurrence.role not in {Role.BIND, Role.IMPORT, Role.DEFINE}:
            to.reads.add(variable)
            to.raises |= not self._bound.at(occurrence)
        if occurrence.role is not Role.USE:
            to.writes.add(variable)

    def _operator(self, node: cst.CSTNode, to: Effects) -> None:
        """An operator, a subscript, a format: implemented by the operands' classes."""
        self._parts(node, to)
        operands = [child for child in children(node) if isinstance(child, cst.BaseExpression)]
        if not isinstance(node, cst.Subscript) and all(self.kinds.of(o) <= Kind.ATOM for o in operands):
            to.raises |= not isinstance(node, cst.FormattedStringExpression) and not _never_raises(
                node, all(self.kinds.of(operand) is Kind.NUMBER for operand in operands)
            )
            return
        to.raises = to.operators = True
        to.touches(Heap.READ)

    def _attribute(self, node: cst.Attribute, to: Effects) -> None:
        self._add(node.value, to)
        to.raises = to.operators = True
        to.touches(Heap.READ)

    def _is(self, node: cst.Comparison, to: Effects) -> None:
        if all(isinstance(target.operator, cst.Is | cst.IsNot) for target in node.comparisons) or all(
            self.kinds.of(side) is Kind.NUMBER
            for side in (node.left, *(target.comparator for target in node.comparisons))
        ):
            self._parts(node, to)
        else:
            self._parts(node, to)
            to.raises = to.operators = True
            to.touches(Heap.READ)

    def _unary(self, node: cst.UnaryOperation, to: Effects) -> None:
        self._add(node.expression, to)
        if self.kinds.of(node.expression) is not Kind.NUMBER:
            to.raises = to.operators = True
            to.touches(Heap.READ)

    def _display(self, node: cst.List | cst.Tuple | cst.Set | cst.Dict, to: Effects) -> None:
        self._parts(node, to)
        if isinstance(node, cst.Set | cst.Dict):
            literal = all(
                isinstance(getattr(e, "key", getattr(e, "value", None)), cst.Integer | cst.SimpleString)
                for e in node.elements
            )
            to.raises |= not literal
            to.operators |= not literal

    def _starred(self, node: cst.StarredElement | cst.StarredDictElement, to: Effects) -> None:
        self._add(node.value, to)
        self._iterates(node.value, to)

    def _comprehension(self, node: cst.BaseComp, to: Effects) -> None:
        self._parts(node, to)
        loop: cst.CompFor | None = node.for_in
        while loop is not None:
            to.yields |= loop.asynchronous is not None
            self._iterates(loop.iter, to)
            loop = loop.inner_for_in

    def _lambda(self, node: cst.Lambda | cst.FunctionDef, to: Effects) -> None:
        """Making a function reads what it captures: later writes to it must not move before."""
        inner = self._module.scopes.of_node[node]
        for scope in inner.inside():
            for occurrence in scope.occurrences:
                if occurrence.variable is not None and occurrence.variable.scope is not scope:
                    to.reads.add(occurrence.variable)
        self._parts(node.params, to)
        for variable in inner.variables.values():
            to.writes.discard(variable)

    def _generator(self, node: cst.GeneratorExp, to: Effects) -> None:
        above = self._module.parent(self._module.parent(node))
        at_once = isinstance(above, cst.Call) and self._builtin_of(above) in ITERATING - {"enumerate", "zip"}
        at_once |= isinstance(above, cst.Call) and _method(above) == "join"
        self._comprehension(node, to)
        if not at_once:
            to.opaque = True  # it will run when someone asks for its values

    def _call(self, node: cst.Call, to: Effects) -> None:
        for argument in node.args:
            self._add(argument.value, to)
        to.raises = to.operators = True
        to.touches(Heap.READ)
        name = self._builtin_of(node)
        method = _method(node)
        if name in PURE_BUILTINS:
            to.opaque |= not self._pure_keys(node)
            if name in ITERATING:
                for argument in node.args:
                    if argument.keyword is None:
                        self._iterates(argument.value, to)
            if any(argument.star for argument in node.args):
                to.opaque = True
        elif method is not None and isinstance(node.func, cst.Attribute):
            self._method(node, node.func, to)
        else:
            self._add(node.func, to)
            to.opaque = True

    def _method(self, node: cst.Call, func: cst.Attribute, to: Effects) -> None:
        self._add(func.value, to)
        method = func.attr.value
        kind = self.kinds.of(func.value)
        if self._is_pure_module(func.value):
            return
        if method in MUTATING_METHODS and kind is not Kind.UNKNOWN:
            to.touches(Heap.WRITE)
        elif method in READING_METHODS:
            if method == "join" and node.args:
                self._iterates(node.args[0].value, to)
        else:
            to.opaque = True

    def _pure_keys(self, node: cst.Call) -> bool:
        """Whether the functions given as `key=` run no unknown code."""
        keys = [a.value for a in node.args if a.keyword is not None and a.keyword.value == "key"]
        return all(
            self._module.scopes.builtin(key) in PURE_BUILTINS
            or (isinstance(key, cst.Lambda) and self.of(key.body).inert)
            for key in keys
        )

    def _iterates(self, node: cst.BaseExpression, to: Effects) -> None:
        to.raises = to.operators = True
        to.touches(Heap.READ)
        if isinstance(node, cst.Call) and self._builtin_of(node) in {"range", "zip", "enumerate", "reversed"}:
            return  # what they iterate over was counted where they were called
        if isinstance(node, cst.Call) and _method(node) in {"items", "keys", "values", "split", "splitlines"}:
            return
        if isinstance(node, cst.GeneratorExp) or self.kinds.of(node) is not Kind.UNKNOWN:
            return
        to.touches(Heap.WRITE)

    def _is_pure_module(self, node: cst.BaseExpression) -> bool:
        variable = self._module.scopes.variable(node)
        return (
            variable is not None
            and variable.roles <= {Role.IMPORT, Role.USE}
            and (variable.name in PURE_MODULES)
        )

    def _builtin_of(self, node: cst.Call) -> str | None:
        return self._module.scopes.builtin(node.func)

    # Statements

    def _assign(self, node: cst.Assign, to: Effects) -> None:
        self._add(node.value, to)
        for target in node.targets:
            self._target(target.target, node.value, to)

    def _annotated(self, node: cst.AnnAssign, to: Effects) -> None:
        """The annotation of a local variable is never evaluated."""
        if node.value is not None:
            self._add(node.value, to)
        self._target(node.target, node.value, to)
        if not isinstance(node.target, cst.Name):
            self._add(node.annotation, to)

    def _augmented(self, node: cst.AugAssign, to: Effects) -> None:
        self._add(node.value, to)
        self._target(node.target, None, to)
        variable = self._module.scopes.variable(node.target)
        kind = self.kinds.variable(variable) if variable is not None else Kind.UNKNOWN
        if kind <= Kind.ATOM:
            quiet = isinstance(node.operator, cst.AddAssign | cst.SubtractAssign | cst.MultiplyAssign)
            to.raises |= not (quiet and kind is Kind.NUMBER)
            return
        to.raises = to.operators = True
        to.touches(Heap.WRITE)

    def _target(self, node: cst.CSTNode, value: cst.BaseExpression | None, to: Effects) -> None:
        if isinstance(node, cst.Name):
            self._name(node, to)
        elif isinstance(node, cst.Tuple | cst.List):
            same = isinstance(value, cst.Tuple | cst.List) and len(value.elements) == len(node.elements)
            if not same and value is not None:
                self._iterates(value, to)
            for element in node.elements:
                self._target(element.value, None, to)
        else:  # an attribute or subscript
            self._parts(node, to)
            to.raises = to.operators = True
            to.touches(Heap.WRITE)

    def _for(self, node: cst.For, to: Effects) -> None:
        self._target(node.target, None, to)
        self._add(node.iter, to)
        self._iterates(node.iter, to)
        self._loop(node, to)
        to.yields |= node.asynchronous is not None

    def _while(self, node: cst.While, to: Effects) -> None:
        self._add(node.test, to)
        self._loop(node, to)
        to.raises = True  # it may not end

    def _loop(self, node: cst.For | cst.While, to: Effects) -> None:
        body = Effects()
        self._add(node.body, body)
        body.jumps = False  # out of this loop at most
        to.include(body)
        if node.orelse is not None:
            self._add(node.orelse, to)

    def _jump(self, _: cst.Break | cst.Continue, to: Effects) -> None:
        to.jumps = True

    def _exit(self, node: cst.Return | cst.Raise, to: Effects) -> None:
        self._parts(node, to)
        to.exits = True
        to.raises |= isinstance(node, cst.Raise)

    def _compound(self, node: cst.CSTNode, to: Effects) -> None:
        self._parts(node, to)

    def _import(self, node: cst.Import | cst.ImportFrom, to: Effects) -> None:
        names: list[cst.BaseExpression] = []
        if isinstance(node, cst.Import):
            names = [alias.name for alias in node.names]
        elif node.module is not None and not node.relative and not isinstance(node.names, cst.ImportStar):
            names = [node.module]
        roots = [self._module.text(self._module.span(name)).split(".")[0] for name in names]
        if not roots or not all(root in QUIET_IMPORTS for root in roots):
            to.opaque = to.raises = True
        if not isinstance(node, cst.Import | cst.ImportFrom) or isinstance(node.names, cst.ImportStar):
            to.yields = True
            return
        for alias in node.names:
            self._imported(alias, to)

    def _imported(self, alias: cst.ImportAlias, to: Effects) -> None:
        bound: cst.CSTNode = alias.asname.name if alias.asname is not None else alias.name
        while isinstance(bound, cst.Attribute):
            bound = bound.value
        self._name(cst.ensure_type(bound, cst.Name), to)

    def _define(self, node: cst.FunctionDef, to: Effects) -> None:
        self._name(node.name, to)
        self._lambda(node, to)
        if node.decorators:
            to.opaque = to.raises = True


_Rule = Callable[[EffectAnalysis, Any, Effects], None]
_RULES: dict[type[cst.CSTNode], _Rule] = {
    **dict.fromkeys(
        (cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.Ellipsis, cst.Pass,
         cst.FormattedStringText, cst.ParamStar, cst.ParamSlash),
        EffectAnalysis._nothing,
    ),
    **dict.fromkeys(
        (cst.ConcatenatedString, cst.FormattedString, cst.BooleanOperation, cst.IfExp, cst.Expr,
         cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.IndentedBlock, cst.If, cst.Else, cst.Try,
         cst.Element, cst.DictElement, cst.NamedExpr, cst.Slice, cst.Parameters),
        EffectAnalysis._compound,
    ),
    **dict.fromkeys(
        (cst.BinaryOperation, cst.Subscript, cst.FormattedStringExpression, cst.Assert),
        EffectAnalysis._operator,
    ),
    **dict.fromkeys((cst.List, cst.Tuple, cst.Set, cst.Dict), EffectAnalysis._display),
    **dict.fromkeys((cst.ListComp, cst.SetComp, cst.DictComp), EffectAnalysis._comprehension),
    **dict.fromkeys((cst.StarredElement, cst.StarredDictElement), EffectAnalysis._starred),
    **dict.fromkeys((cst.Import, cst.ImportFrom), EffectAnalysis._import),
    **dict.fromkeys((cst.Break, cst.Continue), EffectAnalysis._jump),
    **dict.fromkeys((cst.Return, cst.Raise), EffectAnalysis._exit),
    cst.Name: EffectAnalysis._name,
    cst.Attribute: EffectAnalysis._attribute,
    cst.Comparison: EffectAnalysis._is,
    cst.UnaryOperation: EffectAnalysis._unary,
    cst.GeneratorExp: EffectAnalysis._generator,
    cst.Lambda: EffectAnalysis._lambda,
    cst.Call: EffectAnalysis._call,
    cst.Assign: EffectAnalysis._assign,
    cst.AnnAssign: EffectAnalysis._annotated,
    cst.AugAssign: EffectAnalysis._augmented,
    cst.For: EffectAnalysis._for,
    cst.While: EffectAnalysis._while,
    cst.FunctionDef: EffectAnalysis._define,
}  # fmt: skip


def _never_raises(node: cst.CSTNode, numbers: bool) -> bool:
    quiet = (cst.Add, cst.Subtract, cst.Multiply)
    return numbers and isinstance(node, cst.BinaryOperation) and isinstance(node.operator, quiet)


def _method(node: cst.Call) -> str | None:
    return node.func.attr.value if isinstance(node.func, cst.Attribute) else None
