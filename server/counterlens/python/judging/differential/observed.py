"""What the source shows about inputs: whether a function can be called at all, literals, and calls in it.

Nothing else is decided from the source: what a function needs and does (files, the network, processes,
results that vary) is seen when the original runs, twice, in two processes, in another order.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from counterlens.python.judging.differential.inputs import Call, Hints
from counterlens.python.judging.discovery import files_with_tests, read_text
from counterlens.python.judging.layout import layout_of
from counterlens.python.syntax.parsing import parse_expression, parse_module
from counterlens.syntax.document import Document

_MOST = 40  # maximum calls
_LONGEST = 2000  # maximum characters of one call
_EXAMPLES = ("examples", "example")
_MOST_FILES, _LARGEST = 100, 1 << 20  # maximum files with examples, and bytes of each
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_NOT_CALLED = {"property", "setter", "deleter", "cached_property", "fixture", "command", "overload"}


def hints_of(nodes: Sequence[ast.AST], calls: Sequence[Call]) -> Hints:
    """The literals of a function, of its versions, and of calls of it."""
    values: list[Any] = []
    for node in nodes:
        docstring = ast.get_docstring(node, clean=False) if isinstance(node, FunctionNode) else None
        constants = (inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant))
        values.extend(value for value in constants if value != docstring)
    for call in calls:
        for argument in (*call.positional, *(value for _, value in call.named)):
            values.extend(scalars_of(argument))
    integers = {value for value in values if isinstance(value, int) and not isinstance(value, bool)}
    floats = {value for value in values if isinstance(value, float)}
    strings = {value for value in values if isinstance(value, str)}
    return Hints(tuple(sorted(integers)), tuple(sorted(floats)), tuple(sorted(strings)))


def calls_of(module: ast.Module, node: FunctionNode, name: str, more: Sequence[str] = ()) -> list[Call]:
    """Calls of a function with literal arguments.

    Args:
        name: The name of the callee: its own, or that of its class for `__init__`.
        more: Further texts that may call it, such as test files.
    """
    calls: dict[str, Call] = {}
    texts = [ast.get_docstring(node) or "", ast.get_docstring(module) or "", *more]
    for inner in ast.walk(module):
        if isinstance(inner, ast.Call):
            _add(calls, _call(inner, name))
    for inner in (node for text in more for node in _calls_in(text)):
        _add(calls, _call(inner, name))
    for text in texts:
        for expression in _expressions(text, name):
            _add(calls, _call(expression, name))
    return list(calls.values())[:_MOST]


def texts_about(document: Document, qualname: str) -> tuple[str, ...]:
    """The texts of the project's test files, examples and readme that name a function and its module."""
    if document.path is None:
        return ()
    *above, name = qualname.split(".")
    name = above[-1] if above and name in {"__init__", "__new__"} else name
    place = layout_of(document.path, document.text)
    examples = [path for folder in _EXAMPLES for path in sorted((place.project / folder).rglob("*.py"))]
    readme = sorted(path for path in place.project.glob("README*") if path.suffix in {".md", ".rst", ".txt"})
    module = place.module.rpartition(".")[2]
    texts = []
    for path in [*files_with_tests(place), *examples[:_MOST_FILES], *readme]:
        text = read_text(path, _LARGEST) or ""
        if f"{name}(" in text and module in text:
            texts.append(text)
    return tuple(texts)


def _add(calls: dict[str, Call], call: Call | None) -> None:
    if call is not None:
        text = call.written("")
        if len(text) <= _LONGEST:
            calls.setdefault(text, call)


def _calls_in(text: str) -> Iterator[ast.Call]:
    """The calls in a text; none if it is not Python."""
    try:
        yield from (node for node in ast.walk(parse_module(text)) if isinstance(node, ast.Call))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return


def _call(node: ast.expr, name: str) -> Call | None:
    if not isinstance(node, ast.Call):
        return None
    called = node.func
    if (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)) != name:
        return None
    try:
        positional = tuple(ast.literal_eval(argument) for argument in node.args)
        named = tuple(
            (keyword.arg, ast.literal_eval(keyword.value)) for keyword in node.keywords if keyword.arg
        )
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return Call(positional, named) if len(named) == len(node.keywords) else None


def _expressions(text: str, name: str) -> Iterator[ast.expr]:
    """Calls in prose and in examples: from the name to the closing bracket."""
    for match in re.finditer(rf"(?<![\w.]){re.escape(name)}\(", text):
        depth = 0
        for at in range(match.end() - 1, min(len(text), match.end() + _LONGEST)):
            depth += (text[at] in "([{") - (text[at] in ")]}")
            if depth == 0:
                try:
                    yield parse_expression(text[match.start() : at + 1].strip())
                except (SyntaxError, ValueError):
                    continue  # a bracket in a string
                break


def scalars_of(value: Any) -> Iterator[Any]:
    """A value, or those that a container holds at any depth."""
    if isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from scalars_of(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from scalars_of(key)
            yield from scalars_of(item)
    else:
        yield value


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


def names_read_outside(module: ast.Module, target: str) -> frozenset[str]:
    """The names that a file reads outside of one of its functions or classes, given by its dotted path."""
    inside = find_node(module, target)[0] or next(
        (each for each in module.body if isinstance(each, ast.ClassDef) and each.name == target), None
    )
    waiting: list[ast.AST] = [module]
    names = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        waiting += [child for child in ast.iter_child_nodes(node) if child is not inside]
    return frozenset(names)


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
