"""The local engine: overlapping, in any order, stopped at once."""

from __future__ import annotations

from contextlib import closing
from threading import Barrier, Event

from counterlens.errors import Cancelled, ModelError
from counterlens.evaluation.engines.registry import run_local
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.probes.record import Record

ITEMS = [Item(i, f"m|completion|p{i}", "m", f"p{i}", "f", "00", "completion") for i in range(12)]


def test_items_are_in_work_together_and_each_is_given_once() -> None:
    together = Barrier(3, timeout=30)  # breaks unless three are in work at a time

    def perform(item: Item) -> StoredRecord:
        together.wait()
        return StoredRecord(Record(target=str(item.position)))

    found = list(run_local(ITEMS, perform, Event(), most=3))
    assert sorted(one.item.position for one in found) == list(range(12))
    assert all(one.record and one.record.record.target == str(one.item.position) for one in found)


def test_a_failure_is_given_beside_the_others() -> None:
    def perform(item: Item) -> StoredRecord:
        if item.position == 4:
            raise ModelError("it died")
        return StoredRecord(Record())

    found = {one.item.position: one for one in run_local(ITEMS, perform, Event(), most=2)}
    assert len(found) == 12
    assert str(found[4].error) == "it died"
    assert [position for position, one in found.items() if one.record is None] == [4]


def test_whoever_leaves_early_cancels_what_is_under_way() -> None:
    cancel, ended = Event(), []

    def perform(item: Item) -> StoredRecord:
        if item.position:
            assert cancel.wait(30)
            ended.append(item.position)
            raise Cancelled
        return StoredRecord(Record())

    with closing(run_local(ITEMS, perform, cancel, most=3)) as found:
        assert next(found).item.position == 0
    assert cancel.is_set()
    assert len(ended) <= 3  # and nothing is under way any more
