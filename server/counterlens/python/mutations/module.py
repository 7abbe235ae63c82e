"""One parsed source file: its tree and positions are computed once and shared by all mutations.

Name resolution by Python's scopes and bindings, on a LibCST tree.

The rules are those of the language reference (4.2 Naming and binding) and of PEP 227, 572, 634 and 695. The
tests compare the result with CPython's `symtable` on the standard library.

`python/dependence/scopes.py` implements the same rules on `ast`, and neither can replace the other: `ast` has
no position for many names that a renaming must find (of a `def`, an import, `except … as`, `global`, a
capture), and parsing with LibCST takes several times as long as the whole dependence analysis on `ast`.
"""

from __future__ import annotations

import builtins
import itertools
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

import libcst as cst

from counterlens.mutations.parsed import FunctionSpan, ParsedFile, quote
from counterlens.python.mutations.occurrences import find_occurrences
from counterlens.python.mutations.reading import children, parse, spans, suites
from counterlens.python.mutations.variables import Occurrence, Role, Scope, ScopeKind, Variable
from counterlens.syntax.tree import deep_recursion

Node = TypeVar("Node", bound=cst.CSTNode)
Suite = cst.BaseSuite
_MAKES_LOCAL = frozenset(Role) - {Role.USE, Role.DECLARE}


@dataclass(frozen=True, slots=True, eq=False)
class FunctionNode(FunctionSpan):
    """A function definition and its position: from `def` or `async def` to the end of its last statement."""

    node: cst.FunctionDef


