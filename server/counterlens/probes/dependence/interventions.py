"""Interventions: ways to change one statement so that whatever follows it can stay as it is.

The model reads (teacher forcing) the text before the statement, the changed statement, and what follows, byte
for byte. Only `HIDE` touches what stands in between, too: a name is easily copied from its last use, so a
renamed definition shows at the first use and hardly at the later ones. `HIDE` therefore renames the uses
between the definition and the observed statement along with it, up to the next binding of the name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from counterlens.probes.dependence.examined import DEFINITIONS, ExaminedFunction, NameRole, Part, Span


class Intervention(StrEnum):
    """How a statement is changed."""

    RENAME = "rename"
    HIDE = "hide"
    REPLACE = "replace"
    DELETE = "delete"
    NEGATE = "negate"
    NEUTRALISE = "neutralise"


@dataclass(frozen=True, slots=True)
class ChangedText:
    """One changed text, and the statements that are looked at in it.

    Attributes:
        data: The text, UTF-8; it ends where the last statement does that is looked at, and is empty
            if none is.
        stop: Its range in the subject's text.
        shifts: The byte offset by which each of these statements has moved, by its id.
    """

    data: bytes
    stop: int
    shifts: dict[int, int]


@dataclass(frozen=True, slots=True)
class SpanEdit:
    """New bytes for a span of the subject's text."""

    span: Span
    new: bytes


LookedAt = Callable[[Intervention, Part], bool]
"""Whether any token of a statement is looked at when another one is changed in some way."""


def everything(_kind: Intervention, _part: Part) -> bool:
    """Every statement is."""
    return True


def readings(
    subject: ExaminedFunction, part: Part, kind: Intervention, looked_at: LookedAt = everything
) -> list[ChangedText]:
    """The changed texts in which the statements after one can be looked at; none if it does not apply.

    Args:
        subject: The function.
        part: The statement that is changed.
        kind: How.
        looked_at: The statements of interest; no text continues after them.
    """
    edits = [SpanEdit(span, new.encode()) for span, new in _EDITS[kind](subject, part)]
    later = [other for other in subject.parts if other.span[0] >= part.span[1]]
    if not edits or not later:
        return []
    if kind is not Intervention.HIDE:
        return [_reading(subject, edits, later, kind, looked_at)]
    found, group = [], []
    names = {subject.data[edit.span[0] : edit.span[1]].decode(): edit.new for edit in edits}
    for other in later:
        group.append(other)
        uses = [use for use in other.occurrences if use.name in names and use.role is not NameRole.BOUND]
        if uses:
            found.append(_reading(subject, edits, group, kind, looked_at))
            edits = edits + [SpanEdit(use.span, names[use.name]) for use in uses]
            group = []
        for use in other.occurrences:
            if use.role is NameRole.BOUND:
                names.pop(use.name, None)
    return [*found, _reading(subject, edits, group, kind, looked_at)] if group else found


def _reading(
    subject: ExaminedFunction,
    edits: list[SpanEdit],
    parts: list[Part],
    kind: Intervention,
    looked_at: LookedAt,
) -> ChangedText:
    """The text with some edits, up to the end of the last of some statements that is looked at."""
    stop = max((part.span[1] for part in parts if looked_at(kind, part)), default=0)
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        pieces += [subject.data[at : edit.span[0]], edit.new]
        at = edit.span[1]
    pieces.append(subject.data[at:stop])
    grown = [(edit.span[1], len(edit.new) - (edit.span[1] - edit.span[0])) for edit in edits]
    shifts = {part.statement.id: sum(by for end, by in grown if end <= part.span[0]) for part in parts}
    return ChangedText(b"".join(pieces) if stop else b"", stop, shifts)


Edits = Iterator[tuple[Span, str]]


def _rename(subject: ExaminedFunction, part: Part) -> Edits:
    """The bound names are renamed, here only: what follows uses a name that was never bound."""
    taken = frozenset().union(*(other.names for other in subject.parts))
    fresh = iter([name for name in FRESH if name not in taken])
    chosen: dict[str, str] = {}
    for occurrence in part.occurrences:
        if occurrence.role is not NameRole.READ:
            if occurrence.name not in chosen:
                chosen[occurrence.name] = next(fresh, f"{occurrence.name}_")
            yield occurrence.span, chosen[occurrence.name]


def _replace(subject: ExaminedFunction, part: Part) -> Edits:
    """The value that it gives becomes another one of the same type."""
    value = getattr(part.node, "value", None) or getattr(part.node, "iter", None)
    if isinstance(part.node, ast.Expr) and isinstance(value, ast.Call):
        for argument in value.args[:1]:
            yield subject.span(argument), another(argument)
    elif isinstance(value, ast.expr):
        yield subject.span(value), another(value)


def _delete(subject: ExaminedFunction, part: Part) -> Edits:
    """The statement is gone with its line; a header becomes one that always lets its block run."""
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


def _negate(subject: ExaminedFunction, part: Part) -> Edits:
    """A condition becomes its opposite; a loop over elements gets none."""
    if isinstance(part.node, ast.If | ast.While):
        yield subject.span(part.node.test), negated(part.node.test)
    elif isinstance(part.node, ast.For | ast.AsyncFor):
        yield subject.span(part.node.iter), "[]"


def _neutralise(subject: ExaminedFunction, part: Part) -> Edits:
    """A branch becomes a header that decides nothing."""
    if isinstance(part.node, ast.If | ast.While | ast.For | ast.AsyncFor):
        yield part.span, "elif True:" if _elif(subject, part) else "with open(path) as file:"


_EDITS: dict[Intervention, Callable[[ExaminedFunction, Part], Edits]] = {
    Intervention.RENAME: _rename,
    Intervention.HIDE: _rename,
    Intervention.REPLACE: _replace,
    Intervention.DELETE: _delete,
    Intervention.NEGATE: _negate,
    Intervention.NEUTRALISE: _neutralise,
}

FRESH = ("other", "item", "value", "temp", "first", "second", "entry", "extra", "spare", "thing", "unused")
"""Plain words, so that the change is that of a name and not to gibberish."""


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
    """The source of a condition that holds when another does not."""
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
    """The source of another value of the type that an expression seems to have; `None` where that is open."""
    if isinstance(value, ast.Constant):
        return _other_constant(value.value)
    if isinstance(value, ast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        return _RESULTS.get(name, "None")
    if isinstance(value, ast.BinOp):  # text plus something is text
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
