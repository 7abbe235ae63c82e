"""Reads that write: operators, attributes and subscripts whose implementation has effects, by a word.

An operator may act where the file defines its special method, unless that plainly reads: it stores to nothing
but its own variables, and calls nothing but builtins without effects and the reading methods of built-in
classes. So may the attributes that are properties, and methods named like reading ones. It may be the
implementation wherever the class of an operand is unknown. So may that of the library's mappings that insert
what they do not find, in a file that names one of them. `in` consumes an iterator, in a file that names one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import libcst as cst

from counterlens.python.mutations.kinds import PURE_BUILTINS, READING_METHODS, Kinds, ValueKind
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.variables import Role, Scope

COMPARISON = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})
KEYS = frozenset({"__eq__", "__hash__"})
TRUTH = frozenset({"__bool__", "__len__"})
ITERATION = frozenset({"__iter__", "__next__", "__getitem__", "__len__", "__aiter__", "__anext__"})
MEMBERSHIP = ITERATION | KEYS | {"__contains__"}
SUBSCRIPT = KEYS | {"__getitem__", "__missing__", "__index__", "__class_getitem__"}
ATTRIBUTE = frozenset({"__getattr__", "__getattribute__", "__get__"})
STORE = frozenset({"__setattr__", "__setitem__", "__set__"})
TEXT = frozenset({"__str__", "__repr__", "__format__"})
_BINARY = (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and",
    "xor", "or",
)  # fmt: skip
ARITHMETIC = frozenset(
    {f"__{kind}{name}__" for name in _BINARY for kind in ("", "r", "i")}
    | {"__neg__", "__pos__", "__invert__"}
)
BUILTIN_CALL = ARITHMETIC | COMPARISON | MEMBERSHIP | TRUTH | SUBSCRIPT | TEXT | {
    "__abs__", "__int__", "__float__", "__index__", "__round__", "__reversed__", "__instancecheck__",
    "__subclasscheck__", "__bytes__", "__complex__", "__trunc__", "__length_hint__",
}  # fmt: skip
_INSERTING = frozenset({"defaultdict", "LRUCache", "LFUCache", "TTLCache", "DefaultMunch"})
_NO_PROPERTIES = {
    "staticmethod", "classmethod", "abstractmethod", "overload", "override", "final", "contextmanager",
    "asynccontextmanager", "lru_cache", "cache", "wraps", "singledispatchmethod", "fixture", "partialmethod",
}  # fmt: skip
_ITERATORS = frozenset(
    {"iter", "map", "filter", "zip", "enumerate", "reversed", "open", "yield", "finditer", "scandir",
     "iterdir", "reader", "DictReader", "iterrows", "glob", "rglob", "itertools", "csv", "Iterator",
     "Generator", "IO", "TextIO", "BinaryIO", "TextIOBase", "StringIO", "BytesIO"}
)  # fmt: skip
"""Words without which no file makes an iterator, generator expressions aside."""


class ActingReads:
    """The reads that write in one module.

    Attributes:
        functions: The names of the file's functions that may act, its special methods included.
        properties: The properties that may act, by name.
        inserts: Whether reading an item that a mapping lacks may insert it.
    """

    def __init__(self, module: Module) -> None:
        self._module, self._kinds = module, Kinds(module)
        self._reading = READING_METHODS - {function.node.name.value for function in module.functions}
        acting: list[cst.FunctionDef] = []
        for function in module.functions:
            scope = module.scopes.of_node[function.node]
            if not all(self._reads(part, scope) for part in module.descendants(function.node.body)):
                acting.append(function.node)
        assigned = dict(self._assigned_in_classes())
        self.functions = frozenset(node.name.value for node in acting) | assigned.keys()
        decorated = {
            node.name.value
            for node in acting
            if {_last_name(decorator.decorator) for decorator in node.decorators} - _NO_PROPERTIES
        }
        cached = {
            function.node.name.value
            for function in module.functions
            if any("cached" in _last_name(decorator.decorator) for decorator in function.node.decorators)
        }
        made = {
            n for n, v in assigned.items() if isinstance(v, cst.Call) and _last_name(v) not in _NO_PROPERTIES
        }
        self.properties = frozenset(decorated | cached | made)
        self.inserts = bool(_INSERTING & module.words)
        self._iterators = bool(_ITERATORS & module.words) or any(
            not isinstance(module.parent(node), cst.Arg) for node in module.nodes(cst.GeneratorExp)
        )

    def runs(self, methods: Iterable[str], operands: Iterable[cst.BaseExpression]) -> bool:
        """Whether an operation that calls special methods of its operands may call one that acts."""
        acting = self.functions.intersection(methods)
        if not acting:
            return False
        kinds = [self._kinds.of(operand) for operand in operands]
        if ValueKind.UNKNOWN in kinds or not kinds:
            return True
        # the elements of a container may be of any class
        return ValueKind.CONTAINER in kinds and bool(acting & (COMPARISON | KEYS | TEXT))

    def consumes(self, node: cst.BaseExpression) -> bool:
        """Whether an expression may be an iterator that other code holds, which `in` consumes."""
        while isinstance(node, cst.Subscript):
            node = node.value
        held = isinstance(node, cst.Name | cst.Attribute)
        return self._iterators and held and self._kinds.of(node) >= ValueKind.CONTAINER

    def _assigned_in_classes(self) -> Iterator[tuple[str, cst.BaseExpression]]:
        """The names that class bodies bind to calls and functions, with the values."""
        for node in self._module.nodes(cst.ClassDef):
            for line in node.body.body:
                for part in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                    if isinstance(part, cst.Assign) and isinstance(
                        part.value, cst.Call | cst.Lambda | cst.Name
                    ):
                        for target in part.targets:
                            if isinstance(target.target, cst.Name):
                                yield target.target.value, part.value

    def _reads(self, node: cst.CSTNode, scope: Scope) -> bool:
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Attribute):
                return node.func.attr.value in self._reading
            name = self._module.scopes.builtin(node.func) or "_"
            return (
                name in PURE_BUILTINS | {"getattr", "hasattr", "super"} or name[0].isupper()
            )  # an exception
        if isinstance(node, cst.Name):
            occurrence = self._module.scopes.occurrence.get(node)
            if occurrence is None or occurrence.variable is None or occurrence.role is Role.USE:
                return True
            return occurrence.variable.scope not in scope.around()
        if isinstance(node, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For | cst.Del):
            parts = self._module.descendants(node.target)
            return not any(isinstance(part, cst.Attribute | cst.Subscript) for part in parts)
        return not isinstance(node, cst.Await)


acting_reads = lru_cache(maxsize=4)(ActingReads)
"""The reads that write in a module, found once."""


def _last_name(node: cst.BaseExpression) -> str:
    """The last part of a dotted name, also of what is called."""
    while isinstance(node, cst.Call):
        node = node.func
    return node.attr.value if isinstance(node, cst.Attribute) else str(getattr(node, "value", ""))