class Module(ParsedFile[FunctionNode]):
    """A source file, its tree, and the position of each node. Offsets are UTF-8 bytes.

    Raises:
        SourceError: it does not parse.
    """

    language = "python"
    reserved = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins)))

    def __init__(self, source: str) -> None:
        self.tree = parse(source)
        super().__init__(source)
        with deep_recursion():
            self._spans = spans(self.tree, self.data)
        self._parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self._by_type: dict[type[cst.CSTNode], list[cst.CSTNode]] = {}
        self.newline = self.tree.default_newline
        self.functions: list[FunctionNode] = []
        self._index()

    # Nodes and scopes

    def nodes(self, *types: type[Node]) -> Iterator[Node]:
        """All nodes of exactly these classes, class by class, in source order within each."""
        for kind in types:
            yield from cast("list[Node]", self._by_type.get(kind, ()))

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        """The parent of a node; the module is its own parent."""
        return self._parents.get(node, self.tree)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The ancestors of a node, innermost first, the module last."""
        while (above := self._parents.get(node)) is not None:
            yield above
            node = above

    @cached_property
    def long_strings(self) -> list[tuple[int, int]]:
        strings = self.nodes(cst.SimpleString, cst.FormattedString, cst.TemplatedString)
        spans = (self.span(string) for string in strings)
        return sorted(span for span in spans if self.line(span[0]) < self.line(span[1] - 1))

    @cached_property
    def scopes(self) -> Scopes:
        """Its scopes, and the variable to which each name refers."""
        with deep_recursion():
            return Scopes(self.tree)

    def descendants(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """A node and all its descendants, in preorder."""
        waiting = [node]
        while waiting:
            descendant = waiting.pop()
            yield descendant
            waiting += reversed(children(descendant))

    def scope_of(self, node: cst.CSTNode) -> Scope:
        """The scope that contains a node."""
        for above in self.ancestors(node):
            scope = self.scopes.of_node.get(above)
            if scope is not None:
                return scope
        return self.scopes.module

    def free_name(self, name: str, depth: int = 0) -> str:
        """A name that does not occur in the file, the same for the same `name` and `depth`."""
        suffixes = ("" if not number else str(number + 1) for number in itertools.count())
        free = (f"{name}{suffix}" for suffix in suffixes if f"{name}{suffix}" not in self.words)
        return next(itertools.islice(free, depth, None))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self.source))

    # Positions

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """A node's byte range, without its parentheses and the whitespace around it."""
        return self._spans[node]

    def start(self, node: cst.CSTNode) -> int:
        """The offset of a node's first byte."""
        return self._spans[node][0]

    def end(self, node: cst.CSTNode) -> int:
        """The offset after a node's last byte."""
        return self._spans[node][1]

    def outer(self, node: cst.BaseExpression) -> tuple[int, int]:
        """An expression's byte range with its parentheses."""
        start, end = self._spans[node]
        if node.lpar:
            return self._spans[node.lpar[0]][0], self._spans[node.rpar[-1]][1]
        return start, end

    def text(self, span: tuple[int, int]) -> str:
        """The text of a byte range."""
        return self.data[span[0] : span[1]].decode("utf-8", "replace")

    def shown(self, node: cst.CSTNode) -> str:
        """A node as quoted in a description."""
        return quote(self.text(self.span(node)))

    def indentation(self, node: cst.CSTNode) -> str:
        """The whitespace at the beginning of a node's line."""
        line = self.data[self.line_start(self.start(node)) : self.start(node)]
        return line[: len(line) - len(line.lstrip(b" \t\f"))].decode()

    def suite(self, suite: Suite) -> tuple[int, int]:
        """A body's byte range, from after the colon to the end of its last line, without the newline."""
        if isinstance(suite, cst.IndentedBlock):
            start = self.start(suite.header)
        else:
            start = self.start(cst.ensure_type(suite, cst.SimpleStatementSuite).leading_whitespace)
        return start, self.without_newline(self._suite_end(suite))

    def statement_end(self, statement: cst.CSTNode) -> int:
        """The offset after a statement's last line, newline included."""
        if isinstance(statement, cst.SimpleStatementLine):
            return self.end(statement.trailing_whitespace)
        if isinstance(statement, cst.Match):
            if statement.footer:
                return self.end(statement.footer[-1])
            return self._suite_end(statement.cases[-1].body)
        if isinstance(statement, cst.Try | cst.TryStar):
            parts = (statement.finalbody, statement.orelse, *reversed(statement.handlers))
            last: cst.CSTNode = next(part for part in parts if part is not None)
            return self._suite_end(_body(last))
        orelse = getattr(statement, "orelse", None)
        while isinstance(orelse, cst.If):  # a loop, because generated code may have thousands of `elif`
            statement, orelse = orelse, orelse.orelse
        return self._suite_end(_body(statement if orelse is None else orelse))

    def _suite_end(self, suite: Suite) -> int:
        if isinstance(suite, cst.SimpleStatementSuite):
            return self.end(suite.trailing_whitespace)
        block = cst.ensure_type(suite, cst.IndentedBlock)
        if block.footer:
            return self.end(block.footer[-1])
        return self.statement_end(block.body[-1])

    def without_newline(self, end: int) -> int:
        """An offset after a line, moved before that line's newline."""
        for newline in (b"\r\n", b"\n", b"\r"):
            if self.data.endswith(newline, 0, end):
                return end - len(newline)
        return end

    # Functions

    def lines_of(self, function: FunctionSpan) -> list[int]:
        """Offsets of the lines on which a statement of a function begins, without its docstring."""
        return self._statement_lines.get(function, [])

    @cached_property
    def _statement_lines(self) -> dict[FunctionSpan, list[int]]:
        lines: dict[FunctionSpan, list[int]] = {}
        owners: list[tuple[FunctionSpan, cst.FunctionDef | cst.Module]] = [(self.program, self.tree)]
        owners += [(function, function.node) for function in self.functions]
        for span, node in owners:
            lines[span] = []
            body = node if isinstance(node, cst.Module) else node.body
            if isinstance(body, cst.Module | cst.IndentedBlock):
                first = 1 if node.get_docstring(clean=False) is not None else 0
                for statement in body.body[first:]:
                    self._collect_lines(statement, lines[span])
        return lines

    def _collect_lines(self, statement: cst.CSTNode, lines: list[int]) -> None:
        decorators = getattr(statement, "decorators", ())
        start = self.start(decorators[0] if decorators else statement)
        line = self.line_start(start)
        if not self.data[line:start].strip():
            lines.append(line)
        for suite in suites(statement):
            if isinstance(suite, cst.IndentedBlock):
                for inner in suite.body:
                    self._collect_lines(inner, lines)

    # The index

    def _index(self) -> None:
        waiting: list[tuple[cst.CSTNode, tuple[str, ...]]] = [(self.tree, ())]
        while waiting:
            node, path = waiting.pop()
            self._by_type.setdefault(type(node), []).append(node)
            if isinstance(node, cst.FunctionDef | cst.ClassDef):
                path = (*path, node.name.value)
                if isinstance(node, cst.FunctionDef):
                    start, end = self._spans[node]
                    self.functions.append(FunctionNode(".".join(path), start, end, node))
            inside = children(node)
            self._parents.update(dict.fromkeys(inside, node))
            waiting += [(child, path) for child in reversed(inside)]


