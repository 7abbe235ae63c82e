"""Which variable each name means: Python's scopes and bindings, resolved over a LibCST tree.

The rules are those of the language reference (4.2 Naming and binding) and of PEP 227, 572, 634 and 695. The
tests compare the outcome with CPython's own `symtable` over the standard library.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

import libcst as cst

from counterlens.mutations.children import children


class ScopeKind(Enum):
    """What opened a scope."""

    MODULE = auto()
    CLASS = auto()
    FUNCTION = auto()
    LAMBDA = auto()
    COMPREHENSION = auto()
    TYPES = auto()  # type parameters, PEP 695


class Role(Enum):
    """What one occurrence of a name does."""

    USE = auto()
    BIND = auto()  # =, :=, for, with, except, case, comprehension
    AUGMENT = auto()
    DELETE = auto()
    PARAMETER = auto()
    IMPORT = auto()
    DEFINE = auto()  # def, class, type
    DECLARE = auto()  # global, nonlocal
    ANNOTATE = auto()  # `x: int`, which binds nothing but makes x local


_MAKES_LOCAL = frozenset(Role) - {Role.USE, Role.DECLARE}


@dataclass(eq=False, slots=True)
class Scope:
    """One scope and the names that occur directly in it.

    Attributes:
        kind: What opened it.
        node: The node that opened it.
        parent: The scope around it; None for the module's.
        variables: Its own variables by name.
        globals: Names that it declares global.
        nonlocals: Names that it declares nonlocal.
        occurrences: The names in it, in the order of the text.
        stars: Whether a star-import may bind anything in it.
    """

    kind: ScopeKind
    node: cst.CSTNode
    parent: Scope | None
    variables: dict[str, Variable] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    occurrences: list[Occurrence] = field(default_factory=list)
    children: list[Scope] = field(default_factory=list)
    stars: bool = False

    @property
    def is_function(self) -> bool:
        """Whether it is a function's, a lambda's or a comprehension's: closed to the outside."""
        return self.kind in {ScopeKind.FUNCTION, ScopeKind.LAMBDA, ScopeKind.COMPREHENSION}

    def inside(self) -> Iterator[Scope]:
        """It, and all scopes in it."""
        yield self
        for child in self.children:
            yield from child.inside()

    def around(self) -> Iterator[Scope]:
        """The scopes around it, innermost first."""
        scope = self.parent
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(eq=False, slots=True)
class Occurrence:
    """One occurrence of a name.

    Attributes:
        node: The name's node.
        role: What it does.
        scope: The scope that it stands in.
        variable: What it means; None for a builtin, or a name that is not bound in the file.
    """

    node: cst.Name
    role: Role
    scope: Scope
    variable: Variable | None = None

    @property
    def name(self) -> str:
        """The name as Python compares it."""
        return normal(self.node.value)

    def deferred(self, owner: Scope) -> bool:
        """Whether it stands in a function or generator inside of a scope, to run at another time."""
        scope: Scope | None = self.scope
        while scope is not None and scope is not owner:
            if scope.kind is not ScopeKind.COMPREHENSION or isinstance(scope.node, cst.GeneratorExp):
                return True
            scope = scope.parent
        return False


@dataclass(eq=False, slots=True)
class Variable:
    """A variable of one scope, and all of its occurrences, those in inner scopes included."""

    name: str
    scope: Scope
    occurrences: list[Occurrence] = field(default_factory=list)

    @property
    def roles(self) -> set[Role]:
        """What its occurrences do."""
        return {occurrence.role for occurrence in self.occurrences}

    @property
    def shared(self) -> bool:
        """Whether code outside its own scope can see it: a module's or class's, or captured by a closure."""
        return not self.scope.is_function or any(o.deferred(self.scope) for o in self.occurrences)


