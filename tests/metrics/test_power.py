"""Power as planned: what a plan promises is what simulated runs show."""

from __future__ import annotations

import numpy as np
import pytest

from counterlens.metrics.significance import DISCORDANT, POWER, detectable_difference, functions_needed


@pytest.mark.parametrize(
    ("functions", "discordant"),
    [(40, DISCORDANT), (100, DISCORDANT), (400, DISCORDANT), (100, 0.3), (400, 0.3)],
)
def test_runs_of_the_planned_size_tell_the_planned_difference(functions: int, discordant: float) -> None:
    difference = detectable_difference(functions, discordant)
    assert difference is not None
    random = np.random.default_rng(0)
    shares = [(discordant + difference) / 2, (discordant - difference) / 2, 1 - discordant]
    better, worse, _ = random.multinomial(functions, shares, size=20_000).T
    told = (better - worse) / np.sqrt(np.maximum(1, better + worse)) > 1.96
    assert told.mean() == pytest.approx(POWER, abs=0.03)


@pytest.mark.parametrize("functions", [20, 57, 1000])
def test_the_smallest_difference_is_just_what_so_many_functions_tell(functions: int) -> None:
    difference = detectable_difference(functions)
    assert difference is not None
    assert functions_needed(difference) <= functions
    assert functions_needed(difference * 0.999) >= functions


def test_too_few_functions_tell_nothing() -> None:
    assert detectable_difference(0) is None
    assert detectable_difference(3) is None
    assert functions_needed(0.1) > functions_needed(0.2)
