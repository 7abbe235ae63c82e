"""Value kinds of expressions, which show which values are immutable and which can be iterated repeatedly.

Over-approximated: a kind is `UNKNOWN` unless the expression itself, or every binding of its variable, shows
more. A parameter is unknown, whatever its annotation.
"""

from __future__ import annotations

import sys
from enum import IntEnum

import libcst as cst

from counterlens.python.mutations.module import Module
from counterlens.python.mutations.variables import Role, Variable

_NUMBERS = {"len", "int", "float", "bool", "ord", "isinstance", "issubclass", "callable", "hash", "id"}
_TEXTS = {"str", "repr", "chr", "hex", "bin", "oct", "ascii", "bytes"}
_CONTAINERS = {"list", "tuple", "dict", "set", "frozenset", "sorted", "range"}
_TEXT_METHODS = {"join", "lower", "upper", "strip", "lstrip", "rstrip", "replace", "format", "title", "zfill"}
_DISPLAYS = (cst.List, cst.Tuple, cst.Dict, cst.Set, cst.ListComp, cst.SetComp, cst.DictComp)
PURE_BUILTINS = frozenset(
    {"abs", "all", "any", "ascii", "bin", "bool", "bytes", "callable", "chr", "complex", "dict", "divmod",
     "enumerate", "float", "format", "frozenset", "hash", "hex", "id", "int", "isinstance", "issubclass",
     "len", "list", "max", "min", "oct", "ord", "pow", "range", "repr", "reversed", "round", "set", "slice",
     "sorted", "str", "sum", "tuple", "type", "zip"}
)  # fmt: skip
ITERATING = frozenset(
    {"all", "any", "dict", "enumerate", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple",
     "zip", "bytes"}
)  # fmt: skip
PURE_MODULES = {"math", "cmath"}
READING_METHODS = frozenset(
    {"capitalize", "casefold", "center", "count", "encode", "decode", "endswith", "find", "format", "index",
     "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric",
     "isspace", "istitle", "isupper", "items", "join", "keys", "ljust", "lower", "lstrip", "partition",
     "removeprefix", "removesuffix", "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip",
     "split", "splitlines", "startswith", "strip", "swapcase", "title", "translate", "upper", "values",
     "zfill"}
)  # fmt: skip
MUTATING_METHODS = frozenset(
    {"append", "extend", "insert", "pop", "popitem", "remove", "reverse", "clear", "add", "discard",
     "setdefault", "appendleft", "popleft"}
)  # fmt: skip
QUIET_IMPORTS = frozenset(sys.stdlib_module_names) - {
    "this",
    "antigravity",
    "__future__",
    "turtle",
    "idlelib",
}


class ValueKind(IntEnum):
    """Kinds of values, ordered: a lower kind is more precise."""

    NUMBER = 0  # int, float, bool
    ATOM = 1  # other immutable values: str, bytes, None, complex
    CONTAINER = 2  # list, tuple, dict, set, range: can be iterated repeatedly
    UNKNOWN = 3


_LITERALS: dict[type[cst.BaseExpression], ValueKind] = {
    **dict.fromkeys((cst.Integer, cst.Float), ValueKind.NUMBER),
    **dict.fromkeys(
        (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString, cst.Imaginary), ValueKind.ATOM
    ),
    **dict.fromkeys(_DISPLAYS, ValueKind.CONTAINER),
}


