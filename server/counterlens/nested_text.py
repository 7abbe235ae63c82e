"""JSON and TOML that other people, programs or models wrote: of limited depth, and with one kind of error."""

from __future__ import annotations

import json
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

from counterlens.regular_file import read_text

DEEPEST = 100
"""Maximum levels of lists and tables; deeper ones would exhaust the stack of the code that reads them."""
_MARK = "\ufeff"


class TooDeepError(ValueError):
    """A text has more than the allowed levels."""

    def __init__(self) -> None:
        super().__init__("it is nested too deeply")


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; a byte-order mark before it is skipped.

    Raises:
        ValueError: it is not JSON in UTF-8, is nested too deeply, or has half a surrogate pair in a string.
    """
    text = _decode(text)
    try:
        value = json.loads(text)
    except RecursionError:
        raise TooDeepError from None
    check_depth(value)
    if "\\ud" in text or "\\uD" in text:
        _check_characters(value)
    return value


def parse_toml(text: str) -> dict[str, Any]:
    """The table of a TOML text; a byte-order mark before it is skipped.

    Raises:
        ValueError: it is not TOML, or is nested too deeply.
    """
    try:
        table = tomllib.loads(text.removeprefix(_MARK))
    except RecursionError:
        raise TooDeepError from None
    check_depth(table)
    return table


def read_json(path: Path) -> Any:
    """The value in a JSON file.

    Raises:
        OSError: as `read_text`.
        ValueError: as `parse_json`.
    """
    return parse_json(read_text(path))


def check_depth(value: object, deepest: int = DEEPEST) -> None:
    """Refuse a value of nested lists and tables.

    Raises:
        TooDeepError: it has more levels than the deepest.
    """
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(deepest):
        inside = chain.from_iterable(part.values() if isinstance(part, dict) else part for part in level)
        level = [part for part in inside if isinstance(part, dict | list)]
        if not level:
            return
    raise TooDeepError


def _decode(text: str | bytes) -> str:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"it is not valid UTF-8 at byte {error.start}") from None
    return text.removeprefix(_MARK)


def _check_characters(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a string has half a surrogate pair") from None
