"""Doubts as one line each, as plain data, as SARIF and as annotations on GitHub."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from counterlens.doubt.alternative import Alternative
from counterlens.doubt.marking import Doubt, Verification
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.reports.export.annotations import Annotation
from counterlens.reports.export.sarif import sarif_run
from counterlens.reports.wording import share, shortened
from counterlens.text import PositionEncoding, json_text, printable
from counterlens.translating import ENGLISH, Translator

_WIDTH = 60
_LEVELS = {Verification.FAIL: "error", Verification.SAME: "note", Verification.NONE: "note"}


def doubt_sentence(doubt: Doubt, t: Translator = ENGLISH) -> str:
    """A mark in words, such as "`in`: did you mean `not in`? (model preference 96 %)"."""
    question = t.recognised(doubt.alternative.question) or t(
        "did you mean {other}?", other=f"`{shortened(doubt.alternative.text, _WIDTH)}`"
    )
    figures = ", ".join(filter(None, (_preferred(doubt.trial.share, t), _verification(doubt, t))))
    return f"`{shortened(doubt.text, _WIDTH)}`: {question} ({figures})"


def _preferred(part: float, t: Translator) -> str:
    """A share of the probability as text, never shown as 100 %: it is no probability of a mistake."""
    return t("model preference {share}", share=share(part, t) if part < 0.99 else t("over 99 %"))


def _verification(doubt: Doubt, t: Translator) -> str:
    """Describe the result of the tests or, if they do not decide, the distinguishing input."""
    if doubt.tests is Verification.FAIL:
        return t("tests fail now and pass with it")
    if doubt.tests is Verification.NONE:
        return ""
    parts = []
    if doubt.rival is not None:
        other = _changed(doubt, doubt.rival)
        parts.append(t("failing tests pass with it, and also with {other}", other=other))
    if doubt.apart is not None:
        call = f"`{shortened(doubt.apart.call, _WIDTH)}`"
        one, other = (shortened(text, _WIDTH) for text in (doubt.apart.original, doubt.apart.other))
        parts.append(t("{call}: `{one}` or `{other}`", call=call, one=one, other=other))
    if doubt.rival is None:
        parts.append(t("no test distinguishes them"))
    return "; ".join(parts)


def _changed(doubt: Doubt, other: Alternative) -> str:
    """Another alternative in words, with the text that it replaces if the place differs."""
    text = f"`{shortened(other.text, _WIDTH)}`"
    if other.place == doubt.alternative.place:
        return text
    stands = " ".join(doubt.scope.text(*other.place).split())
    return f"{text} for `{shortened(stands, _WIDTH)}`"


def doubt_data(doubt: Doubt, encoding: PositionEncoding = PositionEncoding.UTF32) -> dict[str, Any]:
    """A mark as plain data; lines and columns are counted from 1, columns in characters."""
    positions, place = doubt.scope.document.positions, doubt.alternative.place
    (line, column), (end_line, end_column) = (positions.to_character(at, encoding) for at in place)
    return {
        "path": _path(doubt),
        "line": line + 1,
        "column": column + 1,
        "end_line": end_line + 1,
        "end_column": end_column + 1,
        "kind": doubt.alternative.kind,
        "text": doubt.scope.text(*place),
        "alternative": doubt.alternative.text,
        "probability": doubt.trial.share,
        "tests": doubt.tests.value,
        "message": doubt_sentence(doubt),
    }


def _text(found: Sequence[Doubt]) -> str:
    rows = (doubt_data(doubt) for doubt in found)
    return "".join(f"{_line(row)}\n" for row in rows)


def _line(row: dict[str, Any]) -> str:
    return printable(f"{row['path']}:{row['line']}:{row['column']}: {row['message']}", keep="\t")


def _json(found: Sequence[Doubt]) -> str:
    return json_text([doubt_data(doubt) for doubt in found]) + "\n"


def _github(found: Sequence[Doubt]) -> str:
    rows = (doubt_data(doubt) for doubt in found)
    lines = (
        Annotation(row["path"], row["line"], row["end_line"], row["kind"], row["message"]) for row in rows
    )
    return "".join(f"{one.workflow_command}\n" for one in lines)


def _sarif(found: Sequence[Doubt]) -> str:
    return sarif_run([_result(doubt) for doubt in found], _rule, {}, rooted=False)


def _result(doubt: Doubt) -> dict[str, Any]:
    row = doubt_data(doubt, PositionEncoding.UTF16)
    parts = (row["path"], doubt.scope.function.qualname, row["kind"], row["text"], row["alternative"])
    region = {
        "startLine": row["line"],
        "startColumn": row["column"],
        "endLine": row["end_line"],
        "endColumn": row["end_column"],
    }
    return {
        "ruleId": row["kind"],
        "level": _LEVELS[doubt.tests],
        "message": {"text": row["message"]},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(os.fsencode(row["path"]))},
                    "region": region,
                },
                "logicalLocations": [
                    {"fullyQualifiedName": doubt.scope.function.qualname, "kind": "function"}
                ],
            }
        ],
        "partialFingerprints": {
            "doubt/v1": hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        },
        "properties": {"probability": row["probability"], "tests": row["tests"]},
    }


def _rule(name: str) -> dict[str, Any]:
    about = " ".join((DOUBT_KINDS[name].__doc__ or "").split())
    return {
        "id": name,
        "shortDescription": {"text": f"An alternative is likelier ({name})"},
        "fullDescription": {"text": about},
        "defaultConfiguration": {"level": "note"},
    }


def _path(doubt: Doubt) -> str:
    path = doubt.scope.document.path
    return path.as_posix() if isinstance(path, Path) else ""


DOUBT_FORMATS: Mapping[str, Callable[[Sequence[Doubt]], str]] = MappingProxyType(
    {"text": _text, "json": _json, "sarif": _sarif, "github": _github}
)
"""The formats, by name."""
