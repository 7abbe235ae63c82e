"""Reads that write: operators, attributes and subscripts whose implementation has effects, as the file shows.

A special method or property of the file's own classes acts if its body stores to an attribute, item or
variable that is not its own, calls a method that is named like the changing ones of built-in classes, prints,
or calls a function of the file that acts. It may be the implementation wherever the class of an operand is
unknown. So may that of the library's mappings that insert what they do not find, in a file that names one of
them. `in` consumes an iterator that a variable holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

import libcst as cst

from counterlens.python.dependence.rules import MUTATING_METHODS
from counterlens.python.mutations.kinds import PURE_BUILTINS, Kinds, ValueKind
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.occurrences import parameters
from counterlens.python.mutations.variables import Role, ScopeKind, Variable

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
_ACTING_BUILTINS = {"print", "next", "setattr", "delattr", "input", "exec", "eval", "open"}
_ACTING_METHODS = MUTATING_METHODS | {
    "debug", "info", "warning", "error", "exception", "critical", "log", "send", "print",
}  # fmt: skip
_NO_PROPERTIES = {
    "staticmethod", "classmethod", "abstractmethod", "overload", "override", "final", "contextmanager",
    "asynccontextmanager", "lru_cache", "cache", "wraps", "singledispatchmethod", "fixture", "partialmethod",
}  # fmt: skip
_ITERATORS = {"iter", "map", "filter", "zip", "enumerate", "reversed", "open"}
_ITERATOR_METHODS = {
    "finditer",
    "scandir",
    "iterdir",
    "open",
    "reader",
    "DictReader",
    "iterrows",
    "glob",
    "rglob",
}
_ITERATOR_TYPES = {"Iterator", "Generator", "IO", "TextIO", "BinaryIO", "TextIOBase", "StringIO", "BytesIO"}
_OF_ITERATORS = {"itertools", "csv"}
_Function = cst.FunctionDef | cst.Lambda


@lru_cache(maxsize=4)
def acting_reads(module: Module) -> ActingReads:
    """The reads that write in a module, found once."""
    return ActingReads(module)


class ActingReads:
    """The reads that write in one module.

    Attributes:
        methods: The special methods that act.
        properties: The properties that act, by name.
        functions: All functions of the file that act, by name.
        inserts: Whether reading an item that a mapping lacks may insert it.
        inserts_by_call: Whether that may run unknown code.
    """

    def __init__(self, module: Module) -> None:
        self._module, self._kinds = module, Kinds(module)
        self._acting: dict[cst.CSTNode, bool] = {}
        self._functions: dict[str, list[_Function]] = {}
        for function in module.functions:
            self._functions.setdefault(function.node.name.value, []).append(function.node)
        for node, name in self._assigned_in_classes():
            if isinstance(node, cst.Lambda):
                self._functions.setdefault(name, []).append(node)
        self.functions = frozenset(name for name in self._functions if self._acts_by_name(name))
        self.methods = frozenset(name for name in self.functions if name.startswith("__"))
        self.properties = frozenset(self._acting_properties())
        self.inserts = bool(_INSERTING & module.words)
        self.inserts_by_call = self.inserts and not all(map(self._plain_factory, module.nodes(cst.Call)))

    def runs(self, methods: Iterable[str], operands: Iterable[cst.BaseExpression]) -> bool:
        """Whether an operation that calls special methods of its operands may call one that acts."""
        acting = self.methods.intersection(methods)
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
        if isinstance(node, cst.Attribute):
            return node.attr.value in self._iterators[1]
        return self._module.scopes.variable(node) in self._iterators[0]

    # what acts

    def _assigned_in_classes(self) -> Iterator[tuple[cst.BaseExpression, str]]:
        """The values that class bodies assign, with the names."""
        for node in self._module.nodes(cst.ClassDef):
            for line in node.body.body:
                for part in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                    if isinstance(part, cst.Assign) and isinstance(part.targets[0].target, cst.Name):
                        yield part.value, part.targets[0].target.value

    def _acting_properties(self) -> Iterator[str]:
        for function in self._module.functions:
            decorators = {self._named(d.decorator) for d in function.node.decorators} - _NO_PROPERTIES
            caches = any("cached" in decorator for decorator in decorators)
            if caches or (decorators and self._acts(function.node)):
                yield function.node.name.value
        for value, name in self._assigned_in_classes():
            if isinstance(value, cst.Call) and self._named(value.func) not in _NO_PROPERTIES:
                given = [argument.value for argument in value.args]
                if any(self._acts(part) for part in given if isinstance(part, cst.Lambda)) or any(
                    self._named(part) in self.functions for part in given
                ):
                    yield name

    def _acts_by_name(self, name: str) -> bool:
        return any(self._acts(function) for function in self._functions.get(name, ()))

    def _acts(self, function: _Function) -> bool:
        known = self._acting.get(function)
        if known is None:
            self._acting[function] = False  # what it calls may call it
            parts = self._module.descendants(function.body)
            known = self._acting[function] = any(self._act(part, function) for part in parts)
        return known

    def _act(self, node: cst.CSTNode, function: _Function) -> bool:
        if isinstance(node, cst.Call):
            func = node.func
            if isinstance(func, cst.Name):
                builtin = self._module.scopes.builtin(func)
                return builtin in _ACTING_BUILTINS or (builtin is None and self._acts_by_name(func.value))
            if not isinstance(func, cst.Attribute):
                return False
            changes = func.attr.value in _ACTING_METHODS and not self._is_fresh(func.value, function)
            return changes or self._acts_by_name(func.attr.value)
        if isinstance(node, cst.Name):
            occurrence = self._module.scopes.occurrence.get(node)
            if occurrence is None or occurrence.variable is None or occurrence.role is Role.USE:
                return False
            own = self._module.scopes.of_node[function]
            return own not in (occurrence.variable.scope, *occurrence.variable.scope.around())
        targets: Iterable[cst.BaseExpression] = ()
        if isinstance(node, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For | cst.Del):
            targets = [node.target]
        return any(
            isinstance(part, cst.Attribute | cst.Subscript) and not self._is_fresh(part, function)
            for target in targets
            for part in _stored_targets(target)
        )

    def _is_fresh(self, node: cst.BaseExpression, function: _Function) -> bool:
        """Whether an object was made in a function: a variable of it that is bound to containers only."""
        while isinstance(node, cst.Attribute | cst.Subscript):
            node = node.value
        variable = self._module.scopes.variable(node)
        if variable is None or variable.scope is not self._module.scopes.of_node[function]:
            return False
        return self._kinds.of(node) is not ValueKind.UNKNOWN

    def _plain_factory(self, call: cst.CSTNode) -> bool:
        """Whether a call does not make a mapping whose missing items come from unknown code."""
        assert isinstance(call, cst.Call)
        if self._named(call) not in _INSERTING or not call.args:
            return True
        factory = call.args[0].value
        return self._module.scopes.builtin(factory) in PURE_BUILTINS | {"None"} or (
            isinstance(factory, cst.Lambda) and not self._acts(factory)
        )

    # iterators in variables

    @cached_property
    def _iterators(self) -> tuple[set[Variable | None], set[str]]:
        """The variables, and the names of attributes, that may hold an iterator."""
        variables: set[Variable | None] = set()
        attributes: set[str] = set()
        for generator in self._module.nodes(cst.Yield):
            function = self._module.function_at(self._module.start(generator))
            if function is not None:
                variables.add(self._module.scopes.variable(function.node.name))
                attributes.add(function.node.name.value)
        size = -1
        while size != (size := len(variables) + len(attributes)):
            for target, value in self._bindings:
                if self._is_iterator(value, variables, attributes):
                    if isinstance(target, cst.Attribute):
                        attributes.add(target.attr.value)
                        continue
                    variables.add(variable := self._module.scopes.variable(target))
                    if variable is not None and variable.scope.kind is ScopeKind.CLASS:
                        attributes.add(variable.name)
            variables.discard(None)
        return variables, attributes

    @cached_property
    def _bindings(self) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
        """What the module binds, with the values or annotations, arguments of its own functions included."""
        module = self._module
        bindings: list[tuple[cst.BaseExpression, cst.BaseExpression]] = []
        for assign in module.nodes(cst.Assign):
            for target in assign.targets:
                bindings += _pairs(target.target, assign.value)
        for node in module.nodes(cst.AnnAssign):
            bindings += [(node.target, v) for v in (node.value, node.annotation.annotation) if v is not None]
        bindings += [(node.target, node.value) for node in module.nodes(cst.NamedExpr)]
        for result in module.nodes(cst.Return):
            function = module.function_at(module.start(result))
            if function is not None and result.value is not None:
                bindings.append((function.node.name, result.value))  # a function of iterators stands for one
        for item in module.nodes(cst.WithItem):
            if item.asname is not None:
                bindings.append((cst.ensure_type(item.asname, cst.AsName).name, item.item))
        for param in module.nodes(cst.Param):
            bindings += [(param.name, param.default)] if param.default is not None else []
            bindings += [(param.name, param.annotation.annotation)] if param.annotation is not None else []
        for call in module.nodes(cst.Call):
            bindings += self._given(call)
        return bindings

    def _given(self, call: cst.Call) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
        """The parameters of the module's functions of the callee's name, with the arguments of a call."""
        for callee in self._functions.get(call.func.value, ()) if isinstance(call.func, cst.Name) else ():
            names = [param.name for param in parameters(callee.params)]
            yield from zip(names, (a.value for a in call.args if a.keyword is None), strict=False)
            keywords = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
            yield from ((name, keywords[name.value]) for name in names if name.value in keywords)

    def _is_iterator(
        self, node: cst.BaseExpression, variables: set[Variable | None], attributes: set[str]
    ) -> bool:
        if isinstance(node, cst.GeneratorExp):
            return True
        if isinstance(node, cst.Name):
            return node.value in _ITERATOR_TYPES or self._module.scopes.variable(node) in variables - {None}
        if isinstance(node, cst.Attribute):
            return node.attr.value in attributes | _ITERATOR_TYPES
        if isinstance(node, cst.Subscript):
            return (
                isinstance(node.value, cst.Name | cst.Attribute)
                and self._named(node.value) in _ITERATOR_TYPES
            )
        if isinstance(node, cst.Call):
            return self._makes_iterator(node, variables, attributes)
        parts: Iterable[cst.BaseExpression] = ()
        if isinstance(node, cst.IfExp):
            parts = (node.body, node.orelse)
        elif isinstance(node, cst.BooleanOperation):
            parts = (node.left, node.right)
        elif isinstance(node, cst.List | cst.Tuple | cst.Set | cst.Dict):  # which holds it
            parts = [element.value for element in node.elements]
        return any(self._is_iterator(part, variables, attributes) for part in parts)

    def _makes_iterator(self, node: cst.Call, variables: set[Variable | None], attributes: set[str]) -> bool:
        name = self._named(node.func)
        if self._module.scopes.builtin(node.func) in _ITERATORS or name in _ITERATOR_TYPES:
            return True
        if isinstance(node.func, cst.Attribute):
            root = self._named(node.func.value)
            if name in _ITERATOR_METHODS or root in _OF_ITERATORS:
                return True
        return self._is_iterator(node.func, variables, attributes)

    @staticmethod
    def _named(node: cst.BaseExpression) -> str:
        """The last part of a dotted name, also of what is called."""
        while isinstance(node, cst.Call):
            node = node.func
        return node.attr.value if isinstance(node, cst.Attribute) else str(getattr(node, "value", ""))


def _pairs(
    target: cst.BaseExpression, value: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """The parts of a target, each with its value, or with the whole value if that is not displayed."""
    if not isinstance(target, cst.Tuple | cst.List):
        yield target, value
        return
    shown = isinstance(value, cst.Tuple | cst.List) and len(value.elements) == len(target.elements)
    for index, element in enumerate(target.elements):
        part = value.elements[index].value if shown and isinstance(value, cst.Tuple | cst.List) else value
        yield from _pairs(element.value, part)


def _stored_targets(target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The parts of a target that are bound or stored to."""
    if isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _stored_targets(element.value)
    else:
        yield target
