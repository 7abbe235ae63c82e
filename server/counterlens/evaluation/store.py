"""The storage of a run: one SQLite file in its folder, appended to in transactions.

    run(key, value)                         `format`, `settings`, `seal` (`run_consent.py`); `begun`: time of
                                            beginning, in UTC; `speed MODEL`: `ModelSpeed` as JSON
    plan(position, id, model, problem, function, source, task)
                                            the items, in order; `source` is the SHA-256 of the program
    manifests(digest, document)             the circumstances, as JSON
    spent(model, usage)                     usage of each model (`Usage` as JSON); older runs have none
    records(position, manifest, outcome, reason, body, seconds)
                                            the results; `body` is the record as JSON (probes/record.py)
    checksums(part, name, digest)           one of each row of these (run_file.py)

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
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import msgspec

from counterlens.atomic_file import make_folder
from counterlens.errors import CounterlensError, DataError
from counterlens.evaluation.damage import UNREADABLE, damage_error, reading, texts, writing
from counterlens.evaluation.run_consent import is_sealed, seal
from counterlens.evaluation.run_file import FILE, FORMAT, SCHEMA, Checksums, locked, readable, writable
from counterlens.evaluation.settings import RunSettings
from counterlens.models.speed import ModelSpeed
from counterlens.models.usage import Usage
from counterlens.probes.record import Record, read, write_record
from counterlens.probes.registry import PROBES

_DIGEST = 64  # characters of a digest of `manifest.canonical`
_ANSWERS = "answers.sqlite"
_SPEED = "speed "
_ELAPSED = "elapsed"
_SPENT = "CREATE TABLE IF NOT EXISTS spent (model TEXT PRIMARY KEY, usage TEXT NOT NULL)"


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
        seconds: Duration.
        manifest: The digest of the manifest.
    """

    record: Record
    seconds: float = 0.0
    manifest: str = ""


