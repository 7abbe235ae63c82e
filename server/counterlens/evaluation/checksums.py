"""Checksums of the rows of a run, so that damage to a disk or a copy is noticed instead of shown as data.

    checksums(part, name, digest)           `part` is a table, `name` the key of a row, `digest` its BLAKE2b

They detect damage, not forgery. A run of an earlier version has none, or none of some rows: these are counted
as unverified, never as sound.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

_SCHEMA = """
CREATE TABLE IF NOT EXISTS checksums (
    part TEXT NOT NULL, name TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (part, name)
)
"""
_BYTES = 16
T = TypeVar("T")


class Checksums:
    """The checksums in one open database.

    Args:
        database: The database of a run.

    Attributes:
        unverified: The keys of rows that were read and have no checksum, by table.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self.unverified: dict[str, set[str]] = {}
        self._database = database
        self._known: dict[str, dict[str, bytes]] = {}

    def insert(self, table: str, key: object, *values: object, clause: str = "") -> None:
        """Insert a row with its checksum, within a transaction.

        Args:
            table: Its table, whose first column is the key.
            key: Its key.
            values: Its other values.
            clause: `OR IGNORE` or `OR REPLACE`, for a row that may exist.
        """
        places = ", ".join("?" * (1 + len(values)))
        self._database.execute(f"INSERT {clause} INTO {table} VALUES ({places})", (key, *values))  # noqa: S608
        self.add(table, key, *values)

    def add(self, table: str, key: object, *values: object) -> None:
        """Store the checksum of a row, or of some of its values, in the transaction of the row."""
        self._database.execute(_SCHEMA)
        row = (table, str(key), _digest(table, key, values))
        self._database.execute("INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)", row)

    def remove(self, table: str, key: object) -> None:
        """Remove the checksum of a row, if it has one, in the transaction that removes the row."""
        self._database.execute(_SCHEMA)
        self._database.execute("DELETE FROM checksums WHERE part = ? AND name = ?", (table, str(key)))

    def verified(self, table: str, rows: list[T], values: Callable[[T], tuple[Any, ...]]) -> list[T]:
        """All rows of a table, each of which agrees with its checksum, if it has one.

        Args:
            table: The table.
            rows: Its rows.
            values: Returns the key of a row, and its other values.

        Raises:
            ValueError: one does not agree, or one that has a checksum is missing.
        """
        missing = self.read(table)
        for row in rows:
            key, *others = values(row)
            missing.discard(str(key))
            self.check(table, key, *others)
        if missing:
            raise ValueError(f"{table}, {min(missing)}: it is missing")
        return rows

    def read(self, table: str) -> set[str]:
        """Read the checksums of a table, for `check`; returns the keys of its rows that have one."""
        exists = self._database.execute("SELECT 1 FROM sqlite_master WHERE name = 'checksums'").fetchone()
        rows = (
            self._database.execute("SELECT name, digest FROM checksums WHERE part = ?", (table,))
            if exists
            else ()
        )
        self._known[table] = dict(rows)
        return {*self._known[table]}

    def check(self, table: str, key: object, *values: object) -> None:
        """Compare a row with its checksum; call `read` before. One without a checksum is noted as unverified.

        Raises:
            ValueError: it does not agree.
        """
        known = self._known[table].get(str(key))
        if known is None:
            self.unverified.setdefault(table, set()).add(str(key))
        elif known != _digest(table, key, values):
            raise ValueError(f"{table}, {key}: its content was changed")


def _digest(table: str, key: object, values: tuple[object, ...]) -> bytes:
    row = json.dumps([table, str(key), *values]).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(row, digest_size=_BYTES).digest()
