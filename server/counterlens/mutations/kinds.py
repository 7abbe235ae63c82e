"""What class of value an expression surely has: enough to know what cannot mutate and cannot be used up.

Over-approximation: everything is `UNKNOWN` unless its own text, or every binding of its variable, shows more.
A parameter is unknown, whatever its annotation says.
"""

from __future__ import annotations

from enum import IntEnum

import libcst as cst

from counterlens.mutations.module import Module
from counterlens.mutations.variables import Role, Variable


class Kind(IntEnum):
    """Classes of values, the surer the lower."""

    NUMBER = 0  # int, float, bool
    ATOM = 1  # and what else cannot change: str, bytes, None, complex
    CONTAINER = 2  # list, tuple, dict, set, range: can be iterated again and again
    UNKNOWN = 3


_NUMBERS = {"len", "int", "float", "bool", "ord", "isinstance", "issubclass", "callable", "hash", "id"}
_TEXTS = {"str", "repr", "chr", "hex", "bin", "oct", "ascii", "bytes"}
_CONTAINERS = {"list", "tuple", "dict", "set", "frozenset", "sorted", "range"}
_TEXT_METHODS = {"join", "lower", "upper", "strip", "lstrip", "rstrip", "replace", "format", "title", "zfill"}
_DISPLAYS = (cst.List, cst.Tuple, cst.Dict, cst.Set, cst.ListComp, cst.SetComp, cst.DictComp)
_LITERALS: dict[type[cst.BaseExpression], Kind] = {
    **dict.fromkeys((cst.Integer, cst.Float), Kind.NUMBER),
    **dict.fromkeys(
        (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString, cst.Imaginary), Kind.ATOM
    ),
    **dict.fromkeys(_DISPLAYS, Kind.CONTAINER),
}


class Kinds:
    """The kinds of the expressions of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[Variable, Kind] = {}
        self._open: set[Variable] = set()

    def of(self, node: cst.BaseExpression) -> Kind:
        """The kind of an expression's value, if it has one."""
        literal = _LITERALS.get(type(node))
        if literal is not None:
            return literal
        if isinstance(node, cst.Name):
            return self._of_name(node)
        if isinstance(node, cst.Call):
            return self._of_call(node)
        return self._of_operation(node)

    def variable(self, variable: Variable) -> Kind:
        """The kind of all values that a variable ever has; assumes what is open, as a greatest fixpoint."""
        known = self._known.get(variable)
        if known is not None:
            return known
        if variable in self._open:
            return Kind.NUMBER
        self._open.add(variable)
        kind = self._bindings(variable)
        self._open.discard(variable)
        if not self._open:  # what was found while others were open may have leaned on them
            self._known[variable] = kind
        return kind

    def _bindings(self, variable: Variable) -> Kind:
        if not variable.scope.is_function:
            return Kind.UNKNOWN
        kind = Kind.NUMBER
        for occurrence in variable.occurrences:
            if occurrence.role in {Role.USE, Role.DELETE, Role.DECLARE, Role.ANNOTATE}:
                continue
            kind = max(kind, self._bound(occurrence.node))
            if kind is Kind.UNKNOWN:
                break
        return kind

    def _bound(self, name: cst.Name) -> Kind:
        module = self._module
        above = module.parent(name)
        if isinstance(above, cst.AssignTarget):
            assign = module.parent(above)
            return self.of(assign.value) if isinstance(assign, cst.Assign) else Kind.UNKNOWN
        if isinstance(above, cst.AugAssign):
            return self.of(above.value)
        if isinstance(above, cst.AnnAssign) and above.value is not None:
            return self.of(above.value)
        if isinstance(above, cst.NamedExpr):
            return self.of(above.value)
        if isinstance(above, cst.For | cst.CompFor) and isinstance(above.iter, cst.Call):
            return Kind.NUMBER if module.scopes.builtin(above.iter.func) == "range" else Kind.UNKNOWN
        if isinstance(above, cst.Element):
            return self._unpacked(above)
        return Kind.UNKNOWN

    def _unpacked(self, element: cst.Element) -> Kind:
        """`a, b = 1, 2`: each name has its own value."""
        target = self._module.parent(element)
        above = self._module.parent(target)
        assign = self._module.parent(above)
        if isinstance(above, cst.AssignTarget) and isinstance(assign, cst.Assign):
            value = assign.value
            if isinstance(target, cst.Tuple | cst.List) and isinstance(value, cst.Tuple | cst.List):
                plain = all(type(e) is cst.Element for e in (*target.elements, *value.elements))
                if plain and len(target.elements) == len(value.elements):
                    return self.of(value.elements[list(target.elements).index(element)].value)
        return Kind.UNKNOWN

    def _of_name(self, node: cst.Name) -> Kind:
        if node.value in {"True", "False"}:
            return Kind.NUMBER
        if node.value == "None":
            return Kind.ATOM
        variable = self._module.scopes.variable(node)
        return self.variable(variable) if variable is not None else Kind.UNKNOWN

    def _of_call(self, node: cst.Call) -> Kind:
        name = self._module.scopes.builtin(node.func)
        if name in _NUMBERS:
            return Kind.NUMBER
        if name in _TEXTS:
            return Kind.ATOM
        if name in _CONTAINERS:
            return Kind.CONTAINER
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in _TEXT_METHODS:
            return self.of(node.func.value) if self.of(node.func.value) is Kind.ATOM else Kind.UNKNOWN
        return Kind.UNKNOWN

    def _of_operation(self, node: cst.BaseExpression) -> Kind:
        if isinstance(node, cst.Comparison):
            sides = [node.left, *(target.comparator for target in node.comparisons)]
            return Kind.NUMBER if all(self.of(s) is not Kind.UNKNOWN for s in sides) else Kind.UNKNOWN
        if isinstance(node, cst.UnaryOperation):
            return Kind.NUMBER if isinstance(node.operator, cst.Not) else self.of(node.expression)
        if isinstance(node, cst.BinaryOperation):
            return self._of_binary(node)
        if isinstance(node, cst.BooleanOperation):
            return max(self.of(node.left), self.of(node.right))
        if isinstance(node, cst.IfExp):
            return max(self.of(node.body), self.of(node.orelse))
        return Kind.UNKNOWN

    def _of_binary(self, node: cst.BinaryOperation) -> Kind:
        left, right = self.of(node.left), self.of(node.right)
        if left is Kind.ATOM and isinstance(node.operator, cst.Modulo):
            return Kind.ATOM
        if isinstance(node.operator, cst.Power):
            return max(left, right, Kind.ATOM)  # may be complex
        return max(left, right)