class Store:
    """A run's folder. One thread uses it at a time.

    Args:
        database: Its open database.
        lock: The lock, if this process writes.

    Attributes:
        lost: Damaged or missing records; if this process writes, they are dropped and recomputed.
    """

    def __init__(
        self, folder: Path, database: sqlite3.Connection, lock: sqlite3.Connection | None = None
    ) -> None:
        self.folder, self._database, self._lock = folder, database, lock
        self._checksums = Checksums(database)
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
            make_folder(folder)
            lock = locked(folder)
            database = writable(folder)
            store = cls(folder, database, lock)
            store._check_format()
            store._drop_damaged()
        except BaseException as error:
            for resource in (database, lock):
                if resource is not None:
                    resource.close()
            if isinstance(error, OSError | sqlite3.OperationalError) and not _is_damage(error):
                raise CounterlensError(
                    f"{folder} cannot be written: {getattr(error, 'strerror', None) or error}",
                    "Choose another folder with --out",
                ) from None
            if isinstance(error, UNREADABLE):
                raise damage_error(folder, error) from None
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
            database = readable(folder)
            store = cls(folder, database)
            store._check_format()
            if store.settings is None:
                raise DataError(f"the run in {folder} ended before it had a plan", "Start it again")
        except BaseException as error:
            if database is not None:
                database.close()
            if isinstance(error, OSError):
                raise damage_error(folder, error.strerror or str(error)) from None
            if isinstance(error, UNREADABLE):
                raise damage_error(folder, error) from None
            raise
        return store

    @staticmethod
    def begun(folder: Path) -> bool:
        """Whether a folder has the file of a run."""
        return (folder / FILE).is_file()

    @property
    def unverified(self) -> int:
        """Number of records read that have no checksum, because an earlier version stored them."""
        return len(self._checksums.unverified.get("records", ()))

    @property
    def answers(self) -> Path:
        """The cache of the models' responses."""
        return self.folder / _ANSWERS

    @property
    def settings(self) -> RunSettings | None:
        """The settings of the run, foreign unless this user sealed them; None before it has a plan."""
        with self._reading():
            value = self._value("settings")
            settings = None if value is None else RunSettings.from_json(value)
            for task in settings.tasks if settings else ():
                PROBES[task]
            if settings is None or value is None:
                return None
            return replace(settings, foreign=not is_sealed(value, self._value("seal") or ""))

    @property
    def when(self) -> str | None:
        """When the run began, as `2026-03-01T12:00:00+00:00`; None if unknown."""
        with self._reading():
            return self._value("begun")

    @property
    def items(self) -> list[Item]:
        """The items of the plan, in order."""
        with self._reading():
            columns = "position, id, model, problem, function, source, task"
            rows = self._database.execute(f"SELECT {columns} FROM plan ORDER BY position")  # noqa: S608
            return self._checksums.verified("plan", list(map(_item, rows)), astuple)

    @property
    def done(self) -> set[int]:
        """The positions with a record."""
        with self._reading():
            return {position for (position,) in self._database.execute("SELECT position FROM records")}

    @property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """The manifests by digest, in the order of their digests."""
        with self._reading():
            rows = self._database.execute("SELECT digest, document FROM manifests ORDER BY digest")
            documents = dict(self._checksums.verified("manifests", list(map(_two_texts, rows)), tuple))
            for digest, document in documents.items():
                written_as = hashlib.sha256(document.encode()).hexdigest()
                if len(digest) == _DIGEST and written_as != digest:
                    raise ValueError(f"the manifest {digest[:12]} was changed")
            return {digest: dict(json.loads(document)) for digest, document in documents.items()}

    def records(self) -> Iterator[tuple[Item, StoredRecord]]:
        """The results, in the order of the plan; damaged ones are skipped, and listed in `lost`."""
        self.lost = []
        for item, record in self._records():
            if isinstance(record, StoredRecord):
                yield item, record
            else:
                self.lost.append(f"{item.id}: {record}")
        self.lost += [f"record {position}: it is missing" for position in self._missing()]

    def _records(self) -> Iterator[tuple[Item, StoredRecord | str]]:
        """The items with a record, each with the record or its problem."""
        with self._reading():
            digests = {digest for (digest,) in self._database.execute("SELECT digest FROM manifests")}
            rows = self._database.execute(
                "SELECT p.position, p.id, p.model, p.problem, p.function, p.source, p.task, "
                "CAST(r.body AS BLOB), r.seconds, r.manifest "
                "FROM plan p JOIN records r USING (position) ORDER BY p.position"
            ).fetchall()
            items = [_item(row[:7]) for row in rows]
            self._checksums.read("records")
        for item, row in zip(items, rows, strict=True):
            body, seconds, manifest = row[7:]
            try:
                body = body.decode()
                self._checksums.check("records", item.position, manifest, body, seconds)
                record = read(body, PROBES[item.task].record)
                if manifest not in digests:
                    raise ValueError("its circumstances are unknown")
                stored = StoredRecord(record, float(seconds), manifest)
            except UNREADABLE as error:
                yield item, str(error).partition("\n")[0]
            except DataError as error:
                if "malformed" not in error.message:
                    raise
                yield item, error.message
            else:
                yield item, stored

    def _missing(self) -> list[str]:
        """The positions of records that have a checksum, but are not there."""
        with self._reading():
            checked = self._checksums.read("records")  # first: a record may be added meanwhile
            shown = self._database.execute("SELECT position FROM plan JOIN records USING (position)")
            return sorted(checked - {str(position) for (position,) in shown})

    def _drop_damaged(self) -> None:
        """Drop damaged records, so that they are recomputed."""
        wrong = [(item, problem) for item, problem in self._records() if isinstance(problem, str)]
        with self._transaction():
            for item, why in wrong:
                self._database.execute("DELETE FROM records WHERE position = ?", (item.position,))
                self._checksums.remove("records", item.position)
                self.lost.append(f"{item.id}: {why}")
            for position in self._missing():
                self._checksums.remove("records", position)
                self.lost.append(f"record {position}: it is missing")

    def begin(self, settings: RunSettings, items: Sequence[Item]) -> None:
        """Store a plan atomically."""
        with writing(self.folder), self._transaction():
            begun = datetime.now(UTC).isoformat(timespec="seconds")
            text = settings.to_json()
            for key, value in (("settings", text), ("seal", seal(text)), ("begun", begun)):
                self._checksums.insert("run", key, value)
            for item in items:
                self._checksums.insert("plan", *astuple(item))

    def keep_manifest(self, digest: str, document: str) -> None:
        """Store a manifest; repeating it changes nothing."""
        with writing(self.folder), self._transaction():
            self._checksums.insert("manifests", digest, document, clause="OR IGNORE")

    def append(self, item: Item, stored: StoredRecord) -> None:
        """Store the result of an item durably."""
        record = stored.record
        body = write_record(record)
        row = (item.position, stored.manifest, str(record.outcome), record.reason, body, stored.seconds)
        with writing(self.folder), self._transaction():
            self._database.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", row)
            self._checksums.add("records", item.position, stored.manifest, body, float(stored.seconds))

    @property
    def spent(self) -> dict[str, Usage]:
        """The usage of each model, if it was counted."""
        with self._reading():
            has_table = self._database.execute("SELECT 1 FROM sqlite_master WHERE name = 'spent'").fetchone()
            rows = self._database.execute("SELECT model, usage FROM spent").fetchall() if has_table else []
            sound = self._checksums.verified("spent", list(map(_two_texts, rows)), tuple)
            return {model: Usage(**json.loads(usage)) for model, usage in sound}

    def keep_spent(self, model: str, usage: Usage) -> None:
        """Replace a model's stored usage."""
        with writing(self.folder), self._transaction():
            self._database.execute(_SPENT)
            self._checksums.insert("spent", model, json.dumps(asdict(usage)), clause="OR REPLACE")

    def speeds(self, models: Sequence[str]) -> dict[str, ModelSpeed]:
        """The speeds of models, if they were measured and other programs did not disturb that."""
        with self._reading():
            stored = {model: self._value(f"{_SPEED}{model}") for model in models}
            speeds = {
                model: msgspec.json.decode(speed, type=ModelSpeed) for model, speed in stored.items() if speed
            }
            return {model: speed for model, speed in speeds.items() if not speed.disturbed}

    def keep_speed(self, model: str, speed: ModelSpeed) -> None:
        """Store a model's speed."""
        with writing(self.folder), self._transaction():
            text = msgspec.json.encode(speed).decode()
            self._checksums.insert("run", f"{_SPEED}{model}", text, clause="OR REPLACE")

    @property
    def elapsed(self) -> float:
        """Seconds in which models were asked, in all parts of the run; 0 if an earlier version did."""
        with self._reading():
            return float(self._value(_ELAPSED) or 0.0)

    def keep_elapsed(self, seconds: float) -> None:
        """Replace the stored seconds."""
        with writing(self.folder), self._transaction():
            self._checksums.insert("run", _ELAPSED, f"{seconds:.1f}", clause="OR REPLACE")

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
        rows = self._checksums.verified(
            "run", list(map(_two_texts, self._database.execute("SELECT key, value FROM run"))), tuple
        )
        return dict(rows).get(key)

    def _check_format(self) -> None:
        (sound,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
        if sound != "ok":
            raise sqlite3.DatabaseError(str(sound))
        tables = {name for (name,) in self._database.execute("SELECT name FROM sqlite_master")}
        if not tables and self._lock is not None:
            with self._transaction():
                for statement in SCHEMA.split(";"):
                    self._database.execute(statement)
                self._checksums.insert("run", "format", str(FORMAT))
            return
        version = None
        if "run" in tables:
            row = self._database.execute("SELECT value FROM run WHERE key = 'format'").fetchone()
            version = None if row is None else str(row[0])
        if version != str(FORMAT):
            raise DataError(
                f"{self.folder / FILE} is not a run that this version can read: its format is "
                f"{version or 'of something else'}{self._made_by()}, not {FORMAT}",
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
    def _reading(self) -> Iterator[None]:
        """Read rows and their checksums of one moment, while another process may write both.

        Raises:
            DataError: the data is damaged.
        """
        with reading(self.folder):
            if self._database.in_transaction:
                yield
                return
            self._database.execute("BEGIN")
            try:
                yield
            finally:
                self._database.execute("ROLLBACK")

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
    text, other = texts(*row)
    return text, other
