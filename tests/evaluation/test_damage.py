"""Damaged files of a run and of the kept answers: an error in words, or what is lost by name."""

from __future__ import annotations

import logging
import random
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from counterlens.errors import CounterlensError, DataError
from counterlens.evaluation.manifest import canonical
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.models.cache import AnswerStore
from counterlens.models.usage import Usage
from counterlens.reports.run_formats import write_evaluation
from tests.evaluation.made_up import left_out, pair, pairs_record

Damage = Callable[[Path], object]
SETTINGS = RunSettings.of(["completion"], "humaneval", {})
ITEMS = [Item(i, f"m|completion|p{i}", "m", f"p{i}", "f", "00", "completion") for i in range(3)]
MANIFEST = {
    **dict.fromkeys(("counterlens", "python", "platform", "sandbox", "plan"), "1"),
    "dataset": dict.fromkeys(("dataset", "title", "source", "licence", "version", "sha256", "path"), "d")
    | {"records": 3},
    "model": {**dict.fromkeys(("asked_as", "id", "name", "identity", "where"), "m"), "details": {}},
}
COLUMNS = {
    "run": ("key", "value"),
    "plan": ("id", "model", "problem", "function", "source", "task"),
    "manifests": ("digest", "document"),
    "records": ("manifest", "outcome", "reason", "body", "seconds"),
}
VALUES = {
    "null": None,
    "number": 7,
    "real": 1.5,
    "bytes": b"\xff\x00\xfe",
    "nothing": "",
    "no JSON": "{",
    "a list": "[]",
    "deep": "[" * 20_000,
}


def flipped(at: float) -> Damage:
    def damage(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[min(int(at * len(data)), len(data) - 1)] ^= 0xFF
        path.write_bytes(data)

    return damage


def cut(share: float) -> Damage:
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def filled(table: str, column: str, value: object) -> Damage:
    """A value where another is expected, in a table without any conditions."""

    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as database, database:
            if table == "answers":
                database.execute(f"UPDATE OR REPLACE answers SET {column} = ?", (value,))  # noqa: S608
                return
            database.execute(f"ALTER TABLE {table} RENAME TO was")
            database.execute(f"CREATE TABLE {table} AS SELECT * FROM was")  # noqa: S608
            database.execute(f"UPDATE {table} SET {column} = ?", (value,))  # noqa: S608
            database.execute("DROP TABLE was")

    return damage


def without(table: str) -> Damage:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(f"DROP TABLE {table}")

    return damage


def damages(columns: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, Damage]]:
    for n in range(40):
        yield f"flipped at {n}/40", flipped(n / 40)
    for n in range(6):
        yield f"cut at {n}/6", cut(n / 6)
    yield "no database", lambda path: path.write_bytes(b"this is something else\n" * 500)
    for table, names in columns.items():
        yield f"without {table}", without(table)
        for name in names:
            for what, value in VALUES.items():
                yield f"{table}.{name} is {what}", filled(table, name, value)


RUNS = dict(damages(COLUMNS))
ANSWERS = dict(damages({"answers": ("key", "value", "time")}))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound")
    digest, text = canonical(MANIFEST)
    with Store.create(folder) as store:
        store.begin(SETTINGS, ITEMS)
        store.keep_manifest(digest, text)
        store.append(ITEMS[0], StoredRecord(pairs_record("a", pair(True, False)), 1.0, digest))
        store.append(ITEMS[1], StoredRecord(left_out(), 1.0, digest))
        store.keep_spent("m", Usage(requests=7))
    return folder


def test_there_are_enough_damages() -> None:
    assert len(RUNS) + len(ANSWERS) >= 90


@pytest.mark.parametrize("name", RUNS)
def test_a_damaged_run_is_an_error_in_words_or_says_what_is_lost(
    name: str, sound: Path, tmp_path: Path
) -> None:
    shutil.copy(sound / "run.sqlite", tmp_path)
    RUNS[name](tmp_path / "run.sqlite")
    with suppress(CounterlensError):
        found = RunResults.read(tmp_path)
        assert len(found.records) + len(found.lost) <= 2
        said = write_evaluation("markdown", found)
        assert not found.lost or "cannot be read" in said
    with suppress(CounterlensError), Store.create(tmp_path) as store:
        assert store.settings is None or len(store.done) + len(store.lost) <= 2
        assert (len([*store.records()]), len(store.items), len(store.manifests)) <= (2, 3, 1)


def shown(folder: Path) -> list[object]:
    """All that commands show of a run, which reads its records, manifests, usage and time."""
    found = RunResults.read(folder)
    forms = [write_evaluation(form, found) for form in ("json", "csv")]
    return [*forms, found.manifests, found.spent, found.begun, found.settings.foreign, found.total]