class Scopes:
    """The scopes of a tree, and the variable that each name in it means.

    Attributes:
        module: The module's scope, which has the others inside.
        of_node: The scope that a node opened.
        occurrence: What each name's node is an occurrence of.
        dynamic: Scopes whose own code may look variables up by name.
        shown: Occurrences whose text is shown at run time, `f"{x=}"`.
    """

    def __init__(self, tree: cst.Module) -> None:
        self.module = Scope(ScopeKind.MODULE, tree, None)
        self.of_node: dict[cst.CSTNode, Scope] = {tree: self.module}
        self.occurrence: dict[cst.Name, Occurrence] = {}
        self.dynamic: set[Scope] = set()
        self.shown: set[Occurrence] = set()
        _Walker(self).block(tree, self.module)
        for scope in self.module.inside():
            self._bind(scope)
        for scope in self.module.inside():
            for occurrence in scope.occurrences:
                self._resolve(occurrence)

    def all(self) -> Iterator[Scope]:
        """All scopes, outer ones first."""
        return self.module.inside()

    def variable(self, node: cst.CSTNode) -> Variable | None:
        """The variable that a name means."""
        occurrence = self.occurrence.get(node) if isinstance(node, cst.Name) else None
        return occurrence.variable if occurrence else None

    def builtin(self, node: cst.CSTNode) -> str | None:
        """The name of the builtin that a name means, where the file cannot have hidden it."""
        if not isinstance(node, cst.Name) or self.module.stars:
            return None
        occurrence = self.occurrence.get(node)
        return node.value if occurrence is not None and occurrence.variable is None else None

    def hides(self, name: str, scope: Scope) -> bool:
        """Whether the name of a builtin may mean something else in a scope."""
        return self.module.stars or any(name in seen.variables for seen in (scope, *scope.around()))

    def reads_names(self, scope: Scope) -> bool:
        """Whether code in a scope, or inside of it, may look its variables up by name."""
        return any(inner in self.dynamic for inner in scope.inside())

    def clash(self, renamed: dict[Variable, str], root: Scope) -> str | None:
        """A name that would mean another variable after a renaming, or None where all keep their meaning.

        Args:
            renamed: The new names of variables, all of scopes in `root`.
            root: A scope that has all of their occurrences inside.
        """
        after: dict[Scope, list[str]] = {}
        for scope in {variable.scope for variable in renamed}:
            after[scope] = names = [renamed.get(v, v.name) for v in scope.variables.values()]
            if len(set(names)) < len(names):
                return next(name for name in names if names.count(name) > 1)
        concerned = set(renamed.values()) | {variable.name for variable in renamed}
        for scope in root.inside():
            for occurrence in scope.occurrences:
                variable = occurrence.variable
                name = renamed.get(variable, occurrence.name) if variable else occurrence.name
                if name in concerned and self._captured(occurrence, name, after):
                    return name
        return None

    @staticmethod
    def _captured(occurrence: Occurrence, name: str, after: dict[Scope, list[str]]) -> bool:
        """Whether a scope between an occurrence and its variable would bind the name."""
        owner = occurrence.variable.scope if occurrence.variable else None
        if name in occurrence.scope.globals:
            return False
        scope: Scope | None = occurrence.scope
        while scope is not None and scope is not owner:
            names = after.get(scope)
            visible = scope is occurrence.scope or scope.kind is not ScopeKind.CLASS
            if visible and (name in names if names is not None else name in scope.variables):
                return True
            scope = scope.parent
        return False

    def _bind(self, scope: Scope) -> None:
        for occurrence in scope.occurrences:
            name = occurrence.name
            if occurrence.role in _MAKES_LOCAL:
                owner = self._owner(scope, name)
                if owner is None:
                    continue
                if name not in owner.variables:
                    owner.variables[name] = Variable(name, owner)
        for name in scope.globals:
            if name not in self.module.variables:
                self.module.variables[name] = Variable(name, self.module)

    def _owner(self, scope: Scope, name: str) -> Scope | None:
        """The scope whose variable a binding makes; None for a name that is declared nonlocal."""
        while name in scope.nonlocals and scope.kind is ScopeKind.COMPREHENSION and scope.parent is not None:
            scope = scope.parent
        if name in scope.globals:
            return self.module
        return None if name in scope.nonlocals else scope

    def _resolve(self, occurrence: Occurrence) -> None:
        name, scope = occurrence.name, occurrence.scope
        found: Variable | None = None
        if name in scope.globals:
            found = self.module.variables.get(name)
        else:
            if name not in scope.nonlocals:
                found = scope.variables.get(name)
            for outer in scope.around():
                if found is not None:
                    break
                if name in outer.globals:
                    found = self.module.variables.get(name)
                elif outer.kind is not ScopeKind.CLASS:
                    found = outer.variables.get(name)
        occurrence.variable = found
        if found is not None:
            found.occurrences.append(occurrence)


