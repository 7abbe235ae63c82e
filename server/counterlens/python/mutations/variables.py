"""Scopes, variables and the occurrences of names, for name resolution."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

import libcst as cst


class ScopeKind(Enum):
    """The construct that opened a scope."""

    MODULE = auto()
    CLASS = auto()
    FUNCTION = auto()
    LAMBDA = auto()
    COMPREHENSION = auto()
    TYPES = auto()  # type parameters, PEP 695


class Role(Enum):
    """The use of one occurrence of a name."""

    USE = auto()
    BIND = auto()  # =, :=, for, with, except, case, comprehension
    AUGMENT = auto()
    DELETE = auto()
    PARAMETER = auto()
    IMPORT = auto()
    DEFINE = auto()  # def, class, type
    DECLARE = auto()  # global, nonlocal
    ANNOTATE = auto()  # `x: int`, which binds nothing but makes x local


@dataclass(eq=False, slots=True)
class Scope:
    """One scope and the names that occur directly in it.

    Attributes:
        kind: The construct that opened it.
        node: The node that opened it.
        parent: The scope around it; None for the module's.
        globals: Names that it declares global.
        nonlocals: Names that it declares nonlocal.
        occurrences: The names in it, in source order.
        stars: Whether a star import may bind any name in it.
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
        """Whether it is a function's, lambda's or comprehension's scope: not accessible from outside."""
        return self.kind in {ScopeKind.FUNCTION, ScopeKind.LAMBDA, ScopeKind.COMPREHENSION}

    def inside(self) -> Iterator[Scope]:
        """This scope and all scopes nested in it."""
        yield self
        for child in self.children:
            yield from child.inside()

    def around(self) -> Iterator[Scope]:
        """The enclosing scopes, innermost first."""
        scope = self.parent
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(eq=False, slots=True)
class Occurrence:
    """One occurrence of a name.

    Attributes:
        node: The name's node.
        scope: The scope that contains it.
        variable: The variable that it refers to; None for a builtin, or a name that the file does not bind.
    """

    node: cst.Name
    role: Role
    scope: Scope
    variable: Variable | None = None

    @property
    def name(self) -> str:
        """The name as Python compares it (NFKC)."""
        return normal(self.node.value)

    def deferred(self, owner: Scope) -> bool:
        """Whether it is in a function or generator expression nested in a scope, to run at another time."""
        scope: Scope | None = self.scope
        while scope is not None and scope is not owner:
            if scope.kind is not ScopeKind.COMPREHENSION or isinstance(scope.node, cst.GeneratorExp):
                return True
            scope = scope.parent
        return False


@dataclass(eq=False, slots=True)
class Variable:
    """A variable of one scope, with all its occurrences, those in nested scopes included."""

    name: str
    scope: Scope
    occurrences: list[Occurrence] = field(default_factory=list)

    @property
    def roles(self) -> set[Role]:
        """The roles of its occurrences."""
        return {occurrence.role for occurrence in self.occurrences}

    @property
    def shared(self) -> bool:
        """Whether code outside its scope can access it: a module's or class's, or captured by a closure."""
        return not self.scope.is_function or any(o.deferred(self.scope) for o in self.occurrences)


def normal(name: str) -> str:
    """A name as Python compares it (NFKC)."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)
