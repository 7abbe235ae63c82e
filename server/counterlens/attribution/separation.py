"""Decide from the tests alone whether they and their program can run in two processes.

From another process, tests cannot subclass a class of the program, and cannot pass a class or module of
theirs to it. Only the tests count: no behaviour of a program can cause it to be judged in the process of its
tests.
"""

from __future__ import annotations

import ast
import builtins
import sys

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def why_inseparable(tests: ast.Module, module: str) -> str | None:
    """The first operation of the tests that only works in the process of the program; None if there is none.

    Args:
        tests: The tests.
        module: The name under which they import the program; names that they do not define are also of it.
    """
    names = _Names(tests, module)
    for node in ast.walk(tests):
        if isinstance(node, ast.ClassDef):
            if any(names.is_of_program(base) for base in node.bases):
                return f"the tests derive the class {node.name} from one of the program's"
            if any(names.is_of_program(decorator) for decorator in node.decorator_list):
                return f"the tests pass their class {node.name} to the program"
        elif isinstance(node, ast.Call) and names.is_of_program(node.func):
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(argument, ast.Name) and argument.id in names.inner:
                    return f"the tests pass {argument.id} to the program"
    return None


class _Names:
    """Resolves the names of a test file from its text.

    Attributes:
        inner: Classes that the file defines, and modules that it imports.
    """

    def __init__(self, tests: ast.Module, module: str) -> None:
        self.inner: set[str] = set()
        self._of_program: set[str] = set()
        self._defined = {*vars(builtins), *sys.stdlib_module_names, "candidate", "__file__"}
        self._modules = {module, module.rpartition(".")[2]}
        self._all_known = True
        for node in ast.walk(tests):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
            elif isinstance(node, _Definition):
                self._defined.add(node.name)
                if isinstance(node, ast.ClassDef):
                    self.inner.add(node.name)
            elif isinstance(node, ast.arg):
                self._defined.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._defined.add(node.id)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        source = node.module or "" if isinstance(node, ast.ImportFrom) else None
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self._defined.add(name)
            if alias.name == "*":
                self._all_known = self._all_known and source in self._modules
            elif source in self._modules or alias.name in self._modules:
                self._of_program.add(name)
            elif source is None:
                self.inner.add(name)

    def is_of_program(self, node: ast.expr) -> bool:
        """Whether an expression is a name of the program, or an attribute, call or item of one."""
        while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
            node = node.func if isinstance(node, ast.Call) else node.value
        if not isinstance(node, ast.Name):
            return False
        return node.id in self._of_program or (self._all_known and node.id not in self._defined)
