"""The place of a completion: a place in a file, or both cuts of a counterfactual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from counterlens.errors import SourceError
from counterlens.languages.language import Feature
from counterlens.mutations import Counterfactual
from counterlens.probes.pairs.counterfactuals import rewritings
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions, require_feature
from counterlens.text import line_start


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a function.

    Attributes:
        title: Its name in reports.
        offset: The byte from which the model continues.
    """

    title: str
    document: Document
    qualname: str
    offset: int


def cursor(document: Document, line: int, column: int | None = None) -> Cursor:
    """The place before a line, or before a character of it.

    Args:
        line: Line number, 1-based.
        column: The character's number, 1-based; None for the whole line.

    Raises:
        SourceError: there is no such place, or it is not in the body of a Python function.
    """
    positions = require_feature(document, Feature.EXPLANATIONS).positions
    if not 1 <= line <= positions.lines:
        raise SourceError(f"there is no line {line}: the file has {positions.lines}")
    start = positions.line_start(line - 1)
    offset = start
    if column is not None:
        text = document.data[start:].split(b"\n", 1)[0].decode("utf-8", "replace")
        if not 1 <= column <= len(text) + 1:
            raise SourceError(f"line {line} has no column {column}: it has {len(text)} characters")
        offset = start + len(text[: column - 1].encode())
    return cursor_at(document, offset)


def cursor_at(document: Document, offset: int) -> Cursor:
    """The place at a byte.

    Raises:
        SourceError: the byte is not in the body of a Python function.
    """
    line = require_feature(document, Feature.EXPLANATIONS).positions.line_of(offset) + 1
    # the innermost function whose body contains a byte; on the header of an inner one, the outer one
    around = [
        function
        for function in functions(document)
        if _body_start(document, function) <= offset
        and (offset <= function.end or _behind(document, function, offset))
    ]
    if not around:
        raise SourceError(
            f"line {line} is not in the body of a function", "Choose a line that the model should rewrite"
        )
    return Cursor(f"line {line}", document, around[-1].qualname, offset)


def _behind(document: Document, function: Function, offset: int) -> bool:
    """Whether a byte is on blanks after a function, where its next statement would be written."""
    between = document.data[function.end : offset]
    if between.strip():
        return False
    header = function.header - line_start(document.data, function.header)
    return b"\n" not in between or len(between) - between.rfind(b"\n") - 1 > header


def _body_start(document: Document, function: Function) -> int:
    start = line_start(document.data, function.body)
    return start if start > function.header else function.body


def both_sides(at: Cursor, mutation: str) -> tuple[Cursor, Cursor]:
    """The cuts of the original and of the mutation's counterfactual that are nearest to a place.

    Raises:
        SourceError: the mutation has no effect in this function that a cut could show; the message gives the
            reason.
        OptionError: there is no such mutation.
    """
    function, surveyed = rewritings(at.document, at.qualname, (mutation,), seed=0)
    counterfactuals: Sequence[Counterfactual] = [
        counterfactual for counterfactual in surveyed.counterfactuals if counterfactual.cut is not None
    ]
    if not counterfactuals:
        reasons = "; ".join(dict.fromkeys(refusal.reason for refusal in surveyed.refusals))
        raise SourceError(
            f"{mutation} changes nothing in {function.name} that could be shown", reasons or None
        )
    line = at.document.positions.line_of(at.offset) + 1
    made = min(counterfactuals, key=lambda candidate: abs(candidate.start_line - line))
    assert made.cut is not None
    mutated = replace(at.document, text=made.source)
    return (
        Cursor("as written", at.document, at.qualname, made.cut.original),
        Cursor(f"after {mutation}", mutated, at.qualname, made.cut.mutated),
    )
