"""Unsteady answers: of one function, or of a model."""

from __future__ import annotations

import pytest

from counterlens.errors import UnsteadyModelError
from counterlens.probes.record import Outcome, Record
from counterlens.probes.sanity import require_steady, unsteady_share


def records(unsteady: int, steady: int, left_out: int = 0) -> list[Record]:
    kinds = ((Outcome.UNSTEADY, unsteady), (Outcome.PROBED, steady), (Outcome.LEFT_OUT, left_out))
    return [Record(outcome=kind, reason="m wavers") for kind, count in kinds for _ in range(count)]


def test_the_share_is_of_the_functions_that_were_asked_about() -> None:
    share = unsteady_share(records(1, 4, 7))
    assert (share.count, share.n, share.value) == (1, 5, 0.2)


@pytest.mark.parametrize(("unsteady", "steady"), [(0, 0), (1, 0), (2, 0), (2, 3), (3, 8), (10, 90)])
def test_some_unsteady_answers_cost_no_other_function(unsteady: int, steady: int) -> None:
    require_steady(records(unsteady, steady, 5))


@pytest.mark.parametrize(("unsteady", "steady"), [(3, 0), (3, 7), (18, 82)])
def test_certainly_more_than_the_limit_are_refused(unsteady: int, steady: int) -> None:
    with pytest.raises(UnsteadyModelError, match=rf"m wavers: {unsteady} of {unsteady + steady} functions"):
        require_steady(records(unsteady, steady, 5))


@pytest.mark.parametrize("unsteady", [1, 2])
def test_a_few_are_refused_in_the_end_if_there_are_no_others(unsteady: int) -> None:
    require_steady(records(unsteady, 1, 5), ended=True)
    with pytest.raises(UnsteadyModelError, match="m wavers"):
        require_steady(records(unsteady, 0, 5), ended=True)
