"""Changes to Python statements after which the following text can stay unchanged."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from counterlens.dependence import Dependences, Statement
from counterlens.probes.dependence.examined import (
    ExaminedFunction,
    ExaminedLanguage,
    Intervention,
    NameOccurrence,
    NameRole,
    Part,
    Span,
    StatementEdits,
)
from counterlens.python.dependence.statements import FunctionNode
from counterlens.python.syntax.parsing import first_line

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
_RESULTS = {
    **dict.fromkeys(("len", "int", "sum", "abs", "ord", "count", "index", "find", "rfind", "round"), "7"),
    **dict.fromkeys(("str", "join", "replace", "lower", "upper", "strip", "lstrip", "rstrip"), "'other'"),
    **dict.fromkeys(("format", "repr", "chr", "title", "capitalize", "swapcase", "zfill"), "'other'"),
    **dict.fromkeys(("list", "sorted", "split", "rsplit", "splitlines", "reversed", "range"), "[7]"),
    **dict.fromkeys(("dict", "fromkeys", "defaultdict", "Counter"), "{7: 7}"),
    **dict.fromkeys(("set", "frozenset"), "{7}"),
    **dict.fromkeys(("isinstance", "any", "all", "startswith", "endswith", "bool"), "True"),
}
_SHAPES: tuple[tuple[tuple[type[ast.expr], ...], str], ...] = (
    ((ast.JoinedStr,), "'other'"),
    ((ast.List, ast.ListComp), "[7]"),
    ((ast.Dict, ast.DictComp), "{7: 7}"),
    ((ast.Set, ast.SetComp), "{7}"),
    ((ast.Tuple,), "(7, 7)"),
    ((ast.Compare,), "True"),
)
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Match, ast.match_case, ast.ExceptHandler)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})


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


class _PartReader:
    """Locates statements and names in the text.

    Args:
        data: The subject's text.
        starts: The offset of each line of the file, in bytes of the text.
    """

    def __init__(self, data: bytes, starts: tuple[int, ...]) -> None:
        self._data, self._starts = data, starts

    def part(self, statement: Statement, node: ast.AST) -> Part:
        """One statement."""
        text = statement.text.encode()
        if isinstance(node, ast.match_case):
            start = self._data.index(text, self._starts[statement.line - 1])
        else:
            start = self._at(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        end = start + len(text)
        if isinstance(node, DEFINITIONS) and statement.id > 0:
            end = self._at(node.end_lineno or 0, node.end_col_offset or 0)
        occurrences = {
            occurrence.span: occurrence
            for occurrence in self._occurrences(node, (start, end), header=statement.id == 0)
        }
        return Part(
            statement,
            node,
            (start, end),
            tuple(occurrences[span] for span in sorted(occurrences)),
            branch=isinstance(node, BRANCHES),
            described=isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant),
            updates=isinstance(node, ast.AugAssign),
        )

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def _occurrences(self, node: ast.AST, span: Span, *, header: bool) -> Iterator[NameOccurrence]:
        whole = isinstance(node, DEFINITIONS) and not header
        nodes = [n for part in ([node] if whole else _header(node)) for n in _visible(part)]
        changed = set() if whole else set(_changed_names(node))
        for inner in nodes:
            if isinstance(inner, ast.Name):
                at = self._at(inner.lineno, inner.col_offset)
                role = NameRole.CHANGED if inner in changed else NameRole.READ
                if not isinstance(inner.ctx, ast.Load) and not whole:
                    role = NameRole.BOUND
                yield NameOccurrence(inner.id, (at, at + len(inner.id.encode())), role)
            elif isinstance(inner, ast.arg) and not whole:
                at = self._at(inner.lineno, inner.col_offset)
                yield NameOccurrence(inner.arg, (at, at + len(inner.arg.encode())), NameRole.BOUND)
        for name in _other_names(node, nodes):
            matches = list(re.finditer(rb"\b%s\b" % re.escape(name.encode()), self._data[span[0] : span[1]]))
            if matches:
                which = matches[0] if whole else matches[-1]
                yield NameOccurrence(name, (span[0] + which.start(), span[0] + which.end()), NameRole.BOUND)


def _header(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement that its header evaluates; a simple statement itself."""
    if not hasattr(node, "body") and not isinstance(node, ast.Match):
        yield node
        return
    for name, value in ast.iter_fields(node):
        if name not in _BODIES and name != "decorator_list":
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield child


def _visible(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes, except names that are local to a comprehension or a lambda."""
    stack: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while stack:
        inner, hidden = stack.pop()
        if isinstance(inner, ast.Name) and inner.id in hidden:
            continue
        if isinstance(inner, ast.Lambda):
            arguments = {a for a in ast.walk(inner.args) if isinstance(a, ast.arg)}
            hidden |= {argument.arg for argument in arguments}
            stack += [
                (child, hidden)
                for child in (*inner.args.defaults, *inner.args.kw_defaults, inner.body)
                if child
            ]
            continue
        if isinstance(inner, _COMPREHENSIONS):
            targets = [n for each in inner.generators for n in ast.walk(each.target)]
            hidden |= {n.id for n in targets if isinstance(n, ast.Name)}
        yield inner
        stack += [(child, hidden) for child in ast.iter_child_nodes(inner)]


def _changed_names(node: ast.AST) -> Iterator[ast.Name]:
    """The names whose objects a statement changes."""
    if isinstance(node, ast.Expr):
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            yield from _root(call.func.value)
        return
    for part in _header(node):
        for inner in ast.walk(part):
            if isinstance(inner, ast.Attribute | ast.Subscript) and not isinstance(inner.ctx, ast.Load):
                yield from _root(inner)


def _root(node: ast.expr) -> Iterator[ast.Name]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        yield node


def _other_names(node: ast.AST, nodes: list[ast.AST]) -> Iterator[str]:
    """Names that a statement binds, but whose position the parser does not give."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif (isinstance(node, ast.ExceptHandler) and node.name) or (
        isinstance(node, DEFINITIONS) and node in nodes[:1]
    ):
        yield node.name or ""
    for inner in nodes:
        if isinstance(inner, ast.MatchAs | ast.MatchStar) and inner.name:
            yield inner.name
        elif isinstance(inner, ast.MatchMapping) and inner.rest:
            yield inner.rest


def span_of(node: ast.expr, starts: Sequence[int]) -> Span:
    """The bytes of an expression in the text of a function, by the offsets of the file's lines."""
    start = starts[node.lineno - 1] + node.col_offset
    return start, starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)


def _lines(function: FunctionNode) -> tuple[int, int]:
    return first_line(function) - 1, function.end_lineno or function.lineno


def _parts(dependences: Dependences, data: bytes, starts: tuple[int, ...]) -> Iterator[Part]:
    return map(_PartReader(data, starts).part, dependences.statements, dependences.nodes)


EXAMINED = ExaminedLanguage(_lines, _parts)
