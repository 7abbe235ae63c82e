"""Steps: each is reported, and none begins once the work is cancelled."""

from __future__ import annotations

import itertools
import time
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.errors import Cancelled
from counterlens.progress import Steps, TimeBudget, WholeShare


def test_steps_are_reported_until_they_are_cancelled() -> None:
    cancel, seen = Event(), list[tuple[str, int, int]]()
    steps = Steps(cancel, lambda *step: seen.append(step))
    steps.next("first")
    steps.next("second", 1, 4)
    cancel.set()
    with pytest.raises(Cancelled):
        steps.next("third", 2, 4)
    steps.report("second", 3, 4)
    assert seen == [("first", 0, 1), ("second", 1, 4), ("second", 3, 4)]


def test_nobody_has_to_listen() -> None:
    Steps().next("anything")


Report = tuple[str, int, int]
REPORTS = st.lists(
    st.tuples(
        st.sampled_from(["finding", "running", "asking", "judging"]), st.integers(0, 50), st.integers(0, 40)
    )
)


@given(REPORTS)
def test_the_share_of_all_steps_never_falls_nor_reaches_the_end_early(reports: list[Report]) -> None:
    whole = WholeShare()
    shares = [whole.after(*report) for report in reports]
    assert shares == sorted(shares)
    assert all(0 <= share < 1 for share in shares)


def test_percentages_do_not_begin_again_with_each_step() -> None:
    """As a probe reports them: the bars of its steps were 33, 12, 62 and 22 %."""
    whole = WholeShare()
    shares = [whole.after("finding the tests", 0, 1)]
    for step, count in (("running", 3), ("copied", 8), ("asking", 24), ("judging", 24)):
        shares += [whole.after(step, done, count) for done in range(count + 1)]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] > 0.8
    assert max(after - before for before, after in itertools.pairwise(shares)) < 0.2


def test_steps_that_take_turns_go_on_where_they_were() -> None:
    whole = WholeShare()
    for done in range(1, 13):
        asked = whole.after("asking", done, 12)
        assert whole.after("judging", done, 12) >= asked
    assert 0.3 < whole.after("judging", 12, 12) < 1


def test_the_parts_of_several_functions_are_one_count() -> None:
    seen = list[int]()
    steps = Steps(progress=lambda _what, done, _total: seen.append(done))
    for number in range(4):
        inside = steps.part(f"f{number}", number, 4)
        for step, count in (("finding", 1), ("asking", 6), ("judging", 6)):
            for done in range(count):
                inside.next(step, done, count)
    assert seen == sorted(seen)
    assert 300 < seen[-1] < 400


def test_a_budget_is_over_after_its_seconds() -> None:
    assert Steps().has_time(1e9)
    steps = Steps(budget=TimeBudget(60))
    assert steps.has_time(30)
    assert not steps.has_time(61)
    assert not Steps(budget=TimeBudget(60, time.monotonic() - 61)).part("f", 0, 2).has_time()
