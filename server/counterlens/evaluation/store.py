"""The storage of a run: one SQLite file in its folder, appended to in transactions.

    run(key, value)                         `format`, `settings`, and `begun`: time of beginning, in UTC
    plan(position, id, model, problem, function, source, task)
                                            the items, in order; `source` is the SHA-256 of the program
    manifests(digest, document)             the circumstances, as JSON
    spent(model, usage)                     usage of each model (`Usage` as JSON); older runs have none
    records(position, manifest, outcome, reason, body, seconds)
                                            the results; `body` is the record as JSON (probes/record.py)

Beside it, `answers.sqlite` caches the models' responses, call by call, so that no request is repeated. A
process that writes holds `lock.sqlite` in an exclusive transaction, which ends with the process, however it
ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from counterlens.errors import CounterlensError, DataError
from counterlens.evaluation.damage import UNREADABLE, damaged, reading, texts, writing
from counterlens.evaluation.settings import RunSettings
from counterlens.models.usage import Usage
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.record import Record, read, written
from counterlens.probes.registry import PROBES

FORMAT = 3
_DIGEST = 64  # characters of a digest of `manifest.canonical`
_FILE, _LOCK, _ANSWERS = "run.sqlite", "lock.sqlite", "answers.sqlite"
_SPENT = "CREATE TABLE IF NOT EXISTS spent (model TEXT PRIMARY KEY, usage TEXT NOT NULL)"
_SCHEMA = """
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


@dataclass(frozen=True, slots=True)
class Item:
    """One function for one model.

    Attributes:
        position: Its position in the plan, from 0.
        id: `MODEL|TASK|PROBLEM`; `counterlens replay` takes it, or the position.
        model: The model, as the user named it.
        problem: The dataset's name of the function.
        function: The qualified name of the function.
        source: The SHA-256 of the program.
        task: The id of the probe.
    """

    position: int
    id: str
    model: str
    problem: str
    function: str
    source: str
    task: str


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """The result of one item, with its circumstances.

    Attributes:
        record: The result.
        seconds: Duration.
        manifest: The digest of the manifest.
    """

    record: Record
    seconds: float = 0.0
    manifest: str = ""

    @property
    def judged_pairs(self) -> tuple[PairRecord, ...]:
        """The pairs with completions or repairs; other probes have none."""
        pairs = self.record.pairs if isinstance(self.record, PairsRecord) else ()
        return tuple(pair for pair in pairs if pair.original.completion is not None)