# Functions that see the variables around them by name, and attributes that lead to a frame.
_BY_NAME = frozenset({"locals", "vars", "dir", "eval", "exec"})
# With so many arguments they are told where to look instead.
_EXPLICIT = {"vars": 1, "dir": 1, "eval": 2, "exec": 2}
_FRAMES = frozenset({"_getframe", "currentframe", "f_locals", "gi_frame", "cr_frame", "ag_frame", "tb_frame"})


class _Walker:
    """Finds scopes and occurrences; one method for each kind of node that binds or opens something."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._shown = 0

    def block(self, node: cst.CSTNode, scope: Scope) -> None:
        for child in children(node):
            self.walk(child, scope)

    def walk(self, node: cst.CSTNode, scope: Scope) -> None:
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            handler(self, node, scope)
        else:
            for child in children(node):
                self.walk(child, scope)

    def all(self, nodes: Sequence[cst.CSTNode], scope: Scope) -> None:
        for node in nodes:
            self.walk(node, scope)

    def name(self, node: cst.CSTNode, role: Role, scope: Scope) -> None:
        assert isinstance(node, cst.Name)
        occurrence = Occurrence(node, role, scope)
        scope.occurrences.append(occurrence)
        self._scopes.occurrence[node] = occurrence
        if self._shown:
            self._scopes.shown.add(occurrence)

    def open(self, kind: ScopeKind, node: cst.CSTNode, parent: Scope) -> Scope:
        scope = Scope(kind, node, parent)
        parent.children.append(scope)
        self._scopes.of_node[node] = scope
        return scope

    # Names

    def use(self, node: cst.Name, scope: Scope) -> None:
        if node.value in _BY_NAME:
            self._scopes.dynamic.add(scope)
        self.name(node, Role.USE, scope)

    def attribute(self, node: cst.Attribute, scope: Scope) -> None:
        if node.attr.value in _FRAMES:
            self._scopes.dynamic.add(scope)
        self.walk(node.value, scope)

    def target(self, node: cst.CSTNode, scope: Scope, role: Role = Role.BIND) -> None:
        if isinstance(node, cst.Name):
            self.name(node, role, scope)
        elif isinstance(node, cst.Tuple | cst.List):
            for element in node.elements:
                self.target(element.value, scope, role)
        elif isinstance(node, cst.StarredElement):
            self.target(node.value, scope, role)
        else:
            self.walk(node, scope)

    def argument(self, node: cst.Arg, scope: Scope) -> None:
        self.walk(node.value, scope)

    # Bindings

    def assign(self, node: cst.Assign, scope: Scope) -> None:
        for target in node.targets:
            self.target(target.target, scope)
        self.walk(node.value, scope)

    def annotated(self, node: cst.AnnAssign, scope: Scope) -> None:
        simple = isinstance(node.target, cst.Name) and not node.target.lpar
        role = Role.ANNOTATE if simple and node.value is None else Role.BIND
        if isinstance(node.target, cst.Name) and node.target.lpar and node.value is None:
            role = Role.USE  # `(x): int` declares nothing
        self.target(node.target, scope, role)
        self.walk(node.annotation, scope)
        if node.value is not None:
            self.walk(node.value, scope)

    def augmented(self, node: cst.AugAssign, scope: Scope) -> None:
        self.target(node.target, scope, Role.AUGMENT)
        self.walk(node.value, scope)

    def delete(self, node: cst.Del, scope: Scope) -> None:
        self.target(node.target, scope, Role.DELETE)

    def loop(self, node: cst.For, scope: Scope) -> None:
        self.target(node.target, scope)
        self.walk(node.iter, scope)
        self.walk(node.body, scope)
        if node.orelse is not None:
            self.walk(node.orelse, scope)

    def walrus(self, node: cst.NamedExpr, scope: Scope) -> None:
        assert isinstance(node.target, cst.Name)
        inner: Scope | None = scope
        while inner is not None and inner.kind is ScopeKind.COMPREHENSION:
            inner.nonlocals.add(normal(node.target.value))  # it belongs to the scope around
            inner = inner.parent
        self.target(node.target, scope)
        self.walk(node.value, scope)

    def replacement(self, node: cst.FormattedStringExpression, scope: Scope) -> None:
        self._shown += node.equal is not None
        self.block(node, scope)
        self._shown -= node.equal is not None

    def call(self, node: cst.Call, scope: Scope) -> None:
        func = node.func
        if isinstance(func, cst.Name) and len(node.args) >= _EXPLICIT.get(func.value, 99):
            self.name(func, Role.USE, scope)  # told explicitly where to look
        else:
            self.walk(func, scope)
        self.all(node.args, scope)

    def as_name(self, node: cst.AsName, scope: Scope) -> None:
        self.target(node.name, scope)

    def declare(self, node: cst.Global | cst.Nonlocal, scope: Scope) -> None:
        names = scope.globals if isinstance(node, cst.Global) else scope.nonlocals
        for item in node.names:
            names.add(normal(item.name.value))
            self.name(item.name, Role.DECLARE, scope)

    def imports(self, node: cst.Import, scope: Scope) -> None:
        for alias in node.names:
            self._imported(alias, scope)

    def imports_from(self, node: cst.ImportFrom, scope: Scope) -> None:
        if isinstance(node.names, cst.ImportStar):
            scope.stars = True
            return
        for alias in node.names:
            self._imported(alias, scope)

    def _imported(self, alias: cst.ImportAlias, scope: Scope) -> None:
        if alias.asname is not None:
            self.target(alias.asname.name, scope, Role.IMPORT)
            return
        name = alias.name
        while isinstance(name, cst.Attribute):
            assert isinstance(name.value, cst.Name | cst.Attribute)
            name = name.value
        self.name(name, Role.IMPORT, scope)

    def match_as(self, node: cst.MatchAs, scope: Scope) -> None:
        if node.pattern is not None:
            self.walk(node.pattern, scope)
        if node.name is not None:
            self.name(node.name, Role.BIND, scope)

    def match_star(self, node: cst.MatchStar, scope: Scope) -> None:
        if node.name is not None:
            self.name(node.name, Role.BIND, scope)

    def match_mapping(self, node: cst.MatchMapping, scope: Scope) -> None:
        self.all(node.elements, scope)
        if node.rest is not None:
            self.name(node.rest, Role.BIND, scope)

    def match_class(self, node: cst.MatchClass, scope: Scope) -> None:
        self.walk(node.cls, scope)
        self.all(node.patterns, scope)
        for keyword in node.kwds:
            self.walk(keyword.pattern, scope)

    # Scopes

    def function(self, node: cst.FunctionDef, scope: Scope) -> None:
        self.all(node.decorators, scope)
        self.name(node.name, Role.DEFINE, scope)
        outer = self._type_parameters(node.type_parameters, scope)
        inner = self.open(ScopeKind.FUNCTION, node, outer)
        self._parameters(node.params, scope, outer, inner)
        if node.returns is not None:
            self.walk(node.returns, outer)
        self.walk(node.body, inner)

    def function_lambda(self, node: cst.Lambda, scope: Scope) -> None:
        inner = self.open(ScopeKind.LAMBDA, node, scope)
        self._parameters(node.params, scope, scope, inner)
        self.walk(node.body, inner)

    def _parameters(self, node: cst.Parameters, defaults: Scope, annotations: Scope, inner: Scope) -> None:
        for param in parameters(node):
            if param.default is not None:
                self.walk(param.default, defaults)
            if param.annotation is not None:
                self.walk(param.annotation, annotations)
            self.name(param.name, Role.PARAMETER, inner)

    def class_(self, node: cst.ClassDef, scope: Scope) -> None:
        self.all(node.decorators, scope)
        self.name(node.name, Role.DEFINE, scope)
        outer = self._type_parameters(node.type_parameters, scope)
        self.all(node.bases, outer)
        self.all(node.keywords, outer)
        self.walk(node.body, self.open(ScopeKind.CLASS, node, outer))

    def type_alias(self, node: cst.TypeAlias, scope: Scope) -> None:
        self.name(node.name, Role.DEFINE, scope)
        self.walk(node.value, self._type_parameters(node.type_parameters, scope))

    def _type_parameters(self, types: cst.TypeParameters | None, scope: Scope) -> Scope:
        if types is None:
            return scope
        inner = self.open(ScopeKind.TYPES, types, scope)
        for parameter in types.params:
            self.name(parameter.param.name, Role.PARAMETER, inner)
            bound = getattr(parameter.param, "bound", None)
            for part in (bound, parameter.default):
                if part is not None:
                    self.walk(part, inner)
        return inner

    def comprehension(self, node: cst.BaseComp, scope: Scope) -> None:
        inner = self.open(ScopeKind.COMPREHENSION, node, scope)
        loop: cst.CompFor | None = node.for_in
        around = scope  # the first iterable is evaluated outside
        while loop is not None:
            self.walk(loop.iter, around)
            around = inner
            self.target(loop.target, inner)
            self.all(loop.ifs, inner)
            loop = loop.inner_for_in
        for name in ("key", "value", "elt"):
            part = getattr(node, name, None)
            if part is not None:
                self.walk(part, inner)


_HANDLERS: dict[type[cst.CSTNode], Callable[[_Walker, Any, Scope], None]] = {
    cst.Call: _Walker.call,
    cst.FormattedStringExpression: _Walker.replacement,
    cst.Name: _Walker.use,
    cst.Attribute: _Walker.attribute,
    cst.Arg: _Walker.argument,
    cst.Assign: _Walker.assign,
    cst.AnnAssign: _Walker.annotated,
    cst.AugAssign: _Walker.augmented,
    cst.Del: _Walker.delete,
    cst.For: _Walker.loop,
    cst.NamedExpr: _Walker.walrus,
    cst.AsName: _Walker.as_name,
    cst.Global: _Walker.declare,
    cst.Nonlocal: _Walker.declare,
    cst.Import: _Walker.imports,
    cst.ImportFrom: _Walker.imports_from,
    cst.MatchAs: _Walker.match_as,
    cst.MatchStar: _Walker.match_star,
    cst.MatchMapping: _Walker.match_mapping,
    cst.MatchClass: _Walker.match_class,
    cst.FunctionDef: _Walker.function,
    cst.Lambda: _Walker.function_lambda,
    cst.ClassDef: _Walker.class_,
    cst.TypeAlias: _Walker.type_alias,
    cst.ListComp: _Walker.comprehension,
    cst.SetComp: _Walker.comprehension,
    cst.DictComp: _Walker.comprehension,
    cst.GeneratorExp: _Walker.comprehension,
}


def parameters(node: cst.Parameters) -> list[cst.Param]:
    """All parameters of a function, in the order of the text."""
    found = [*node.posonly_params, *node.params]
    if isinstance(node.star_arg, cst.Param):
        found.append(node.star_arg)
    found += node.kwonly_params
    if node.star_kwarg is not None:
        found.append(node.star_kwarg)
    return found


def normal(name: str) -> str:
    """A name as Python compares it (NFKC)."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)
