"""Parse a text of tests: its scopes, assignments to names, and the sources of the values of expressions."""

from __future__ import annotations

import ast
import builtins
import itertools

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType
    from typing import Any

    Span = tuple[int, int, int, int]  # first line, column in bytes, last line, column

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)


def scopes_of(text: str) -> list[list[ast.AST]]:
    """The nodes of each outermost function, and those of each class or module without its functions.

    Empty if it is not Python.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    scopes: list[list[ast.AST]] = []
    todo: list[ast.AST] = [tree]
    while todo:
        own: list[ast.AST] = []
        stack: list[ast.AST] = list(ast.iter_child_nodes(todo.pop()))
        while stack:
            node = stack.pop()
            if isinstance(node, FUNCTIONS):
                scopes.append(list(ast.walk(node)))
            elif isinstance(node, ast.ClassDef):
                todo.append(node)
            else:
                own.append(node)
                stack.extend(ast.iter_child_nodes(node))
        scopes.append(own)
    return scopes


def read_name(name: str) -> str:
    """A read name in the form of `name_of`."""
    return name_of(ast.Name(name, ast.Load()))


def name_of(target: ast.AST) -> str:
    """The form of a name or attribute, the same for a target and a read."""
    return ast.dump(target).replace("Store()", "Load()")


def called_name(node: ast.Call) -> str:
    """The name of the callee."""
    return getattr(node.func, "id", None) or getattr(node.func, "attr", None) or ""


def assignments(nodes: Iterable[ast.AST]) -> dict[str, list[ast.AST]]:
    """The values assigned to each name, by the form of `name_of`."""
    found: dict[str, list[ast.AST]] = {}
    for node in nodes:
        value: Any = getattr(node, "value", None)
        targets: list[Any] = []
        if isinstance(node, ast.Assign):
            targets = list(node.targets)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets = [node.target]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            targets, value = [node.optional_vars], node.context_expr
        while targets and value is not None:
            target = targets.pop()
            if isinstance(target, (ast.Tuple, ast.List)):
                targets += target.elts
            elif isinstance(target, ast.Starred):
                targets.append(target.value)
            else:
                found.setdefault(name_of(target), []).append(value)
    return found


def sources_of(expression: ast.AST) -> Iterator[ast.AST]:
    """The calls, names and attributes that an expression takes its value from, and itself.

    Excludes values that a nested function or comprehension computes for each item, and compared values.
    """
    todo = [expression]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Lambda, ast.Compare, *COMPREHENSIONS)):
            continue
        if isinstance(node, (ast.Call, ast.Name, ast.Attribute)):
            yield node
        if isinstance(node, ast.Call):
            todo += [node.func.value] if isinstance(node.func, ast.Attribute) else []
            todo += node.args
        else:
            todo += ast.iter_child_nodes(node)


def span_of(node: Any) -> Span:
    """The positions of the beginning and end of a node."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def position_of(code: CodeType, instruction: int, line: int) -> Span:
    """The position of an instruction in its source; only the line before Python 3.11."""
    positions: Any = getattr(code, "co_positions", None)
    if positions is not None:
        for found in itertools.islice(positions(), instruction // 2, instruction // 2 + 1):
            if None not in found:
                return found[0], found[2], found[1], found[3]
    return line, -1, line, -1