@pytest.mark.parametrize("part", range(8))
def test_no_flipped_bit_changes_what_is_shown_without_a_word(part: int, sound: Path, tmp_path: Path) -> None:
    run, original = tmp_path / "run.sqlite", (sound / "run.sqlite").read_bytes()
    run.write_bytes(original)
    before = shown(tmp_path)
    chance = random.Random(part)  # noqa: S311 - not for secrets
    # Half of the flips are where the content is, the others anywhere, such as in the pages' structure.
    texts = [at for at, byte in enumerate(original) if byte]
    for n in range(40):
        at = chance.choice(texts) if n % 2 else chance.randrange(len(original))
        data = bytearray(original)
        data[at] ^= 1 << chance.randrange(8)
        run.write_bytes(data)
        with suppress(DataError):
            if shown(tmp_path) != before:
                found = RunResults.read(tmp_path)
                assert found.lost or found.unverified, f"byte {at}"


def test_a_missing_row_is_noticed(sound: Path, tmp_path: Path) -> None:
    def removed(statement: str) -> RunResults:
        shutil.copy(sound / "run.sqlite", tmp_path)
        with closing(sqlite3.connect(tmp_path / "run.sqlite")) as database, database:
            database.execute(statement)
        return RunResults.read(tmp_path)

    assert removed("DELETE FROM records WHERE position = 1").lost == ("record 1: it is missing",)
    assert len(removed("UPDATE records SET position = 2 WHERE position = 1").lost) == 1
    for statement in (
        "DELETE FROM plan WHERE position = 2",
        "DELETE FROM run WHERE key = 'begun'",
        "DELETE FROM spent",
        "UPDATE spent SET usage = replace(usage, '7', '8')",
        "UPDATE plan SET function = 'g' WHERE position = 2",
        "UPDATE manifests SET document = replace(document, '1', '2')",
    ):
        with pytest.raises(DataError, match=r"its content was changed|is missing|was changed"):
            removed(statement)


def test_records_of_an_earlier_version_are_shown_and_called_unverified(sound: Path, tmp_path: Path) -> None:
    shutil.copy(sound / "run.sqlite", tmp_path)
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as database, database:
        database.execute("DROP TABLE checksums")
    found = RunResults.read(tmp_path)
    assert (len(found.records), found.unverified, found.lost) == (2, 2, ())
    assert "An earlier version stored 2 records without a checksum" in write_evaluation("markdown", found)
    with Store.create(tmp_path) as store:
        (manifest,) = store.manifests
        store.append(ITEMS[2], StoredRecord(left_out(), 1.0, manifest))
    assert RunResults.read(tmp_path).unverified == 2


def test_a_damaged_record_is_named_and_made_anew(sound: Path, tmp_path: Path) -> None:
    shutil.copy(sound / "run.sqlite", tmp_path)
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as database, database:
        database.execute("UPDATE records SET body = '{' WHERE position = 0")
    found = RunResults.read(tmp_path)
    assert [item.position for item, _ in found.records] == [1]
    assert found.lost[0].startswith("m|completion|p0: ")
    assert "1 record cannot be read (m|completion|p0" in write_evaluation("markdown", found).replace("\\", "")
    with Store.create(tmp_path) as store:
        assert store.done == {1}
        assert store.lost[0].startswith("m|completion|p0: ")


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_limit_on_the_size_of_files_is_an_error_in_words(sound: Path, tmp_path: Path) -> None:
    shutil.copy(sound / "run.sqlite", tmp_path)
    with Store.create(tmp_path) as store:
        record = StoredRecord(left_out("x" * 100_000), 0.0, canonical(MANIFEST)[0])
        with largest_file(8_192), pytest.raises(CounterlensError, match="cannot be written") as refused:
            store.append(ITEMS[2], record)
        assert "resume" in str(refused.value.hint)
        store.append(ITEMS[2], record)
        assert store.done == {0, 1, 2}


def test_kept_answers_do_without_a_disk_that_is_full(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.sqlite")
    with largest_file(4_096):
        store.put(b"k", b"v" * 100_000)
        assert store.get(b"k") in (None, b"v" * 100_000)
    store.put(b"k", b"v")
    assert store.get(b"k") == b"v"


@pytest.mark.parametrize("name", ANSWERS)
def test_a_damaged_answer_is_none_and_is_kept_anew(name: str, tmp_path: Path) -> None:
    path, kept = tmp_path / "answers.sqlite", {b"%d" % n * 8: b"answer %d" % n * 50 for n in range(20)}
    store = AnswerStore(path)
    store.put_all(list(kept.items()))
    store.close()
    ANSWERS[name](path)
    again = AnswerStore(path)
    assert all(again.get(key) in (None, value) for key, value in kept.items())
    again.put_all(list(kept.items()))
    if any(again.get(key) is None for key in kept):  # the damage was seen only now
        again.put_all(list(kept.items()))
    assert all(again.get(key) == value for key, value in kept.items())
    again.close()


def test_what_is_set_aside_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_bytes(b"this is no database" * 100)
    with caplog.at_level(logging.WARNING):
        AnswerStore(path).close()
    assert "a new cache is used" in caplog.text
    assert (tmp_path / "answers.sqlite.damaged").read_bytes().startswith(b"this is no database")
