"""Sequences that begin alike are read in step, and what they share is read once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from counterlens.models.llama.branching import branches

sequences = st.lists(st.lists(st.integers(0, 2), max_size=9), min_size=1, max_size=8)


def read(texts: list[list[int]]) -> tuple[list[list[int]], int]:
    """What each sequence holds when it has ended, as `ContinuationScorer` reads them, and the tokens read."""
    plan = branches(texts)
    lanes: dict[int, list[int]] = {}
    done: dict[int, list[int]] = {}
    count = 0
    for at in range(1 + max(map(len, texts))):
        for _, one in sorted(enumerate(plan), key=lambda pair: (pair[1].start, pair[0])):
            if one.start == at:
                lanes[one.lane] = [] if one.parent is None else list(lanes[plan[one.parent].lane])
        for i, (text, one) in enumerate(zip(texts, plan, strict=True)):
            if one.start <= at < len(text):
                assert len(lanes[one.lane]) == at
                lanes[one.lane].append(text[at])
                count += 1
                if at + 1 == len(text):
                    done[i] = list(lanes[one.lane])
    return [done.get(i, []) for i in range(len(texts))], count


@given(sequences)
def test_every_sequence_is_read_whole(texts: list[list[int]]) -> None:
    found, count = read(texts)
    assert found == texts
    beginnings = {tuple(text[:n]) for text in texts for n in range(1, len(text) + 1)}
    assert len(beginnings) <= count <= len(beginnings) + len(texts)


def test_a_comb_needs_two_lanes() -> None:
    texts = [[*range(3 * n), 90 + n, 90 + n] for n in range(1, 9)]
    plan = branches(texts)
    assert [one.parent for one in plan] == [None, *range(7)]
    assert max(one.lane for one in plan) == 1
    assert read(texts)[1] < 60
