"""A run that goes on until its figure differs from chance."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.errors import OptionError
from counterlens.evaluation.decided import excess_of, require_excess
from counterlens.evaluation.order import in_random_order
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.mutations import Concept
from counterlens.probes.equivalence.probe import EquivalenceAnswer, EquivalenceRecord
from counterlens.probes.record import Outcome
from tests.evaluation.running import bench, run

SETTINGS = RunSettings(("equivalence",), "data", ("m",), until_decided=True)
ITEMS = [Item(at, f"id{at}", "m", f"f{at}", "f", "", "equivalence") for at in range(60)]


def stored(right: bool, *, outcome: Outcome = Outcome.PROBED) -> StoredRecord:
    def answer(equivalent: bool) -> EquivalenceAnswer:
        said = equivalent is right
        return EquivalenceAnswer(
            mutation="m",
            concept=Concept.NAMING,
            line=1,
            equivalent=equivalent,
            call="",
            original="",
            other="",
            program="",
            similarity=0.5,
            yes=(said, said),
            probability=(0.9, 0.9) if said else (0.1, 0.1),
        )

    answers = (answer(True), answer(False))
    record = EquivalenceRecord(outcome=outcome, program="", answers=answers)
    return StoredRecord(record, 1.0)


def test_a_model_that_knows_is_decided_and_a_coin_is_not() -> None:
    knows = excess_of(SETTINGS, "m", "equivalence", ITEMS, [(item, stored(True)) for item in ITEMS])
    assert knows is not None
    assert (knows.n, knows.mean, knows.decided) == (60, 0.5, True)
    tossed = [(item, stored(item.position % 2 == 0)) for item in ITEMS]
    coin = excess_of(SETTINGS, "m", "equivalence", ITEMS, tossed)
    assert coin is not None
    assert (coin.mean, coin.decided) == (0, False)


def test_only_the_beginning_of_the_random_order_counts() -> None:
    order = in_random_order(ITEMS, SETTINGS)
    records = [(item, stored(True)) for item in order[:3] + order[4:]]
    known = excess_of(SETTINGS, "m", "equivalence", ITEMS, records)
    assert known is not None
    assert known.n == 3
    assert excess_of(SETTINGS, "m", "equivalence", ITEMS, records[1:]) is None
    assert excess_of(SETTINGS, "another", "equivalence", ITEMS, records) is None


def test_functions_that_are_left_out_say_nothing() -> None:
    records = [(item, stored(True, outcome=Outcome.LEFT_OUT)) for item in ITEMS]
    assert excess_of(SETTINGS, "m", "equivalence", ITEMS, records) is None


def test_a_task_without_chance_is_refused(place: Path, tmp_path: Path) -> None:
    require_excess(["equivalence", "localisation", "runtime"])
    with pytest.raises(OptionError, match="completion does not have"):
        require_excess(["runtime", "completion"])
    done = run([*bench(place, tmp_path / "run"), "--until-told"])
    assert done.returncode == 2
    assert "needs a figure that chance could give" in done.stderr
