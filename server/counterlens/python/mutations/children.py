"""The syntactic children of a LibCST node, in source order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache

import libcst as cst


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The syntactic children of a node, in source order: no whitespace, brackets or commas."""
    nodes: list[cst.CSTNode] = []
    for name in child_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            nodes.append(value)
        elif isinstance(value, tuple | list):
            nodes.extend(value)
    return nodes


_NOT_SYNTAX = {
    "leading_lines",
    "lines_after_decorators",
    "header",
    "footer",
    "trailing_whitespace",
    "semicolon",
    "comma",
    "equal",
    "lpar",
    "rpar",
    "lbracket",
    "rbracket",
    "lbrace",
    "rbrace",
    "colon",
    "dot",
    "asynchronous",
    "first_colon",
    "second_colon",
    "star",
    "leading_whitespace",
    "indent",
    "encoding",
    "default_indent",
    "default_newline",
    "has_trailing_newline",
    "relative",
    "trailing_comma",
    "separator",
}


@cache
def child_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields of a node class that hold syntactic children, in source order."""
    names = [field.name for field in dataclasses.fields(kind)]
    wanted = [n for n in names if not n.startswith(("whitespace", "ensure")) and n not in _NOT_SYNTAX]
    first = _TEXT_ORDER.get(kind, ())
    return (*first, *(name for name in wanted if name not in first))


# The node classes whose fields LibCST does not list in source order.
_TEXT_ORDER: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.FunctionDef: ("decorators", "name", "type_parameters", "params", "returns", "body"),
    cst.ClassDef: ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    cst.If: ("test", "body", "orelse"),
    cst.IfExp: ("body", "test", "orelse"),
    cst.For: ("target", "iter", "body", "orelse"),
    cst.CompFor: ("target", "iter", "ifs", "inner_for_in"),
    cst.DictComp: ("key", "value", "for_in"),
    cst.Try: ("body", "handlers", "orelse", "finalbody"),
    cst.TryStar: ("body", "handlers", "orelse", "finalbody"),
    cst.Lambda: ("params", "body"),
    cst.With: ("items", "body"),
    cst.ImportFrom: ("module", "names"),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.MatchCase: ("pattern", "guard", "body"),
    cst.TypeAlias: ("name", "type_parameters", "value"),
    cst.Parameters: (
        "posonly_params", "posonly_ind", "params", "star_arg", "kwonly_params", "star_kwarg",
    ),
    cst.Param: ("name", "annotation", "default"),
    cst.Arg: ("keyword", "value"),
    cst.NamedExpr: ("target", "value"),
    cst.AnnAssign: ("target", "annotation", "value"),
    cst.AugAssign: ("target", "operator", "value"),
    cst.BinaryOperation: ("left", "operator", "right"),
    cst.BooleanOperation: ("left", "operator", "right"),
    cst.Comparison: ("left", "comparisons"),
    cst.ComparisonTarget: ("operator", "comparator"),
    cst.UnaryOperation: ("operator", "expression"),
}  # fmt: skip


def suites(statement: cst.CSTNode) -> Iterator[cst.BaseSuite]:
    """The bodies of a compound statement, those of its elif branches included."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        value = getattr(statement, name, None)
        if isinstance(value, cst.BaseSuite):
            yield value
        elif isinstance(value, tuple | list) and name != "body":
            for part in value:
                yield part.body
        elif isinstance(value, cst.Else | cst.Finally):
            yield value.body
        elif isinstance(value, cst.If):
            yield from suites(value)
