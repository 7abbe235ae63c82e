"""Variables whose names stand in a text that a library may read, as in `frame.query("x > @limit")`.

A text is followed from its literal through operators, displays, variables, attributes of its name and methods
of texts, to the calls that receive it. A call of unknown code may look the words of the text up among the
variables of the function around the call. These do not: builtins, most of the standard library, functions of
the file (`python/dependence/lookups.py` finds those that use frames), messages for people, exceptions.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections import defaultdict
from functools import cached_property

import libcst as cst

from counterlens.python.mutations.known_code import MUTATING_METHODS, PURE_BUILTINS, READING_METHODS
from counterlens.python.mutations.module import Module
from counterlens.python.mutations.occurrences import parameters
from counterlens.python.mutations.variables import Role, Scope, ScopeKind, Variable

_WORD = re.compile(r"[^\W\d]\w*")
_PASS_ON = (
    cst.ConcatenatedString, cst.FormattedString, cst.FormattedStringExpression, cst.BinaryOperation,
    cst.BooleanOperation, cst.IfExp, cst.Element, cst.StarredElement, cst.List, cst.Tuple, cst.Set, cst.Dict,
    cst.DictElement, cst.StarredDictElement, cst.Await, cst.ListComp, cst.SetComp, cst.GeneratorExp,
    cst.Subscript,
)  # fmt: skip
_KEEPS_THE_TEXT = {"textwrap", "string", "copy"}  # modules whose functions return what they are given
_READS_FRAMES = {"timeit", "pdb", "bdb", "doctest", "code", "inspect"}
_TAKES_ONLY = {"print", "len", "isinstance", "hasattr", "setattr", "delattr", "open", "input", "ord"}
_FOR_PEOPLE = {
    "debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log", "add_argument",
    "add_option", "get", "write", "writelines", "fail", "skip", "skipTest",
}  # fmt: skip


def _holds_variables(scope: Scope) -> bool:
    """Whether a library may look up variables of a scope: not those of a class."""
    return scope.is_function or scope.kind is ScopeKind.MODULE


class TextNames:
    """The variables of one module that unknown code may look up by words of a text.

    Attributes:
        read_by: The variables that each call may look up.
        stored: Variables whose names stand in a text that is kept where its readers are unknown.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._builtin = module.scopes.builtin
        self.read_by: dict[cst.CSTNode, set[Variable]] = defaultdict(set)
        self.stored: set[Variable] = set()
        names = {n for s in module.scopes.all() if _holds_variables(s) for n in s.variables}
        for literal in module.nodes(cst.SimpleString, cst.FormattedStringText):
            assert isinstance(literal, cst.SimpleString | cst.FormattedStringText)
            words = names.intersection(_WORD.findall(literal.value))
            if words:
                self._words, self._seen = words, set[cst.CSTNode]()
                self._todo: list[cst.CSTNode] = [literal]
                while self._todo:
                    self._walk(self._todo.pop())

    @cached_property
    def named(self) -> frozenset[Variable]:
        """The variables that unknown code may look up."""
        return frozenset(variable for read in self.read_by.values() for variable in read)

    def _variables(self, at: cst.CSTNode) -> set[Variable]:
        """The variables of functions and the module around a place that the words of the text name."""
        scope = self._module.scope_of(at)
        around = [scope, *scope.around()]
        names = ((s, w) for s in around if _holds_variables(s) for w in self._words & s.variables.keys())
        return {s.variables[w] for s, w in names}

    def _follow(self, node: cst.CSTNode) -> None:
        """Follow what may hold the text, later."""
        self._todo.append(node)

    def _walk(self, start: cst.CSTNode) -> None:
        """Follow a text, or what may hold one, to its readers."""
        parent, node = self._module.parent, start
        while node not in self._seen:
            self._seen.add(node)
            above = parent(node)
            if isinstance(above, cst.Arg):
                goes_on = isinstance(call := parent(above), cst.Call) and self._argument(above, call)
                if not goes_on:
                    return
                node = parent(above)
            elif isinstance(above, cst.Attribute) and above.value is node:
                if not self._method(above):
                    return
                node = parent(above) if above.attr.value != "value" else above
            elif isinstance(above, cst.NamedExpr):
                self._held_by(above.target)
                node = above
            elif isinstance(above, _PASS_ON) and not (
                isinstance(above, cst.DictElement) and above.key is node
            ):
                node = above
            else:
                self._bind(above, node)
                return

    def _method(self, attribute: cst.Attribute) -> bool:
        """Record the readers of an object that holds the text; whether the value may hold it, too."""
        call, name = self._module.parent(attribute), attribute.attr.value
        if not isinstance(call, cst.Call) or call.func is not attribute:
            return name == "value"  # of an enumeration's member
        if name in MUTATING_METHODS | _FOR_PEOPLE - {"get"}:
            return False
        if name in READING_METHODS | {"get", "copy"}:
            return True
        self.read_by[call] |= self._variables(call)
        return False

    def _argument(self, argument: cst.Arg, call: cst.Call) -> bool:
        """Record the readers of an argument; whether the value of the call may hold the text."""
        builtin = self._builtin(call.func)
        if isinstance(self._module.parent(call), cst.Raise | cst.From) or builtin in _TAKES_ONLY:
            return False
        if builtin is not None and (builtin in PURE_BUILTINS or builtin in {"iter", "next", "getattr"}):
            return True
        if builtin is not None and isinstance(getattr(builtins, builtin, None), type):
            return False  # an exception
        origin = self._origin(call.func)
        if origin is not None:
            if not origin:
                self._passed(argument, call)
            return origin in _KEEPS_THE_TEXT
        method = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
        if method in READING_METHODS:
            return True
        if method in MUTATING_METHODS and isinstance(call.func, cst.Attribute):
            self._held_by(call.func.value)
            return False
        if method not in _FOR_PEOPLE and not method.startswith("assert"):
            self.read_by[call] |= self._variables(call)
        return False

    def _bind(self, above: cst.CSTNode, node: cst.CSTNode) -> None:
        """Follow what a statement, a parameter or a loop binds to the text."""
        parent = self._module.parent
        if isinstance(above, cst.Assign) and above.value is node:
            for target in above.targets:
                self._held_by(target.target)
        elif isinstance(above, cst.AnnAssign | cst.AugAssign) and above.value is node:
            self._held_by(above.target)
        elif isinstance(above, cst.Param) and above.default is node:
            self._held_by(above.name)
        elif isinstance(above, cst.For | cst.CompFor) and above.iter is node:
            self._held_by(above.target)
            if isinstance(above, cst.CompFor):
                self._follow(parent(above))
        elif isinstance(above, cst.Return | cst.Yield):
            self._returned(above)

    def _returned(self, node: cst.CSTNode) -> None:
        """Follow what a function returns or yields to its calls."""
        function = self._module.function_at(self._module.start(node))
        if function is None:
            return
        name = function.node.name
        variable = self._module.scopes.variable(name)
        uses = [o.node for o in variable.occurrences if o.role is Role.USE] if variable is not None else []
        for use in (*uses, *(self._attributes[name.value] if "." in function.qualname else ())):
            call = self._module.parent(use)
            self._follow(call if isinstance(call, cst.Call) and call.func is use else use)

    def _passed(self, argument: cst.Arg, call: cst.Call) -> None:
        """Follow an argument to the parameters of the functions of the file that have the callee's name."""
        method = isinstance(call.func, cst.Attribute)
        name = (
            call.func.attr.value if isinstance(call.func, cst.Attribute) else getattr(call.func, "value", "")
        )
        for function in self._functions.get(name, ()):
            names = [param.name for param in parameters(function.params)]
            if argument.keyword is not None:
                targets = [given for given in names if given.value == argument.keyword.value]
            else:
                at = list(call.args).index(argument) + method
                targets = names[at : at + 1]
            for given in targets:
                self._held_by(given)

    def _held_by(self, target: cst.CSTNode) -> None:
        """Follow every use of what may hold the text from now on."""
        while isinstance(target, cst.Subscript):
            target = target.value
        if isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._held_by(element.value)
        elif isinstance(target, cst.Attribute):
            self.stored |= self._variables(target)
            for use in self._attributes[target.attr.value]:
                self._follow(use)
        else:
            variable = self._module.scopes.variable(target)
            for occurrence in variable.occurrences if variable is not None else ():
                if occurrence.role is Role.USE:
                    self._follow(occurrence.node)
            if variable is not None and variable.scope.kind is ScopeKind.CLASS:
                for use in self._attributes[variable.name]:
                    self._follow(use)

    @cached_property
    def _attributes(self) -> defaultdict[str, list[cst.Attribute]]:
        """The attributes of the file that are read, by name."""
        attributes: defaultdict[str, list[cst.Attribute]] = defaultdict(list)
        for node in self._module.nodes(cst.Attribute):
            attributes[node.attr.value].append(node)
        return attributes

    def _origin(self, callee: cst.BaseExpression) -> str | None:
        """The module of a callee that looks nothing up: of the standard library, or `""` for this file."""
        root = callee
        while isinstance(root, cst.Attribute):
            root = root.value
        variable = self._module.scopes.variable(root)
        if variable is None:
            return None
        if root is callee and variable.roles <= {Role.DEFINE, Role.USE}:
            return ""
        if isinstance(callee, cst.Attribute) and root is callee.value and variable.name in {"self", "cls"}:
            return "" if callee.attr.value in self._functions else None
        if not variable.roles <= {Role.IMPORT, Role.USE}:
            return None
        origins = {imported_from(self._module, o.node) for o in variable.occurrences if o.role is Role.IMPORT}
        origin = next(iter(origins)) if len(origins) == 1 else None
        known = origin in sys.stdlib_module_names and origin not in _READS_FRAMES
        return origin if known else None

    @cached_property
    def _functions(self) -> dict[str, list[cst.FunctionDef]]:
        functions: dict[str, list[cst.FunctionDef]] = {}
        for function in self._module.functions:
            functions.setdefault(function.node.name.value, []).append(function.node)
        return functions


def imported_from(module: Module, name: cst.CSTNode) -> str | None:
    """The first part of the name of the module that an import binds to a name, or takes it from."""
    for above in module.ancestors(name):
        if isinstance(above, cst.ImportFrom):
            if above.relative or above.module is None:
                return None
            return module.text(module.span(above.module)).partition(".")[0]
        if isinstance(above, cst.ImportAlias) and not isinstance(module.parent(above), cst.ImportFrom):
            return module.text(module.span(above.name)).partition(".")[0]
    return None
