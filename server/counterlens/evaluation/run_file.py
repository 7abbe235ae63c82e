"""The SQLite file of a run, and the lock of the process that writes it: opened, created and checked.

Checksums of the rows of a run, so that damage to a disk or a copy is noticed instead of shown as data.

    checksums(part, name, digest)           `part` is a table, `name` the key of a row, `digest` its BLAKE2b

They detect damage, not forgery. A run of an earlier version has none, or none of some rows: these are counted
as unverified, never as sound.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from counterlens.errors import CounterlensError
from counterlens.regular_file import check_database

_SCHEMA = """
CREATE TABLE IF NOT EXISTS checksums (
    part TEXT NOT NULL, name TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (part, name)
)
"""
_BYTES = 16
T = TypeVar("T")

FORMAT = 3
FILE = "run.sqlite"
_LOCK = "lock.sqlite"
SCHEMA = """
CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE plan (
    position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, model TEXT NOT NULL,
    problem TEXT NOT NULL, function TEXT NOT NULL, source TEXT NOT NULL,
    task TEXT NOT NULL
);
CREATE TABLE manifests (digest TEXT PRIMARY KEY, document TEXT NOT NULL);
CREATE TABLE records (
    position INTEGER PRIMARY KEY REFERENCES plan (position),
    manifest TEXT NOT NULL REFERENCES manifests (digest),
    outcome TEXT NOT NULL, reason TEXT NOT NULL, body TEXT NOT NULL, seconds REAL NOT NULL
);
"""


def writable(folder: Path) -> sqlite3.Connection:
    """Open the file of a run for writing.

    Raises:
        OSError: there is something else than a file.
        sqlite3.Error: it cannot be opened.
    """
    database = sqlite3.connect(_path(folder, FILE), isolation_level=None, timeout=10)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    return database


def readable(folder: Path) -> sqlite3.Connection:
    """Open the file of a run for reading, even while another process writes it.

    Raises:
        OSError: there is something else than a file.
        sqlite3.Error: it cannot be opened.
    """
    address = f"{_path(folder, FILE).resolve().as_uri()}?mode=ro"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=10)


def locked(folder: Path) -> sqlite3.Connection:
    """Open a transaction that locks out other processes until this one ends, on every system.

    Raises:
        CounterlensError: another process has the lock.
        OSError: there is something else than a file.
        sqlite3.Error: the lock cannot be created.
    """
    lock = sqlite3.connect(_path(folder, _LOCK), isolation_level=None, timeout=0)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        if error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise
        raise CounterlensError(
            f"another process is using {folder}",
            "Wait until it has finished, or choose another folder with --out",
        ) from None
    return lock


def _path(folder: Path, name: str) -> Path:
    """The path of a database that SQLite may open.

    Raises:
        OSError: there is something else than a file.
    """
    path = folder / name
    check_database(path)
    return path


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
        self._digests: dict[str, dict[str, bytes]] = {}

    def insert(self, table: str, key: object, *values: object, clause: str = "") -> None:
        """Insert a row with its checksum, within a transaction.

        Args:
            table: Its table, whose first column is the key.
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
        self._digests[table] = dict(rows)
        return {*self._digests[table]}

    def check(self, table: str, key: object, *values: object) -> None:
        """Compare a row with its checksum; call `read` before. One without a checksum is noted as unverified.

        Raises:
            ValueError: it does not agree.
        """
        digest = self._digests[table].get(str(key))
        if digest is None:
            self.unverified.setdefault(table, set()).add(str(key))
        elif digest != _digest(table, key, values):
            raise ValueError(f"{table}, {key}: its content was changed")


def _digest(table: str, key: object, values: tuple[object, ...]) -> bytes:
    row = json.dumps([table, str(key), *values]).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(row, digest_size=_BYTES).digest()
