"""Doubts as one line each, as plain data, as SARIF and as annotations on GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any

from counterlens.doubt.alternative import Alternative
from counterlens.doubt.disagreeing import DisagreeingFunction
from counterlens.doubt.edits import apply_edit
from counterlens.doubt.failing import FailedTest, FailingFunction
from counterlens.doubt.marking import DISAGREEING, FAILING, Doubt, Mark, Verification, kind_of
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.reports.export.findings import (
    FileFinding,
    file_region,
    finding_formats,
    patch_of,
    sarif_rule,
)
from counterlens.reports.wording import contrast, share, shorten
from counterlens.text import PositionEncoding, printable

_WIDTH = 60
_LEVELS = dict.fromkeys(Verification, "note") | {
    Verification.FAIL: "error",
    Verification.UNCONFIRMED: "warning",
}


def verification_of(mark: Mark) -> Verification:
    """What the tests say about a mark."""
    if isinstance(mark, Doubt):
        return mark.tests
    return Verification.FAIL if isinstance(mark, FailingFunction) else Verification.NONE


def mark_sentence(mark: Mark) -> str:
    """A mark in words, on one line."""
    if isinstance(mark, Doubt):
        return doubt_sentence(mark)
    if isinstance(mark, DisagreeingFunction):
        return disagreement_sentence(mark)
    more = f"; {mark.more} further tests fail" if mark.more > 1 else "; another test fails"
    sentence = failure_sentence(mark.failed) + (more if mark.more else "")
    if mark.written is None:
        return sentence
    sure = "" if mark.written.confirmed else ", not confirmed by another one"
    return f"{sentence}; a version that the model wrote passes{sure}"


def disagreement_sentence(mark: DisagreeingFunction) -> str:
    """What docstring and code disagree about, such as "`half(3)` returns 1; the docstring says 1.5"."""
    code, versions = contrast(mark.code, mark.versions, _WIDTH)
    does = "raises" if mark.raises else "returns"
    sentence = f"docstring and code disagree: `{shorten(mark.call, _WIDTH)}` {does} {code}; "
    if not mark.of:
        return f"{sentence}the docstring says {versions}"
    return f"{sentence}{mark.agreeing} of {mark.of} versions written from the docstring return {versions}"


def failure_sentence(test: FailedTest) -> str:
    """What a failing test says, such as "`test_total`: expected 12, got 10"."""
    name = f"`{shorten(test.name, _WIDTH)}`"
    statement = f"`{shorten(test.statement, _WIDTH)}`" if test.statement else ""
    if test.endless:
        return f"{name} does not end"
    if test.error:
        raising = f"{name}: {statement}" if statement else name
        error = shorten(test.error, _WIDTH)
        if test.at:
            return f"{raising} raises {error} at line {test.at}"
        return f"{raising} raises {error}"
    expected, got = contrast(test.expected, test.got, _WIDTH)
    if expected != got:
        return f"{name}: expected {expected}, got {got}"
    line = next((line for line in reversed(test.message.splitlines()) if line.strip()), "")
    if not statement or not (test.expected or line == "AssertionError"):
        statement = shorten(line, _WIDTH)
    return f"{name} fails: {statement}"


def doubt_sentence(doubt: Doubt) -> str:
    """A mark in words, such as "`in`: did you mean `not in`? (model preference 96 %)"."""
    question = doubt.alternative.question or f"did you mean `{shorten(doubt.alternative.text, _WIDTH)}`?"
    figures = ", ".join(filter(None, (_preference(doubt.trial.share), _verification(doubt))))
    return f"`{shorten(doubt.text, _WIDTH)}`: {question} ({figures})"


def _preference(part: float) -> str:
    """A share of the probability as text, never shown as 100 %: it is no probability of a mistake."""
    return f"model preference {share(part) if part < 0.99 else 'over 99 %'}"


def _verification(doubt: Doubt) -> str:
    """Describe the result of the tests or, if they do not decide, the distinguishing input."""
    if doubt.tests is Verification.FAIL:
        return "tests fail now and pass with it"
    if doubt.tests is Verification.NONE:
        return ""
    parts = []
    if doubt.tests is Verification.UNCONFIRMED:
        parts.append("it passes the tests, not confirmed")
    if doubt.rival is not None:
        parts.append(f"{_change(doubt, doubt.rival)} passes, too")
        if doubt.apart is None:
            parts.append("the two could not be compared")
    if doubt.apart is not None:
        call = f"`{shorten(doubt.apart.call, _WIDTH)}`"
        original, other = contrast(doubt.apart.original, doubt.apart.other, _WIDTH)
        parts.append(f"{call}: `{original}` or `{other}`")
    if doubt.tests is Verification.SAME:
        parts.append("no test distinguishes them")
    return "; ".join(parts)


def _change(doubt: Doubt, other: Alternative) -> str:
    """Another alternative in words, with the text that it replaces if the place differs."""
    text, stands = (shorten(each, _WIDTH) for each in (other.text, doubt.scope.text(*other.place)))
    if text == stands:
        return f"`{text}` in another block"
    return f"`{text}`" if other.place == doubt.alternative.place else f"`{text}` for `{stands}`"


def mark_data(mark: Mark, encoding: PositionEncoding = PositionEncoding.UTF32) -> dict[str, Any]:
    """A mark as plain data; lines and columns are counted from 1, columns in characters."""
    doubt = mark if isinstance(mark, Doubt) else None
    place, file = mark.place, mark.scope.document.path
    path = file.as_posix() if isinstance(file, Path) else ""
    positions = mark.scope.document.positions
    (line, column), (end_line, end_column) = (positions.to_character(at, encoding) for at in place)
    return {
        "path": path,
        "line": line + 1,
        "column": column + 1,
        "end_line": end_line + 1,
        "end_column": end_column + 1,
        "kind": kind_of(mark),
        "text": mark.scope.text(*place),
        "alternative": doubt.alternative.text if doubt else None,
        "patch": _patch(mark, path),
        "probability": doubt.trial.share if doubt else None,
        "tests": verification_of(mark).value,
        "test": _test_data(mark.failed),
        "message": mark_sentence(mark),
    }


def _test_data(test: FailedTest | None) -> dict[str, Any] | None:
    """A failing test as plain data."""
    if test is None:
        return None
    path = test.file.as_posix() if test.file else ""
    return {"name": test.name, "path": path, "line": test.line or None, "message": test.message}


def _text(marks: Sequence[Mark]) -> str:
    rows = zip(marks, map(mark_data, marks), strict=True)
    return "".join(
        printable(
            f"{row['path']}:{row['line']}:{row['column']}: {row['message']}{_deciding(mark)}", keep="\t"
        )
        + "\n"
        + indent(printable(row["patch"], keep="\n\t"), "    ")
        for mark, row in rows
    )


def _patch(mark: Mark, path: str) -> str:
    """What a model wrote, as a unified difference of the file; empty if nothing was written, or it failed."""
    if not isinstance(mark, FailingFunction) or mark.written is None:
        return ""
    document = mark.scope.document
    return patch_of(path, document.text, apply_edit(document.data, mark.written.edit), around=1)


def _deciding(mark: Mark) -> str:
    """The test that fails now and passes with a fix, which an editor shows at its own place."""
    if not isinstance(mark, Doubt) or mark.failed is None or mark.tests is Verification.SAME:
        return ""
    return f"; {failure_sentence(mark.failed)}"


def _findings(doubts: Sequence[Mark]) -> Iterator[FileFinding]:
    for mark in doubts:
        row, test = mark_data(mark, PositionEncoding.UTF16), mark.failed
        place: list[tuple[dict[str, Any], str]] = []
        if test is not None and test.file is not None and test.line:
            place = [(file_region(test.file.as_posix(), startLine=test.line), test.name)]
        yield FileFinding(
            rule=row["kind"],
            level=_LEVELS[verification_of(mark)],
            message=row["message"],
            details=row["patch"],
            path=row["path"],
            function=mark.scope.function.qualname,
            region={
                "startLine": row["line"],
                "startColumn": row["column"],
                "endLine": row["end_line"],
                "endColumn": row["end_column"],
            },
            identity=("doubt/v1", (row["text"], row["alternative"] or "")),
            properties={"probability": row["probability"], "tests": row["tests"]},
            related=place,
        )


def _rule(name: str) -> dict[str, Any]:
    if name == FAILING:
        title = "The tests of a function fail"
        return sarif_rule(name, title, f"{title}, and no alternative is known that passes them", "error")
    if name == DISAGREEING:
        title = "Docstring and code disagree"
        about = (
            f"{title}: versions of the function that a model wrote from its docstring agree with each other "
            "on an input, and the code does otherwise. Either may be wrong"
        )
        return sarif_rule(name, title, about, "note")
    about = " ".join((DOUBT_KINDS[name].__doc__ or "").split())
    return sarif_rule(name, f"An alternative is likelier ({name})", about, "note")


DOUBT_FORMATS = finding_formats(
    _findings, text=_text, data=lambda doubts: list(map(mark_data, doubts)), rule=_rule
)
"""The formats, by name."""
