"""The store: all or nothing, in the order of the plan, one process at a time."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from counterlens.errors import CounterlensError, DataError
from counterlens.evaluation.engines.registry import LocalEngine
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.run import Run
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, Store, StoredRecord
from counterlens.models.usage import Usage
from counterlens.sandbox.registry import best_sandbox
from tests.evaluation.made_up import left_out, pair, pairs_record

SETTINGS = RunSettings.of(
    ["completion"], "humaneval", {"mutations": ("if-else-flip",), "prefix_ratio": (0.4, 0.6), "seed": 3}
)
PROBED = pairs_record("ä", pair(True, False))
ITEMS = [Item(i, f"m|completion|p{i}", "m", f"p{i}", "f", "00", "completion") for i in range(3)]


def begun(folder: Path) -> Store:
    store = Store.create(folder)
    store.begin(SETTINGS, ITEMS)
    store.keep_manifest("d", "{}")
    return store


def test_what_is_kept_is_read_in_the_order_of_the_plan(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        store.append(ITEMS[2], StoredRecord(PROBED, 1.5, "d"))
        store.append(ITEMS[0], StoredRecord(left_out(), 0.5, "d"))
        assert store.done == {0, 2}
    with Store.open(tmp_path) as store:
        assert store.settings == SETTINGS
        assert store.items == ITEMS
        records = list(store.records())
        assert [item.position for item, _ in records] == [0, 2]
        assert records[0][1] == StoredRecord(left_out("no tests"), 0.5, "d")
        assert records[1][1] == StoredRecord(PROBED, 1.5, "d")


def test_a_run_is_read_while_it_is_written(tmp_path: Path) -> None:
    with begun(tmp_path) as store, Store.open(tmp_path) as reader:
        assert not reader.done
        store.append(ITEMS[1], StoredRecord(PROBED, 0, "d"))
        assert reader.done == {1}


def test_rows_are_compared_with_their_own_checksums_while_they_are_replaced(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        ended = threading.Event()

        def read() -> int:
            times = 0
            while not ended.is_set():
                RunResults.read(tmp_path)
                times += 1
            return times

        with ThreadPoolExecutor(1) as pool:
            reader = pool.submit(read)
            try:
                for n in range(300):
                    store.keep_spent("m", Usage(requests=n))
                    store.keep_manifest(f"m{n}", "{}")
            finally:
                ended.set()
            assert reader.result() > 2


def test_only_one_works_on_a_folder(tmp_path: Path) -> None:
    with begun(tmp_path), pytest.raises(CounterlensError, match="another process") as refused:
        Store.create(tmp_path)
    assert "--out" in (refused.value.hint or "")
    Store.create(tmp_path).close()  # the first has ended


def test_an_item_has_one_record_of_a_known_manifest(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        store.append(ITEMS[0], StoredRecord(PROBED, 0, "d"))
        with pytest.raises(sqlite3.IntegrityError):
            store.append(ITEMS[0], StoredRecord(PROBED, 0, "d"))
        with pytest.raises(sqlite3.IntegrityError):
            store.append(ITEMS[1], StoredRecord(PROBED, 0, "another"))


def test_what_is_no_run_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no run in"):
        Store.open(tmp_path)
    (tmp_path / "run.sqlite").write_text("something else entirely, and long enough to be looked at" * 20)
    for opening in (Store.open, Store.create):
        with pytest.raises(DataError, match="cannot be read"):
            opening(tmp_path)
    with pytest.raises(CounterlensError, match="cannot be written"):
        Store.create(tmp_path / "run.sqlite" / "inside")


def test_another_format_is_refused(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        store.keep_manifest("older", '{"counterlens": "0.1.2"}')
        database = sqlite3.connect(tmp_path / "run.sqlite")
        with database:
            database.execute("UPDATE run SET value = '2' WHERE key = 'format'")
            database.execute("DELETE FROM manifests WHERE digest = 'd'")
            database.execute("DROP TABLE checksums")
        database.close()
    with pytest.raises(
        DataError, match=r"not a run that this version .* format is 2 of Counterlens 0\.1\.2, not 3"
    ):
        Store.open(tmp_path)


def test_a_folder_holds_one_run(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text('def one():\n    """>>> one()\n    1\n    """\n    return 1\n')
    settings = RunSettings.of(["completion"], f"repo:{tmp_path}")
    plan = make_plan(settings, best_sandbox())
    with Store.create(tmp_path / "run") as store:
        Run.begin(store, plan, LocalEngine(best_sandbox()))
        with pytest.raises(DataError, match=r"already contains a run \(0 of 1 done\)"):
            Run.begin(store, plan, LocalEngine(best_sandbox()))
        (tmp_path / "code.py").write_text('def one():\n    """>>> one()\n    1\n    """\n    return 2 - 1\n')
        changed = make_plan(settings, best_sandbox())
        with pytest.raises(DataError, match=r"the data has changed since .* code.py::one"):
            Run.resume(store, changed, LocalEngine(best_sandbox()))
