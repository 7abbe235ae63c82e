"""Existing calls of a function: in its doctests, in tests, in tests of a dataset."""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator

from counterlens.probes.execution.language import MOST_BYTES
from counterlens.python.judging.discovery import cases_for, files_with_tests
from counterlens.python.judging.layout import layout_of
from counterlens.python.syntax.parsing import parse_module
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function


def calls_in(tests: str, names: set[str], function: str) -> list[str]:
    """The distinct calls with literal arguments in some statements, in textual order.

    Args:
        tests: Python statements.
        names: The function's name there, such as `candidate`.
        function: Its name in the program and in the result.
    """
    try:
        tree = parse_module(tests)
    except (SyntaxError, ValueError):
        return []
    calls: dict[str, None] = {}
    for node in _in_order(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
            named = all(keyword.arg for keyword in node.keywords)
            if named and all(map(_is_literal, values)):
                written = ast.unparse(ast.Call(ast.Name(function, ast.Load()), node.args, node.keywords))
                if len(written.encode()) <= MOST_BYTES:
                    calls[written] = None
    return list(calls)


def calls_of(document: Document, function: Function) -> list[str]:
    """The calls in the examples of a function's docstring, then those in the tests beside its file."""
    return list(dict.fromkeys([*in_examples(document, function), *in_tests(document, function)]))


def in_examples(document: Document, function: Function) -> list[str]:
    """The calls in the examples of a function's docstring."""
    text = document.data[function.start : function.end].decode("utf-8", "replace")
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:
        examples = []
    return calls_in("".join(example.source for example in examples), {function.name}, function.name)


def in_tests(document: Document, function: Function) -> list[str]:
    """The calls in the tests beside a function's file."""
    if document.path is None or not document.path.is_file():
        return []
    place = layout_of(document.path, document.text)
    files = {case.file for case in cases_for(function.qualname, place, files_with_tests(place))}
    calls: dict[str, None] = {}
    for file in sorted(files):
        try:
            tests = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        calls.update(dict.fromkeys(calls_in(tests, {function.name}, function.name)))
    return list(calls)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)
