"""Find tests that take the program's word: they compare its values with its own, or are skipped by it."""

from __future__ import annotations

import ast
import builtins
import sys

from .sources import FUNCTIONS, assignments, called_name, read_name

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_SKIPS = ("skip", "importorskip", "xfail")
_LIBRARY = {*vars(builtins), *getattr(sys, "stdlib_module_names", ()), "self", "cls", "pytest", "numpy", "np"}


class Reliance:
    """The values of the program in a text of tests; nothing is found if it is no Python.

    Args:
        text: The tests.
        module: The name under which they import the program.
        cases: The names of the functions that are run; all where it is empty.
    """

    def __init__(self, text: str, module: str, cases: Collection[str] = ()) -> None:
        try:
            self._tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._tree = ast.Module([], [])
        self._nodes = list(ast.walk(self._tree))
        self._modules = {module, module.rpartition(".")[2]}
        self._cases = cases
        self._of_program, self._defined, lent = set[str](), set[str](), True
        for node in self._nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                source = getattr(node, "module", None)
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    if source in self._modules or alias.name in self._modules:
                        lent = lent and alias.name == "*"
                        self._of_program.add(name)
                    else:
                        self._defined.add(name)
            elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                self._defined.add(node.name)
            elif isinstance(node, ast.arg):
                self._defined.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._defined.add(node.id)
        self._lent = lent
        self._values = assignments(self._nodes)

    @property
    def compares_its_own(self) -> bool:
        """Whether all that the tests compare are values of the program with others of its."""
        found = [all(map(self._is_own, sides)) for sides in self._comparisons()]
        return bool(found) and all(found)

    @property
    def skips(self) -> bool:
        """Whether a value of the program decides if a test is skipped."""
        return any(
            self._is_of_program(name)
            for node in self._nodes
            for condition in _skip_conditions(node)
            for name in ast.walk(condition)
        )

    def _comparisons(self) -> Iterator[Sequence[ast.AST]]:
        """The sides of each comparison; one side alone for what is only to be true."""
        for scope in self._nodes if self._cases else [self._tree]:
            if self._cases and not (isinstance(scope, FUNCTIONS) and scope.name in self._cases):
                continue
            for node in ast.walk(scope):
                if isinstance(node, ast.Compare):
                    yield [node.left, *node.comparators]
                elif isinstance(node, ast.Assert):
                    if not any(isinstance(each, ast.Compare) for each in ast.walk(node.test)):
                        yield [node.test if self._judges(node.test) else ast.Constant(True)]
                elif isinstance(node, ast.Call) and called_name(node).lower().startswith(
                    ("assert", "raises")
                ):
                    of_two: Sequence[ast.AST] = (
                        [*node.args[:2]] if len(node.args) > 1 else [ast.Constant(True)]
                    )
                    yield [node] if self._judges(node) else of_two

    def _judges(self, node: ast.AST) -> bool:
        """Whether it is a call in which the program itself compares a value of its with another one."""
        if not isinstance(node, ast.Call) or not self._is_of_program(node.func) or len(node.args) < 2:
            return False
        parts = [part for argument in node.args for part in ast.walk(argument)]
        return any(isinstance(part, ast.Call) and self._is_of_program(part.func) for part in parts)

    def _is_own(self, side: ast.AST) -> bool:
        """Whether a side of a comparison is made of values of the program and of nothing else."""
        todo, seen, found = [side], set[str](), False
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Constant):
                return False
            if isinstance(node, ast.Call) and self._is_of_program(node.func):
                found = True  # whatever it is given
            elif self._is_of_program(node):
                found = True
            elif isinstance(node, ast.Name):
                values = self._values.get(read_name(node.id), [])
                if not values and node.id not in _LIBRARY:
                    return False
                if node.id not in seen:
                    seen.add(node.id)
                    todo += values
            else:
                todo += ast.iter_child_nodes(node)
        return found

    def _is_of_program(self, node: ast.AST) -> bool:
        while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
            node = node.func if isinstance(node, ast.Call) else node.value
        if not isinstance(node, ast.Name):
            return False
        lent = self._lent and node.id not in self._defined and node.id not in _LIBRARY
        return node.id in self._of_program or lent


def _skip_conditions(node: ast.AST) -> Iterator[ast.AST]:
    """The conditions under which a node skips tests."""
    if isinstance(node, ast.Call) and called_name(node).startswith(_SKIPS):
        yield from node.args
    if isinstance(node, ast.If):
        inner = [each for part in node.body for each in ast.walk(part)]
        if any(isinstance(each, ast.Call) and called_name(each).lower().startswith(_SKIPS) for each in inner):
            yield node.test