def _body(node: cst.CSTNode) -> Suite:
    return cast("Suite", getattr(node, "body"))  # noqa: B009 - CSTNode does not declare it


class Scopes:
    """The scopes of a tree, and the variable that each name refers to.

    Attributes:
        module: The module's scope, which contains the others.
        of_node: The scope that each node opens.
        occurrence: The occurrence at each name's node.
        shown: Occurrences whose text is shown at run time, as in `f"{x=}"`.
    """

    def __init__(self, tree: cst.Module) -> None:
        occurrences = find_occurrences(tree)
        self.module, self.of_node, self.occurrence = (
            occurrences.module,
            occurrences.of_node,
            occurrences.occurrence,
        )
        self.shown = occurrences.shown
        for scope in self.module.inside():
            self._bind(scope)
        for scope in self.module.inside():
            for occurrence in scope.occurrences:
                self._resolve(occurrence)

    def all(self) -> Iterator[Scope]:
        """All scopes, outer ones first."""
        return self.module.inside()

    def variable(self, node: cst.CSTNode) -> Variable | None:
        """The variable to which a name refers; None for a builtin and for other nodes."""
        occurrence = self.occurrence.get(node) if isinstance(node, cst.Name) else None
        return occurrence.variable if occurrence else None

    def builtin(self, node: cst.CSTNode) -> str | None:
        """The builtin to which a name refers; None if the file may shadow it."""
        if not isinstance(node, cst.Name) or self.module.stars:
            return None
        occurrence = self.occurrence.get(node)
        return node.value if occurrence is not None and occurrence.variable is None else None

    def hides(self, name: str, scope: Scope) -> bool:
        """Whether a scope may shadow the builtin of a name."""
        return self.module.stars or any(name in seen.variables for seen in (scope, *scope.around()))

    def clash(self, renamed: dict[Variable, str], root: Scope) -> str | None:
        """A name that would refer to another variable after a renaming; None if there is none.

        Args:
            renamed: The new names of variables, all of them in scopes inside `root`.
            root: A scope that contains all their occurrences.
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
        """Whether a scope between an occurrence and its variable's scope would bind the name."""
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
        """The scope of the variable that a binding creates; None for a name that is declared nonlocal."""
        while name in scope.nonlocals and scope.kind is ScopeKind.COMPREHENSION and scope.parent is not None:
            scope = scope.parent
        if name in scope.globals:
            return self.module
        return None if name in scope.nonlocals else scope

    def _resolve(self, occurrence: Occurrence) -> None:
        name, scope = occurrence.name, occurrence.scope
        binding: Variable | None = None
        if name in scope.globals:
            binding = self.module.variables.get(name)
        else:
            if name not in scope.nonlocals:
                binding = scope.variables.get(name)
            for outer in scope.around():
                if binding is not None:
                    break
                if name in outer.globals:
                    binding = self.module.variables.get(name)
                elif outer.kind is not ScopeKind.CLASS:
                    binding = outer.variables.get(name)
        occurrence.variable = binding
        if binding is not None:
            binding.occurrences.append(occurrence)


def block_indent(module: Module, block: cst.IndentedBlock) -> str:
    """The indentation of a block relative to its header."""
    return module.tree.default_indent if block.indent is None else block.indent


def in_format_string(module: Module, node: cst.CSTNode) -> bool:
    """Whether a node is inside an f-string, where quotes and braces are restricted."""
    return any(
        isinstance(above, cst.FormattedStringExpression | cst.TemplatedStringExpression)
        for above in module.ancestors(node)
    )
