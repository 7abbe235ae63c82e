"""Find a function in its file, and say whether it can be called on inputs at all.

Nothing else is decided from the source: what a function needs and does (files, the network, processes,
results that vary) is seen when the original runs, twice, in two processes, in another order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_NOT_CALLED = {"property", "setter", "deleter", "cached_property", "fixture", "command", "overload"}


def find_node(module: ast.Module, qualname: str) -> tuple[FunctionNode | None, list[ast.AST]]:
    """A function by its dotted path, and the definitions that enclose it, outermost first."""
    around: list[ast.AST] = []
    block: FunctionNode | ast.ClassDef | ast.Module = module
    for name in qualname.split("."):
        if block is not module:
            around.append(block)
        named = [definition for definition in _definitions(block) if definition.name == name]
        if not named:
            return None, []
        block = named[-1]  # the last definition counts
    return (block, around) if isinstance(block, FunctionNode) else (None, [])


def _definitions(block: ast.AST) -> Iterator[FunctionNode | ast.ClassDef]:
    """The functions and classes of a block itself, including those under conditions, in textual order."""
    for child in ast.iter_child_nodes(block):
        if isinstance(child, FunctionNode | ast.ClassDef):
            yield child
        else:
            yield from _definitions(child)


def why_not(node: FunctionNode | None, around: list[ast.AST]) -> str | None:
    """Why a function cannot be judged by its behaviour on inputs; None if it can."""
    if node is None:
        return "it is not in the file"
    if any(not isinstance(outer, ast.ClassDef) for outer in around):
        return "it is defined inside another function"
    if len(around) > 1:
        return "its class is defined inside another class"
    if any(_decorator(decorator) in _NOT_CALLED for decorator in node.decorator_list):
        return "it is not called like a function"
    return None


def _decorator(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
