"""Values closer than the noise are not distinguished."""

from __future__ import annotations

import pytest

from counterlens.confidence.scoring import TOKEN_NATS, distinguishable


@pytest.mark.parametrize(
    ("one", "two", "apart"),
    [(-1.0, -1.0, False), (-1.0, -1.0 - TOKEN_NATS / 2, False), (-1.0, -1.0 - 2 * TOKEN_NATS, True)],
)
def test_only_what_is_further_apart_than_the_noise_is_told_apart(one: float, two: float, apart: bool) -> None:
    assert distinguishable(one, two) is apart
    assert distinguishable(two, one) is apart
