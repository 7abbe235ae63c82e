"""Cheats: programs with a body that no test of the function should pass, such as `return True`.

Tests that pass one of them do not see what the function does there. They are tried, not read: which tests can
be fooled shows only when they run.
"""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator, Sequence

from counterlens.python.judging.differential.observed import find_node, texts_about
from counterlens.python.syntax.parsing import parse_expression, parse_module
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

EMPTIED, RAISING = "pass", "raise NotImplementedError"
_CONSTANTS = ("True", "False", "0", "1", "-1", "42", "''", "'a'", "[]", "{}", "()")
_EXPECTED, _LONGEST = 6, 60  # maximum values that tests expect, and characters of each
_ARGUMENTS = 2  # maximum arguments given back
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


def cheats(document: Document, function: Function, tests: Sequence[str]) -> dict[str, str]:
    """The programs with a cheat as the body of a function, by the statement; empty if it is not found.

    Args:
        tests: Texts of its tests beside those of its project; the values that they visibly expect are cheats.
    """
    module = _parse_or_none(document.text)
    node, _ = find_node(module, function.qualname) if module else (None, [])
    if node is None:
        return {}
    texts = [*tests, *texts_about(document, function.qualname), ast.get_docstring(node) or ""]
    values = [*_CONSTANTS, *_expected_literals(texts)]
    generating = _is_generator(node)
    if generating:
        bodies = [EMPTIED, *(f"yield {value}" for value in dict.fromkeys(["None", *values]))]
    else:
        values += [argument.arg for argument in [*node.args.posonlyargs, *node.args.args][:_ARGUMENTS]]
        bodies = [EMPTIED, *(f"return {value}" for value in dict.fromkeys(values)), "return iter(())"]
    suffix = "; yield" if generating else ""
    programs = {body: _with_body(document.text, node, body) for body in bodies[1:]}
    emptied = "return" if generating else EMPTIED
    return {
        EMPTIED: _with_body(document.text, node, emptied + suffix),
        **programs,
        RAISING: _with_body(document.text, node, RAISING + suffix),
    }


def raising(document: Document, function: Function | None) -> str | None:
    """The program with a body of a function that only raises, or an empty one without a function.

    Tests that pass it do not run the function. None if the function is not found.
    """
    if function is None:
        return ""
    module = _parse_or_none(document.text)
    node, _ = find_node(module, function.qualname) if module else (None, [])
    return None if node is None else _with_body(document.text, node, RAISING)


def body_lines(text: str, qualname: str) -> range | None:
    """The lines of a function's body, without header and docstring, 1-based; None if it is not found."""
    module = _parse_or_none(text)
    node, _ = find_node(module, qualname) if module else (None, [])
    if node is None:
        return None
    first = _first(node)
    return range(first.lineno, (node.end_lineno or first.lineno) + 1)


def _first(node: _Definition) -> ast.stmt:
    """The first statement of a body after its docstring."""
    return node.body[1 if ast.get_docstring(node) is not None and len(node.body) > 1 else 0]


def _with_body(text: str, node: _Definition, body: str) -> str:
    """A program with another body of a function; its docstring stays."""
    lines = text.encode("utf-8", "surrogatepass").splitlines(keepends=True)
    first = _first(node)
    at, after = first.lineno - 1, node.end_lineno or first.lineno
    before = lines[at][: first.col_offset]
    if before.strip():  # it shares a line with the header, or with the docstring
        before = b" " * (node.col_offset + 1) if node.body[0] is first else before
        kept = [*lines[:at], lines[at][: first.col_offset]]
        joined = b"\n" if node.body[0] is first else b""
        before = before if joined else b""
    else:
        kept, joined = lines[:at], b""
    data = b"".join([*kept, joined, before, body.encode(), b"\n", *lines[after:]])
    return data.decode("utf-8", "surrogatepass")


def _is_generator(node: _Definition) -> bool:
    """Whether a function yields, itself and not in a function inside."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(inner, _Definition | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(inner)
    return False


def _expected_literals(tests: Sequence[str]) -> list[str]:
    """The literals that assertions and examples compare with, as text."""
    values: dict[str, None] = {}
    for text in tests:
        for node in [*_compared_expressions(text), *_printed_expressions(text)]:
            try:
                value = repr(ast.literal_eval(node))
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                continue
            if len(value) <= _LONGEST:
                values.setdefault(value)
    return list(values)[:_EXPECTED]


def _compared_expressions(text: str) -> Iterator[ast.expr]:
    module = _parse_or_none(text)
    for node in ast.walk(module) if module else ():
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
            yield from (node.test.left, *node.test.comparators)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "").startswith("assert"):
            yield from node.args


def _printed_expressions(text: str) -> Iterator[ast.expr]:
    try:
        wanted = [example.want for example in doctest.DocTestParser().get_examples(text) if example.want]
    except ValueError:  # malformed examples
        return
    for want in wanted:
        try:
            yield parse_expression(want.strip())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue


def _parse_or_none(text: str) -> ast.Module | None:
    try:
        return parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
