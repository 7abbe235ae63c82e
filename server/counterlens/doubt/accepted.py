"""Marks that a team has accepted, in a file of the repository, so that a gate reports new ones only.

A mark is recognised by its file, function, kind and text, whatever its line; blanks do not count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from counterlens.atomic_file import replace_file
from counterlens.doubt.marking import Doubt, Mark, kind_of
from counterlens.errors import OptionError
from counterlens.nested_text import read_json
from counterlens.regular_file import reason_of

_FORMAT, _VERSION = "counterlens-baseline", 1
_FIELDS = ("path", "function", "kind", "text", "alternative")

Key = tuple[str, ...]


def new_marks(marks: Sequence[Mark], path: Path) -> list[Mark]:
    """The marks that a baseline does not accept; each accepted one counts once.

    Raises:
        OptionError: the file cannot be read, or is no baseline.
    """
    left = _read(path)
    new = []
    for mark in marks:
        key = _key(mark, path)
        if left[key] > 0:
            left[key] -= 1
        else:
            new.append(mark)
    return new


def write_accepted(marks: Sequence[Mark], path: Path) -> None:
    """Accept these marks, and no others.

    Raises:
        OptionError: the file cannot be written.
    """
    rows = [dict(zip(_FIELDS, key, strict=True)) for key in sorted(_key(mark, path) for mark in marks)]
    document = {"format": _FORMAT, "version": _VERSION, "marks": rows}
    try:
        replace_file(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise OptionError(f"the baseline cannot be written to {path}: {error.strerror}") from error


def _read(path: Path) -> Counter[Key]:
    try:
        document: Any = read_json(path)
        is_baseline = (document["format"], document["version"]) == (_FORMAT, _VERSION)
        keys = [tuple(str(row[name]) for name in _FIELDS) for row in document["marks"]]
    except OSError as error:
        raise OptionError(
            f"the baseline {path} cannot be read: {reason_of(error)}", "Write it with --write-baseline"
        ) from error
    except (KeyError, TypeError, ValueError):
        is_baseline, keys = False, []
    if not is_baseline:
        raise OptionError(f"{path} is not a baseline of marks", "Write it again with --write-baseline")
    return Counter(keys)


def _key(mark: Mark, path: Path) -> Key:
    file = mark.scope.document.path
    place = file.resolve() if file is not None else Path()
    root = path.resolve().parent
    shown = place.relative_to(root) if place.is_relative_to(root) else place
    doubt = mark if isinstance(mark, Doubt) else None
    return (
        shown.as_posix(),
        mark.scope.function.qualname,
        kind_of(mark),
        _plain(mark.scope.text(*mark.place)),
        _plain(doubt.alternative.text) if doubt else "",
    )


def _plain(text: str) -> str:
    return " ".join(text.split())
