"""The choice of the unit that is scored next."""

from __future__ import annotations

import numpy as np
import pytest

from counterlens.errors import ModelProcessDiedError
from counterlens.lsp.analysis import MOST_DEATHS, Analysis, ScoringJob
from counterlens.models.base import TokenScores
from counterlens.syntax.document import Document

TEXT = "".join(f"def f{i}(a):\n    return a + {i}\n\n\n" for i in range(10))
EACH = len(TEXT) // 10
NOTHING = TokenScores(
    text=TEXT,
    start=np.zeros(0, np.int64),
    end=np.zeros(0, np.int64),
    logprob=np.zeros(0),
    entropy=np.zeros(0),
    rank=np.zeros(0, np.int64),
    alternative_logprob=np.zeros((0, 5)),
    alternative_text=(),
    context=np.zeros(0, np.int64),
)


def job(view: tuple[int, int] | None = None, unasked: int = 10_000) -> ScoringJob:
    document = Document(TEXT)
    return ScoringJob(Analysis("file:///a.py", document), document, 0, unasked, view)


def order(of: ScoringJob) -> list[int]:
    """The units in the order in which they are scored."""
    found = []
    while (following := of.next_unit()) is not None:
        found.append(following)
        of.parts[following] = NOTHING
    return found


def test_without_a_view_from_the_top() -> None:
    assert order(job()) == list(range(10))


def test_what_is_on_the_screen_first_and_then_what_is_near_it() -> None:
    found = order(job(view=(5 * EACH, 7 * EACH)))
    assert found[:2] == [5, 6]
    assert set(found[2:4]) == {4, 7}
    assert sorted(found) == list(range(10))


def test_of_a_large_file_only_what_someone_looks_at_beyond_the_limit() -> None:
    of = job(unasked=2 * EACH + EACH // 2)
    assert order(of) == [0, 1, 2]
    assert of.unscored == tuple((unit.start, unit.end) for unit in of.units[3:])
    of.view = (8 * EACH, 9 * EACH - 4)
    assert order(of) == [8]
    assert of.percent() == 100


def test_a_unit_that_the_model_dies_of_is_set_aside() -> None:
    of = job()
    for _ in range(MOST_DEATHS):
        assert of.next_unit() == 0
        of.died(0, ModelProcessDiedError("killed"))
    assert order(of) == list(range(1, 10))
    assert of.unscored == ()
    assert of.first_line(0) == 1
    assert of.first_line(3) == 13


def test_units_beyond_the_limit_are_not_scored() -> None:
    of = job(unasked=EACH - 5)
    assert of.next_unit() is None
    assert len(of.aside) == 10


@pytest.mark.parametrize("view", [None, (0, EACH)])
def test_what_is_on_the_screen_is_more_urgent(view: tuple[int, int] | None) -> None:
    assert job(view).urgency == (int(view is None), 0)


def test_functions_are_counted_by_the_units_that_are_done() -> None:
    of = job()
    assert of.functions_done == (0, 10)
    of.parts[3] = of.parts[7] = NOTHING
    assert of.functions_done == (2, 10)
    assert of.scored == [(of.units[i].start, of.units[i].end) for i in (3, 7)]


def test_what_was_answered_in_an_earlier_version_counts_from_the_start() -> None:
    of = job()
    assert (of.functions_done, of.percent()) == ((0, 10), 0)
    of.answered = {i for i in range(10) if i != 4}
    assert of.functions_done == (9, 10)
    assert of.percent() >= 85
    of.parts[3] = NOTHING
    assert of.functions_done == (9, 10)
    assert order(of) == [0, 1, 2, 4, 5, 6, 7, 8, 9]  # the cache answers, but they are asked for
    assert (of.functions_done, of.percent()) == ((10, 10), 100)