class Store:
    """A run's folder. One thread uses it at a time.

    Args:
        folder: The folder.
        database: Its open database.
        lock: The lock, if this process writes.

    Attributes:
        lost: Damaged records; if this process writes, they are dropped and recomputed.
    """

    def __init__(
        self, folder: Path, database: sqlite3.Connection, lock: sqlite3.Connection | None = None
    ) -> None:
        self.folder, self._database, self._lock = folder, database, lock
        self.lost: list[str] = []

    @classmethod
    def create(cls, folder: Path) -> Self:
        """Open the folder, created if missing, and lock it for this process.

        Raises:
            CounterlensError: another process uses it, or it cannot be written.
            DataError: it contains something else.
        """
        lock = database = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = _locked(folder)
            database = sqlite3.connect(folder / _FILE, isolation_level=None, timeout=10)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.execute("PRAGMA foreign_keys = ON")
            store = cls(folder, database, lock)
            store._check_format()
            store._drop_damaged()
        except BaseException as error:
            for one in (database, lock):
                if one is not None:
                    one.close()
            if isinstance(error, OSError | sqlite3.OperationalError) and not _is_damage(error):
                raise CounterlensError(
                    f"{folder} cannot be written: {getattr(error, 'strerror', None) or error}",
                    "Choose another folder with --out",
                ) from None
            if isinstance(error, UNREADABLE):
                raise damaged(folder, error) from None
            raise
        return store

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open a run for reading, even while another process uses it.

        Raises:
            DataError: there is no run, or it cannot be read.
        """
        if not cls.begun(folder):
            raise DataError(f"there is no run in {folder}", "Start one: counterlens bench --out FOLDER …")
        database = None
        try:
            database = sqlite3.connect(
                f"{(folder / _FILE).resolve().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=10
            )
            store = cls(folder, database)
            store._check_format()
            if store.settings is None:
                raise DataError(f"the run in {folder} ended before it had a plan", "Start it again")
        except BaseException as error:
            if database is not None:
                database.close()
            if isinstance(error, UNREADABLE):
                raise damaged(folder, error) from None
            raise
        return store

    @staticmethod
    def begun(folder: Path) -> bool:
        """Whether a folder has the file of a run."""
        return (folder / _FILE).is_file()

    @property
    def answers(self) -> Path:
        """The cache of the models' responses."""
        return self.folder / _ANSWERS

    @property
    def settings(self) -> RunSettings | None:
        """The settings of the run; None before it has a plan."""
        with reading(self.folder):
            value = self._value("settings")
            settings = None if value is None else RunSettings.from_json(value)
            for task in settings.tasks if settings else ():
                PROBES[task]
        return settings

    @property
    def when(self) -> str | None:
        """When the run began, as `2026-03-01T12:00:00+00:00`; None if unknown."""
        with reading(self.folder):
            return self._value("begun")

    @property
    def items(self) -> list[Item]:
        """The items of the plan, in order."""
        with reading(self.folder):
            columns = "position, id, model, problem, function, source, task"
            rows = self._database.execute(f"SELECT {columns} FROM plan ORDER BY position")  # noqa: S608
            return [_item(row) for row in rows]

    @property
    def done(self) -> set[int]:
        """The positions with a record."""
        with reading(self.folder):
            return {position for (position,) in self._database.execute("SELECT position FROM records")}

    @property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """The manifests by digest, in the order of their digests."""
        with reading(self.folder):
            rows = self._database.execute("SELECT digest, document FROM manifests ORDER BY digest")
            found: dict[str, str] = dict(map(_two_texts, rows))
            for digest, document in found.items():
                written_as = hashlib.sha256(document.encode()).hexdigest()
                if len(digest) == _DIGEST and written_as != digest:
                    raise ValueError(f"the manifest {digest[:12]} was changed")
            return {digest: dict(json.loads(document)) for digest, document in found.items()}

    def records(self) -> Iterator[tuple[Item, StoredRecord]]:
        """The results, in the order of the plan; damaged ones are skipped, and listed in `lost`."""
        self.lost = []
        for item, found in self._records():
            if isinstance(found, StoredRecord):
                yield item, found
            else:
                self.lost.append(f"{item.id}: {found}")

    def _records(self) -> Iterator[tuple[Item, StoredRecord | str]]:
        """The items with a record, each with the record or its problem."""
        with reading(self.folder):
            known = {digest for (digest,) in self._database.execute("SELECT digest FROM manifests")}
            rows = self._database.execute(
                "SELECT p.position, p.id, p.model, p.problem, p.function, p.source, p.task, "
                "CAST(r.body AS BLOB), r.seconds, r.manifest "
                "FROM plan p JOIN records r USING (position) ORDER BY p.position"
            ).fetchall()
            items = [_item(row[:7]) for row in rows]
        for item, row in zip(items, rows, strict=True):
            body, seconds, manifest = row[7:]
            try:
                record = read(body.decode(), PROBES[item.task].record)
                if manifest not in known:
                    raise ValueError("its circumstances are unknown")
                found = StoredRecord(record, float(seconds), manifest)
            except UNREADABLE as error:
                yield item, str(error).partition("\n")[0]
            except DataError as error:
                if "malformed" not in error.message:
                    raise
                yield item, error.message
            else:
                yield item, found

    def _drop_damaged(self) -> None:
        """Drop damaged records, so that they are recomputed."""
        wrong = [(item, found) for item, found in self._records() if isinstance(found, str)]
        with self._transaction():
            for item, why in wrong:
                self._database.execute("DELETE FROM records WHERE position = ?", (item.position,))
                self.lost.append(f"{item.id}: {why}")

    def begin(self, settings: RunSettings, items: Sequence[Item]) -> None:
        """Store a plan atomically."""
        with writing(self.folder), self._transaction():
            begun = datetime.now(UTC).isoformat(timespec="seconds")
            self._database.executemany(
                "INSERT INTO run VALUES (?, ?)", (("settings", settings.to_json()), ("begun", begun))
            )
            self._database.executemany(
                "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(i.position, i.id, i.model, i.problem, i.function, i.source, i.task) for i in items],
            )

    def keep_manifest(self, digest: str, document: str) -> None:
        """Store a manifest; repeating it changes nothing."""
        with writing(self.folder):
            self._database.execute("INSERT OR IGNORE INTO manifests VALUES (?, ?)", (digest, document))

    def append(self, item: Item, stored: StoredRecord) -> None:
        """Store the result of an item durably."""
        record = stored.record
        row = (
            item.position,
            stored.manifest,
            str(record.outcome),
            record.reason,
            written(record),
            stored.seconds,
        )
        with writing(self.folder):
            self._database.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", row)

    @property
    def spent(self) -> dict[str, Usage]:
        """The usage of each model, if it was counted."""
        with reading(self.folder):
            known = self._database.execute("SELECT 1 FROM sqlite_master WHERE name = 'spent'").fetchone()
            rows = self._database.execute("SELECT model, usage FROM spent").fetchall() if known else []
            return {model: Usage(**json.loads(usage)) for model, usage in map(_two_texts, rows)}

    def keep_spent(self, model: str, usage: Usage) -> None:
        """Replace a model's stored usage."""
        with writing(self.folder):
            self._database.execute(_SPENT)
            row = (model, json.dumps(asdict(usage)))
            self._database.execute("INSERT OR REPLACE INTO spent VALUES (?, ?)", row)

    def close(self) -> None:
        """Close the store, so that others can use the folder."""
        self._database.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _value(self, key: str) -> str | None:
        row = self._database.execute("SELECT value FROM run WHERE key = ?", (key,)).fetchone()
        return None if row is None else texts(row[0])[0]

    def _check_format(self) -> None:
        (sound,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
        if sound != "ok":
            raise sqlite3.DatabaseError(str(sound))
        tables = {name for (name,) in self._database.execute("SELECT name FROM sqlite_master")}
        if not tables and self._lock is not None:
            with self._transaction():
                for statement in _SCHEMA.split(";"):
                    self._database.execute(statement)
                self._database.execute("INSERT INTO run VALUES ('format', ?)", (str(FORMAT),))
            return
        found = self._value("format") if "run" in tables else None
        if found != str(FORMAT):
            raise DataError(
                f"{self.folder / _FILE} is not a run that this version can read: its format is "
                f"{found or 'of something else'}{self._made_by()}, not {FORMAT}",
                "Choose another folder, or use the version of Counterlens that created it",
            )

    def _made_by(self) -> str:
        """The version of Counterlens that created the run, in words, if known."""
        try:
            versions = {manifest["counterlens"] for manifest in self.manifests.values()}
        except (DataError, KeyError, TypeError):
            return ""
        return f" of Counterlens {', '.join(sorted(map(str, versions)))}" if versions else ""

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # a full disk has rolled back already
                self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")


def _locked(folder: Path) -> sqlite3.Connection:
    """Open a transaction that locks out other processes until this one ends, on every system."""
    lock = sqlite3.connect(folder / _LOCK, isolation_level=None, timeout=0)
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


def _is_damage(error: OSError | sqlite3.Error) -> bool:
    """Whether an error is about the content of the file, not about writing it."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR


def _item(row: Sequence[object]) -> Item:
    """An item of the plan.

    Raises:
        TypeError, ValueError, KeyError: the row is not an item.
    """
    position, (id_, model, problem, function, source, task) = row[0], texts(*row[1:])
    PROBES[task]
    if not isinstance(position, int):
        raise TypeError("an item has no position")
    return Item(position, id_, model, problem, function, source, task)


def _two_texts(row: Sequence[object]) -> tuple[str, str]:
    one, other = texts(*row)
    return one, other