class Kinds:
    """The value kinds of the expressions of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._kinds: dict[Variable, ValueKind] = {}
        self._open: set[Variable] = set()

    def of(self, node: cst.BaseExpression) -> ValueKind:
        """The kind of an expression's value."""
        literal = _LITERALS.get(type(node))
        if literal is not None:
            return literal
        if isinstance(node, cst.Name):
            if node.value in {"True", "False"}:
                return ValueKind.NUMBER
            if node.value == "None":
                return ValueKind.ATOM
            variable = self._module.scopes.variable(node)
            return self.variable(variable) if variable is not None else ValueKind.UNKNOWN
        if isinstance(node, cst.Call):
            return self._of_call(node)
        return self._of_operation(node)

    def variable(self, variable: Variable) -> ValueKind:
        """The kind of all values of a variable; a greatest fixpoint: open variables are assumed numbers."""
        cached_kind = self._kinds.get(variable)
        if cached_kind is not None:
            return cached_kind
        if variable in self._open:
            return ValueKind.NUMBER
        if not variable.scope.is_function:
            return ValueKind.UNKNOWN
        self._open.add(variable)
        kind = ValueKind.NUMBER
        for occurrence in variable.occurrences:
            if occurrence.role not in {Role.USE, Role.DELETE, Role.DECLARE, Role.ANNOTATE}:
                kind = max(kind, self._bound(occurrence.node))
            if kind is ValueKind.UNKNOWN:
                break
        self._open.discard(variable)
        if not self._open:  # a kind found while others were open may depend on assumptions about them
            self._kinds[variable] = kind
        return kind

    def _bound(self, name: cst.Name) -> ValueKind:
        module = self._module
        above = module.parent(name)
        if isinstance(above, cst.AssignTarget):
            assign = module.parent(above)
            return self.of(assign.value) if isinstance(assign, cst.Assign) else ValueKind.UNKNOWN
        if isinstance(above, cst.AugAssign):
            power = isinstance(above.operator, cst.PowerAssign)  # may be complex
            return max(self.of(above.value), ValueKind.ATOM if power else ValueKind.NUMBER)
        if isinstance(above, cst.AnnAssign) and above.value is not None:
            return self.of(above.value)
        if isinstance(above, cst.NamedExpr):
            return self.of(above.value)
        if isinstance(above, cst.For | cst.CompFor) and isinstance(above.iter, cst.Call):
            return (
                ValueKind.NUMBER if module.scopes.builtin(above.iter.func) == "range" else ValueKind.UNKNOWN
            )
        if isinstance(above, cst.Element):
            return self._unpacked(above)
        return ValueKind.UNKNOWN

    def _unpacked(self, element: cst.Element) -> ValueKind:
        """The kind of one value of an unpacking: in `a, b = 1, 2` each name has its own."""
        target = self._module.parent(element)
        above = self._module.parent(target)
        assign = self._module.parent(above)
        if isinstance(above, cst.AssignTarget) and isinstance(assign, cst.Assign):
            value = assign.value
            if isinstance(target, cst.Tuple | cst.List) and isinstance(value, cst.Tuple | cst.List):
                plain = all(type(e) is cst.Element for e in (*target.elements, *value.elements))
                if plain and len(target.elements) == len(value.elements):
                    return self.of(value.elements[list(target.elements).index(element)].value)
        return ValueKind.UNKNOWN

    def _of_call(self, node: cst.Call) -> ValueKind:
        name = self._module.scopes.builtin(node.func)
        if name in _NUMBERS:
            return ValueKind.NUMBER
        if name in _TEXTS:
            return ValueKind.ATOM
        if name in _CONTAINERS:
            return ValueKind.CONTAINER
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in _TEXT_METHODS:
            return (
                self.of(node.func.value) if self.of(node.func.value) is ValueKind.ATOM else ValueKind.UNKNOWN
            )
        return ValueKind.UNKNOWN

    def _of_operation(self, node: cst.BaseExpression) -> ValueKind:
        if isinstance(node, cst.Comparison):
            sides = [node.left, *(target.comparator for target in node.comparisons)]
            unknown = ValueKind.UNKNOWN in map(self.of, sides)
            return ValueKind.UNKNOWN if unknown else ValueKind.NUMBER
        if isinstance(node, cst.UnaryOperation):
            return ValueKind.NUMBER if isinstance(node.operator, cst.Not) else self.of(node.expression)
        if isinstance(node, cst.BinaryOperation):
            left, right = self.of(node.left), self.of(node.right)
            if left is ValueKind.ATOM and isinstance(node.operator, cst.Modulo):
                return ValueKind.ATOM
            if isinstance(node.operator, cst.Power):
                return max(left, right, ValueKind.ATOM)  # may be complex
            return max(left, right)
        if isinstance(node, cst.BooleanOperation):
            return max(self.of(node.left), self.of(node.right))
        if isinstance(node, cst.IfExp):
            return max(self.of(node.body), self.of(node.orelse))
        return ValueKind.UNKNOWN
