"""Changes to Python statements after which the following text can stay unchanged."""

from __future__ import annotations

import ast

from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.intervention import Intervention
from counterlens.probes.dependence.parts import Part, StatementEdits
from counterlens.python.examined.parts import DEFINITIONS, span_of


def replace(subject: ExaminedFunction, part: Part) -> StatementEdits:
    """Replace the statement's value by another one of the same type."""
    value = getattr(part.node, "value", None) or getattr(part.node, "iter", None)
    if isinstance(part.node, ast.Expr) and isinstance(value, ast.Call):
        for argument in value.args[:1]:
            yield span_of(argument, subject.starts), another(argument)
    elif isinstance(value, ast.expr):
        yield span_of(value, subject.starts), another(value)


def delete(subject: ExaminedFunction, part: Part) -> StatementEdits:
    """Delete the statement with its line; a header becomes one whose block always runs."""
    if part.statement.id == 0 and isinstance(part.node, DEFINITIONS):
        return
    if part.branch or (hasattr(part.node, "body") and not isinstance(part.node, DEFINITIONS)):
        if isinstance(part.node, ast.If | ast.For | ast.While | ast.With) and not _elif(subject, part):
            yield part.span, "if True:"
        return
    start, end = part.span
    line = subject.data.rfind(b"\n", 0, start) + 1
    alone = not subject.data[line:start].strip() and subject.data[end : end + 1] in {b"\n", b""}
    if alone and line:
        yield (line - 1, end), ""
    else:
        yield part.span, "pass"


def negate(subject: ExaminedFunction, part: Part) -> StatementEdits:
    """Negate a condition; make a loop over elements empty."""
    if isinstance(part.node, ast.If | ast.While):
        yield span_of(part.node.test, subject.starts), negated(part.node.test)
    elif isinstance(part.node, ast.For | ast.AsyncFor):
        yield span_of(part.node.iter, subject.starts), "[]"


def neutralise(subject: ExaminedFunction, part: Part) -> StatementEdits:
    """Replace a branch's header by one that decides nothing."""
    if isinstance(part.node, ast.If | ast.While | ast.For | ast.AsyncFor):
        yield part.span, "elif True:" if _elif(subject, part) else "with open(path) as file:"


def _elif(subject: ExaminedFunction, part: Part) -> bool:
    return subject.data[part.span[0] :].startswith(b"elif")


_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.GtE: "<",
    ast.Gt: "<=",
    ast.LtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}


def negated(test: ast.expr) -> str:
    """The source of the negation of a condition."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return ast.unparse(test.operand)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = ast.unparse(test.left), ast.unparse(test.comparators[0])
        return f"{left} {_OPPOSITE[type(test.ops[0])]} {right}"
    if isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.Constant):
        return f"not {ast.unparse(test)}"
    return f"not ({ast.unparse(test)})"


_RESULTS = {
    **dict.fromkeys(("len", "int", "sum", "abs", "ord", "count", "index", "find", "rfind", "round"), "7"),
    **dict.fromkeys(("str", "join", "replace", "lower", "upper", "strip", "lstrip", "rstrip"), "'other'"),
    **dict.fromkeys(("format", "repr", "chr", "title", "capitalize", "swapcase", "zfill"), "'other'"),
    **dict.fromkeys(("list", "sorted", "split", "rsplit", "splitlines", "reversed", "range"), "[7]"),
    **dict.fromkeys(("dict", "fromkeys", "defaultdict", "Counter"), "{7: 7}"),
    **dict.fromkeys(("set", "frozenset"), "{7}"),
    **dict.fromkeys(("isinstance", "any", "all", "startswith", "endswith", "bool"), "True"),
}


def another(value: ast.expr) -> str:
    """The source of another value of an expression's probable type; `None` if the type is unknown."""
    if isinstance(value, ast.Constant):
        return _other_constant(value.value)
    if isinstance(value, ast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        return _RESULTS.get(name, "None")
    if isinstance(value, ast.BinOp):  # the sum of a text and anything is a text
        sides = {another(value.left), another(value.right)} - {"None"}
        return sides.pop() if len(sides) == 1 else "None"
    for kinds, text in _SHAPES:
        if isinstance(value, kinds):
            return text if ast.unparse(value) != text else text.replace("7", "8")
    return "None"


_SHAPES: tuple[tuple[tuple[type[ast.expr], ...], str], ...] = (
    ((ast.JoinedStr,), "'other'"),
    ((ast.List, ast.ListComp), "[7]"),
    ((ast.Dict, ast.DictComp), "{7: 7}"),
    ((ast.Set, ast.SetComp), "{7}"),
    ((ast.Tuple,), "(7, 7)"),
    ((ast.Compare,), "True"),
)


def _other_constant(value: object) -> str:
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int | float):
        return str(value + 7)
    if isinstance(value, str):
        return "'other'" if value != "other" else "'another'"
    return "0" if value is None else "None"


INTERVENTIONS = {
    Intervention.REPLACE: replace,
    Intervention.DELETE: delete,
    Intervention.NEGATE: negate,
    Intervention.NEUTRALISE: neutralise,
}
