"""Handles damaged files of a run: errors in words, and lost records by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from counterlens.errors import CounterlensError, DataError, OptionError

UNREADABLE = (
    sqlite3.DatabaseError,
    msgspec.MsgspecError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RecursionError,
    OverflowError,
    OptionError,
)
"""Exceptions raised by reading damaged data."""


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Read from a run.

    Raises:
        DataError: the data is damaged.
    """
    try:
        yield
    except UNREADABLE as error:
        raise damage_error(folder, error) from None


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Write to a run.

    Raises:
        CounterlensError: the disk is full, a limit is reached, or the file is damaged.
    """
    try:
        yield
    except sqlite3.IntegrityError:
        raise  # two records of an item: a bug of Counterlens
    except sqlite3.Error as error:
        raise CounterlensError(
            f"{folder} cannot be written: {error}", "Earlier results are kept; free some space, then resume"
        ) from None


def damage_error(folder: Path, error: Exception | str) -> DataError:
    """The error of a run that cannot be read."""
    reason = str(error).partition("\n")[0] or type(error).__name__
    return DataError(
        f"the run in {folder} cannot be read: {reason:.200}",
        "The file is damaged or from another program: choose another folder with --out",
    )


def texts(*values: object) -> tuple[str, ...]:
    """The values of a row, all of which must be strings.

    Raises:
        TypeError: one is not a string.
    """
    strings = tuple(value for value in values if isinstance(value, str))
    if len(strings) != len(values):
        raise TypeError("a text is missing")
    return strings
