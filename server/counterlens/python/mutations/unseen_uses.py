"""Uses of variables that no occurrence of their names shows.

Code may look variables up by name (`python/dependence/lookups.py`), or give a text with their names to a
library that does (`named_in_text.py`).

Variables whose names stand in a text that a library may read, as in `frame.query("x > @limit")`.

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
from functools import cached_property, lru_cache

import libcst as cst

from counterlens.errors import SourceError
from counterlens.python.dependence.lookups import Lookup, Lookups, find_lookups, has_lookups
from counterlens.python.dependence.program import parse
from counterlens.python.mutations.kinds import MUTATING_METHODS, PURE_BUILTINS, READING_METHODS
from counterlens.python.mutations.module import FunctionNode, Module
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


_EXPOSING = {
    "modules", "__dict__", "__import__", "import_module", "vars", "__globals__", "f_globals", "__main__",
}  # fmt: skip
"""Ways to the variables of a module."""
BY_NAME = "the function may look its variables up by name"


@lru_cache(maxsize=4)
def unseen_uses(module: Module) -> UnseenUses:
    """The unseen uses of the variables of a module, computed once."""
    return UnseenUses(module)


def by_text(name: str) -> str:
    """The reason why a variable whose name stands in a text must keep it."""
    return f"the code that gets a text with the word `{name}` may look the variable up by name"


class UnseenUses:
    """The uses of the variables of one module that no occurrence shows.

    Attributes:
        texts: The names in texts.
        everywhere: Whether code may look up the variables of any function.
        exposes_module: Whether code may access the module's variables by name.
        evaluates: Whether code may look up variables of any scope by name, such as `eval`.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self.texts = TextNames(module)
        self._functions: dict[FunctionNode | None, tuple[frozenset[str], frozenset[str], frozenset[str]]] = {}
        lookups = _lookups(module.source)
        self._kinds: dict[int, Lookup] = {}
        self._first: dict[int, str] = {}
        for node, kind in lookups.at.items():
            at = module.positions.line_start(node.lineno - 1) + node.col_offset  # type: ignore[attr-defined]
            self._kinds[at] = max(kind, self._kinds.get(at, kind))
            if node in lookups.first:
                self._first[at] = lookups.first[node]
        self.everywhere = lookups.everywhere
        self.exposes_module = Lookup.GLOBALS in self._kinds.values() or bool(_EXPOSING & module.words)
        self.evaluates = self.everywhere or Lookup.LOCALS in self._kinds.values()
        self._dynamic = {self._scope_at(at) for at, kind in self._kinds.items() if kind is Lookup.LOCALS}

    def by_name(self, scope: Scope) -> bool:
        """Whether code in a scope, or nested in it, may look the scope's variables up by name."""
        return self.everywhere or any(inner in self._dynamic for inner in scope.inside())

    def reads(self, node: cst.CSTNode) -> tuple[set[Variable], bool]:
        """The variables that a node uses unseen, and whether it may also change them."""
        if isinstance(node, cst.Call) and node in self.texts.read_by:
            return self.texts.read_by[node], False
        if not self._kinds or not isinstance(node, cst.BaseExpression):
            return set(), False
        at = self._module.start(node)
        kind = self._kinds.get(at)
        if kind is None:
            return set(), False
        scope = self._scope_at(at)
        around = [s for s in (scope, *scope.around()) if s.is_function]
        variables = {variable for s in around for variable in s.variables.values()}
        if kind is Lookup.LOCALS:
            return variables, True
        first = self._first.get(at)
        return {v for v in variables if v.name == first and Role.PARAMETER in v.roles}, False

    def outermost(self, offset: int) -> FunctionNode | None:
        """The outermost function around an offset."""
        outer = function = self._module.function_at(offset)
        while function is not None:
            outer = function
            function = self._module.function_around(function)
        return outer

    def in_function(
        self, function: FunctionNode | None
    ) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Names in an outermost function: looked up; in texts that are read; in texts that are kept."""
        known = self._functions.get(function)
        if known is None:
            known = self._functions[function] = self._names_in(function)
        return known

    def _names_in(
        self, function: FunctionNode | None
    ) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        if function is None:
            return frozenset(), frozenset(), frozenset()
        scopes = [s for s in self._module.scopes.of_node[function.node].inside() if s.is_function]
        variables = [v for s in scopes for v in s.variables.values()]
        looked_up = {v.name for s in scopes if self.by_name(s) for v in s.variables.values()}
        if self._first:  # `super()` reads what its parameter is bound to now
            looked_up |= {
                v.name for v in variables if v.name in self._first.values() and Role.BIND in v.roles
            }
        texts = {v.name for v in variables if v in self.texts.named}
        stored = {v.name for v in variables if v in self.texts.stored} - texts
        return frozenset(looked_up), frozenset(texts), frozenset(stored)

    def _scope_at(self, offset: int) -> Scope:
        """The scope of the code at an offset: of the name there, or the innermost one around it."""
        scope = self._scopes_of_names.get(offset)
        if scope is not None:
            return scope
        scopes, spans = self._module.scopes, self._module.span
        around = [s for s in scopes.all() if spans(s.node)[0] <= offset < spans(s.node)[1]]
        return around[-1] if around else scopes.module

    @cached_property
    def _scopes_of_names(self) -> dict[int, Scope]:
        start = self._module.start
        return {start(o.node): o.scope for s in self._module.scopes.all() for o in s.occurrences}


def _lookups(source: str) -> Lookups:
    """The lookups of a source; those of a later Python's syntax may be anywhere."""
    try:
        return find_lookups(parse(source), source)
    except SourceError:
        return Lookups(everywhere=has_lookups(source))
