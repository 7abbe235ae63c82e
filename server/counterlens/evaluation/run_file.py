"""The SQLite file of a run, and the lock of the process that writes it: opened, created and checked."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from counterlens.errors import CounterlensError
from counterlens.regular_file import check_database

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
