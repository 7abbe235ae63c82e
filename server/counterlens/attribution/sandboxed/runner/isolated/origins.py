"""Find the values in tests that come from the program, through names, loops, fixtures and helpers."""

from __future__ import annotations

import ast
import builtins
import sys

from .sources import FUNCTIONS, assignments, called_name, name_of, read_name

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

LIBRARY = {
    *vars(builtins),
    *getattr(sys, "stdlib_module_names", ()),
    "__file__",
    "self",
    "cls",
    "pytest",
    "numpy",
    "np",
}
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


class Origins:
    """The origins of the values in a text of tests.

    Args:
        tree: The text.
        module: The name under which it imports the program.

    Attributes:
        nodes: All nodes.
        imported: The names that it imports from the program.
        handed: The names whose values it passes to the program, which may change them.
        altered: The names among them that it passes in a call whose result it ignores.
    """

    def __init__(self, tree: ast.Module, module: str) -> None:
        self.nodes = list(ast.walk(tree))
        self.imported: set[str] = set()
        self._modules = {module, module.rpartition(".")[2]}
        self._of_program, self._defined, self._lent = set[str](), set[str](), True
        for node in self.nodes:
            self._define(node)
        self._parameters = {node.arg for node in self.nodes if isinstance(node, ast.arg)}
        self._local = self._defined - self._parameters
        self._values = assignments(self.nodes)
        for node in self.nodes:
            self._record_assignments(node)
        self.handed: set[str] = set()
        self.altered: set[str] = set()
        for node in self.nodes:
            call = node.value if isinstance(node, ast.Expr) else node
            if isinstance(call, ast.Call) and self.is_of_program(call.func):
                read = {each.id for part in arguments(call) for each in ast.walk(part) if _is_read(each)}  # type: ignore[attr-defined]
                names = {name for name in read if not self._is_immutable(name)}
                self.handed |= names
                self.altered |= names if call is not node else set()

    def _is_immutable(self, name: str) -> bool:
        """Whether all values of a name are literals that the program cannot change."""
        values = self._values.get(read_name(name), [])
        return bool(values) and name not in self._parameters and all(map(_is_immutable, values))

    def is_of_program(self, node: ast.AST) -> bool:
        """Whether an expression is a name of the program, or an attribute, item or call of one."""
        name = base_of(node)
        if not isinstance(name, ast.Name):
            return False
        lent = self._lent and name.id not in self._defined and name.id not in LIBRARY
        return name.id in self._of_program or lent

    def is_own(self, side: ast.AST, also: Collection[str] = ()) -> bool:
        """Whether an expression consists only of values of the program.

        Args:
            side: The expression.
            also: Names whose values count as the program's.
        """
        todo, seen, found = [side], set[str](), False
        while todo:
            node = todo.pop()
            base = base_of(node)
            if isinstance(node, ast.Constant):
                return False
            if self.is_of_program(node) or (isinstance(base, ast.Name) and base.id in also):
                found = True  # whatever its arguments
                continue
            values = self._of(node)
            if values:
                name = name_of(_named(node))
                todo += [] if name in seen else values
                seen.add(name)
            elif isinstance(node, ast.Name):
                if node.id not in LIBRARY:
                    return False
            elif base is not node and isinstance(base, ast.Name) and base.id not in LIBRARY:
                todo.append(base)
            elif isinstance(node, ast.Subscript):
                todo.append(node.value)
            else:
                todo += ast.iter_child_nodes(node)
        return found

    def is_touched(self, expression: ast.AST, also: Collection[str] = ()) -> bool:
        """Whether any part of an expression comes from the program, or has an unknown origin.

        Args:
            expression: The expression.
            also: Names whose values count as the program's.
        """
        todo, seen = [expression], set[str]()
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Name):
                values = self._of(node)
                known = node.id in LIBRARY or values or node.id in self._local
                if node.id in also or self.is_of_program(node) or not known:
                    return True
                todo += [] if node.id in seen else values
                seen.add(node.id)
            elif isinstance(node, ast.Attribute):
                todo += self._values.get(name_of(node), [])
            todo += ast.iter_child_nodes(node)
        return False

    def is_made(self, node: ast.AST) -> bool:
        """Whether an expression is an object created by the program, or a part of one."""
        base = base_of(node)
        if not isinstance(base, ast.Name):
            return False
        if self.is_of_program(node):
            return any(isinstance(each, ast.Call) for each in ast.walk(node))
        values = self._of(base) or self._of(node)
        return bool(values) and all(isinstance(each, ast.Call) and self.is_own(each) for each in values)

    def _of(self, node: ast.AST) -> list[ast.AST]:
        """The values assigned to a name or attribute of the tests, or returned by their function."""
        named = _named(node)
        if isinstance(named, (ast.Name, ast.Attribute)):
            return self._values.get(name_of(named), [])
        return []

    def _define(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            source = getattr(node, "module", None)
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                if source in self._modules or alias.name in self._modules:
                    self._lent = self._lent and alias.name == "*"
                    self._of_program.add(name)
                    self.imported.update({alias.name} if source in self._modules else ())
                else:
                    self._defined.add(name)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            self._defined.add(node.name)
        elif isinstance(node, ast.arg):
            self._defined.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self._defined.add(node.id)

    def _record_assignments(self, node: ast.AST) -> None:
        """Record the values that loops, functions and parameters assign to names."""
        if isinstance(node, _LOOPS):
            counted = isinstance(node.iter, ast.Call) and called_name(node.iter) == "enumerate"
            pair = counted and isinstance(node.target, ast.Tuple) and len(node.target.elts) == 2
            target = node.target.elts[1] if pair else node.target  # type: ignore[attr-defined]
            listed = isinstance(target, ast.Name) and isinstance(node.iter, (ast.List, ast.Set, ast.Tuple))
            for value in node.iter.elts if listed else [node.iter]:  # type: ignore[attr-defined]
                self._give(target, value)
        elif isinstance(node, FUNCTIONS):
            for each in ast.walk(node):
                if isinstance(each, (ast.Return, ast.Yield)) and each.value is not None:
                    self._values.setdefault(read_name(node.name), []).append(each.value)
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and called_name(decorator) == "parametrize":
                    for name in _parameters_in(decorator):
                        self._values.setdefault(read_name(name), []).extend(decorator.args[1:2])

    def _give(self, target: ast.AST, value: ast.AST) -> None:
        for each in ast.walk(target):
            if isinstance(each, ast.Name):
                self._values.setdefault(read_name(each.id), []).append(value)


def arguments(call: ast.Call) -> list[ast.expr]:
    """All arguments of a call."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def base_of(node: ast.AST) -> ast.AST:
    """The innermost object of an attribute, an item or a call."""
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def _named(node: ast.AST) -> ast.AST:
    return node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else node


def _is_immutable(value: ast.AST) -> bool:
    """Whether a value is a constant, or a tuple of constants."""
    return isinstance(value, ast.Constant) or (
        isinstance(value, ast.Tuple) and all(map(_is_immutable, value.elts))
    )


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id not in LIBRARY


def _parameters_in(decorator: ast.Call) -> Iterator[str]:
    """The parameters to which a `parametrize` gives values."""
    for node in ast.walk(decorator.args[0]) if decorator.args else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (name.strip() for name in node.value.split(","))
