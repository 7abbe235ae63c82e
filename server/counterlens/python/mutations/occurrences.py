"""Scopes of a tree and the names that occur in them, before names are resolved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from counterlens.python.mutations.reading import child_fields
from counterlens.python.mutations.variables import Occurrence, Role, Scope, ScopeKind, normal

# The role of a name in a field of a node, if it is not merely read; None if it is not a variable.
_FIELDS: dict[tuple[type[cst.CSTNode], str], Role | None] = {
    (cst.AssignTarget, "target"): Role.BIND,
    (cst.NamedExpr, "target"): Role.BIND,
    (cst.For, "target"): Role.BIND,
    (cst.CompFor, "target"): Role.BIND,
    (cst.AsName, "name"): Role.BIND,
    (cst.MatchAs, "name"): Role.BIND,
    (cst.MatchStar, "name"): Role.BIND,
    (cst.MatchMapping, "rest"): Role.BIND,
    (cst.AugAssign, "target"): Role.AUGMENT,
    (cst.Del, "target"): Role.DELETE,
    (cst.Attribute, "attr"): None,
    (cst.Arg, "keyword"): None,
    (cst.MatchKeywordElement, "key"): None,
}


@dataclass(slots=True)
class Occurrences:
    """The scopes and occurrences in one tree.

    Attributes:
        module: The module's scope, which contains the others.
        of_node: The scope that each node opens.
        occurrence: The occurrence at each name's node.
        shown: Occurrences whose text is shown at run time, as in `f"{x=}"`.
    """

    module: Scope
    of_node: dict[cst.CSTNode, Scope] = field(default_factory=dict)
    occurrence: dict[cst.Name, Occurrence] = field(default_factory=dict)
    shown: set[Occurrence] = field(default_factory=set)


def find_occurrences(tree: cst.Module) -> Occurrences:
    """All scopes of a tree, and the names in them."""
    occurrences = Occurrences(Scope(ScopeKind.MODULE, tree, None))
    occurrences.of_node[tree] = occurrences.module
    _Walker(occurrences).block(tree, occurrences.module)
    return occurrences


class _Walker:
    """Finds scopes and occurrences; one method per node class for which `_FIELDS` does not suffice."""

    def __init__(self, occurrences: Occurrences) -> None:
        self._found = occurrences
        self._shown = 0

    def block(self, node: cst.CSTNode, scope: Scope) -> None:
        """What is in a node, in source order; by a stack, because blocks nest deeply."""
        pending = self._parts(node)
        while pending:
            child, role = pending.pop()
            handler = _HANDLERS.get(type(child))
            if role is not Role.USE:
                self.target(child, scope, role)
            elif handler is not None:
                handler(self, child, scope)
            else:
                pending += self._parts(child)

    @staticmethod
    def _parts(node: cst.CSTNode) -> list[tuple[cst.CSTNode, Role]]:
        """The children of a node with their roles, the last one first."""
        kind, parts = type(node), list[tuple[cst.CSTNode, Role]]()
        for name in child_fields(kind):
            value = getattr(node, name)
            role = _FIELDS.get((kind, name), Role.USE)
            if role is None or value is None:
                continue
            inside = value if isinstance(value, tuple | list) else (value,)
            parts += [
                (child, role) for child in inside if role is not Role.USE or isinstance(child, cst.CSTNode)
            ]
        parts.reverse()
        return parts

    def walk(self, node: cst.CSTNode, scope: Scope) -> None:
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            handler(self, node, scope)
        else:
            self.block(node, scope)

    def all(self, nodes: Sequence[cst.CSTNode], scope: Scope) -> None:
        for node in nodes:
            self.walk(node, scope)

    def name(self, node: cst.CSTNode, scope: Scope, role: Role = Role.USE) -> None:
        assert isinstance(node, cst.Name)
        occurrence = Occurrence(node, role, scope)
        scope.occurrences.append(occurrence)
        self._found.occurrence[node] = occurrence
        if self._shown:
            self._found.shown.add(occurrence)

    def open(self, kind: ScopeKind, node: cst.CSTNode, parent: Scope) -> Scope:
        scope = Scope(kind, node, parent)
        parent.children.append(scope)
        self._found.of_node[node] = scope
        return scope

    # Names

    def target(self, node: cst.CSTNode, scope: Scope, role: Role = Role.BIND) -> None:
        if isinstance(node, cst.Name):
            self.name(node, scope, role)
        elif isinstance(node, cst.Tuple | cst.List):
            for element in node.elements:
                self.target(element.value, scope, role)
        elif isinstance(node, cst.StarredElement):
            self.target(node.value, scope, role)
        else:
            self.walk(node, scope)

    # Bindings

    def annotated(self, node: cst.AnnAssign, scope: Scope) -> None:
        simple = isinstance(node.target, cst.Name) and not node.target.lpar
        role = Role.ANNOTATE if simple and node.value is None else Role.BIND
        if isinstance(node.target, cst.Name) and node.target.lpar and node.value is None:
            role = Role.USE  # `(x): int` declares nothing
        self.target(node.target, scope, role)
        self.walk(node.annotation, scope)
        if node.value is not None:
            self.walk(node.value, scope)

    def walrus(self, node: cst.NamedExpr, scope: Scope) -> None:
        assert isinstance(node.target, cst.Name)
        inner: Scope | None = scope
        while inner is not None and inner.kind is ScopeKind.COMPREHENSION:
            inner.nonlocals.add(normal(node.target.value))  # it belongs to the enclosing scope
            inner = inner.parent
        self.block(node, scope)

    def replacement(self, node: cst.FormattedStringExpression, scope: Scope) -> None:
        self._shown += node.equal is not None
        self.block(node, scope)
        self._shown -= node.equal is not None

    def declare(self, node: cst.Global | cst.Nonlocal, scope: Scope) -> None:
        names = scope.globals if isinstance(node, cst.Global) else scope.nonlocals
        for item in node.names:
            names.add(normal(item.name.value))
            self.name(item.name, scope, Role.DECLARE)

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
        self.name(name, scope, Role.IMPORT)

    # Scopes

    def function(self, node: cst.FunctionDef, scope: Scope) -> None:
        self.all(node.decorators, scope)
        self.name(node.name, scope, Role.DEFINE)
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
            self.name(param.name, inner, Role.PARAMETER)

    def class_(self, node: cst.ClassDef, scope: Scope) -> None:
        self.all(node.decorators, scope)
        self.name(node.name, scope, Role.DEFINE)
        outer = self._type_parameters(node.type_parameters, scope)
        self.all(node.bases, outer)
        self.all(node.keywords, outer)
        self.walk(node.body, self.open(ScopeKind.CLASS, node, outer))

    def type_alias(self, node: cst.TypeAlias, scope: Scope) -> None:
        self.name(node.name, scope, Role.DEFINE)
        self.walk(node.value, self._type_parameters(node.type_parameters, scope))

    def _type_parameters(self, types: cst.TypeParameters | None, scope: Scope) -> Scope:
        if types is None:
            return scope
        inner = self.open(ScopeKind.TYPES, types, scope)
        for parameter in types.params:
            self.name(parameter.param.name, inner, Role.PARAMETER)
            bound = getattr(parameter.param, "bound", None)
            for part in (bound, parameter.default):
                if part is not None:
                    self.walk(part, inner)
        return inner

    def comprehension(self, node: cst.BaseComp, scope: Scope) -> None:
        inner = self.open(ScopeKind.COMPREHENSION, node, scope)
        loop: cst.CompFor | None = node.for_in
        around = scope  # the first iterable is evaluated in the enclosing scope
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
    cst.FormattedStringExpression: _Walker.replacement,
    cst.Name: _Walker.name,
    cst.AnnAssign: _Walker.annotated,
    cst.NamedExpr: _Walker.walrus,
    cst.Global: _Walker.declare,
    cst.Nonlocal: _Walker.declare,
    cst.Import: _Walker.imports,
    cst.ImportFrom: _Walker.imports_from,
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
    """All parameters of a function, in source order."""
    params = [*node.posonly_params, *node.params]
    if isinstance(node.star_arg, cst.Param):
        params.append(node.star_arg)
    params += node.kwonly_params
    if node.star_kwarg is not None:
        params.append(node.star_kwarg)
    return params
