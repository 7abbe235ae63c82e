"""Features of a Python function that may make it hard to execute mentally (Liu et al. 2024, section IV-D)."""

from __future__ import annotations

import ast
import builtins
import sys
import textwrap
from collections.abc import Iterator

from counterlens.probes.execution.features import TAGS, USES, Features
from counterlens.python.syntax.parsing import parse_module

_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_MEMBERSHIP = (ast.In, ast.NotIn, ast.Is, ast.IsNot)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_BRANCHES = (*_LOOPS, ast.If, ast.IfExp, ast.ExceptHandler, ast.Assert, ast.match_case, ast.comprehension)


def features(text: str) -> Features | None:
    """The features of a function's text; None if it does not parse."""
    text = textwrap.dedent(text)
    try:
        tree = parse_module(text)
    except (SyntaxError, ValueError):
        return None
    constructs = set(_tags(tree, loops=0, branches=0)) or {"basic"}
    used = {use for node in ast.walk(tree) for use in _uses(node)}
    decisions = sum(_decisions(node) for node in ast.walk(tree))
    return Features(
        tuple(tag for tag in TAGS if tag in constructs),
        decisions + 1,
        sum(bool(line.strip()) for line in text.splitlines()),
        tuple(use for use in USES if use in used),
        tuple(sorted({_api(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)} - {""})),
    )


def _api(called: ast.expr) -> str:
    """The name of the callee; empty if it has none."""
    if isinstance(called, ast.Name):
        return called.id
    if not isinstance(called, ast.Attribute):
        return ""
    owner = called.value
    known = isinstance(owner, ast.Name) and owner.id in sys.stdlib_module_names
    return f"{ast.unparse(owner) if known else ''}.{called.attr}"


def _uses(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.BinOp | ast.AugAssign):
        yield "bitwise" if isinstance(node.op, _BITWISE) else "arithmetic"
    elif isinstance(node, ast.UnaryOp):
        if not isinstance(node.operand, ast.Constant):  # -1 is a number
            yield {ast.Not: "boolean", ast.Invert: "bitwise"}.get(type(node.op), "arithmetic")
    elif isinstance(node, ast.BoolOp):
        yield "boolean"
    elif isinstance(node, ast.Compare):
        for operator in node.ops:
            yield "membership" if isinstance(operator, _MEMBERSHIP) else "comparison"
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield "method call"
        else:
            known = isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id)
            yield "builtin call" if known else "other call"


def _decisions(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return int(isinstance(node, _BRANCHES))


def _tags(node: ast.AST, *, loops: int, branches: int) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        inside_loops, inside_branches = loops, branches
        if isinstance(child, _LOOPS):
            yield "while" if isinstance(child, ast.While) else "for"
            if loops:
                yield "nested loop"
            inside_loops += 1
        elif isinstance(child, ast.If):
            yield "if"
            elif_of = isinstance(node, ast.If) and node.orelse == [child]
            if branches and not elif_of:
                yield "nested if"
            inside_branches += not elif_of
        elif isinstance(child, ast.Try | ast.TryStar):
            yield "try"
        elif isinstance(child, ast.Match):
            yield "match"
        yield from _tags(child, loops=inside_loops, branches=inside_branches)
