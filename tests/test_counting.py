"""Numbers of things in words."""

from __future__ import annotations

import pytest

from counterlens.counting import plural


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (1138, "1,138 pairs")]
)
def test_a_noun_agrees_with_its_number(number: int, words: str) -> None:
    assert plural(number, "pair") == words
