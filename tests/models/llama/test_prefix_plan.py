"""Sequences that begin alike are read in step, and what they share is read once."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from counterlens.models.llama.continuations import plan_prefixes

sequences = st.lists(st.lists(st.integers(0, 2), max_size=9), min_size=1, max_size=8)


def read(texts: list[list[int]], first: Sequence[int] | None = None) -> tuple[list[list[int]], int]:
    """What each sequence holds when it has ended, as `ContinuationScorer` reads them, and the tokens read."""
    plan = plan_prefixes(texts, first or [0] * len(texts))
    slots: dict[int, list[int]] = {}
    done: dict[int, list[int]] = {}
    count = 0
    for at in range(1 + max(map(len, texts))):
        for _, fork in sorted(enumerate(plan), key=lambda pair: (pair[1].start, pair[0])):
            if fork.start == at:
                slots[fork.slot] = [] if fork.parent is None else list(slots[plan[fork.parent].slot])
        for i, (text, fork) in enumerate(zip(texts, plan, strict=True)):
            if fork.start <= at < len(text):
                assert len(slots[fork.slot]) == at
                slots[fork.slot].append(text[at])
                count += 1
                if at + 1 == len(text):
                    done[i] = list(slots[fork.slot])
    return [done.get(i, []) for i in range(len(texts))], count


@given(sequences)
def test_every_sequence_is_read_whole(texts: list[list[int]]) -> None:
    found, count = read(texts)
    assert found == texts
    beginnings = {tuple(text[:n]) for text in texts for n in range(1, len(text) + 1)}
    assert len(beginnings) <= count <= len(beginnings) + len(texts)


@given(sequences, st.lists(st.integers(0, 9), min_size=8, max_size=8))
def test_a_fork_never_needs_a_score_that_its_parent_has_not(texts: list[list[int]], first: list[int]) -> None:
    assert read(texts, first)[0] == texts
    for i, fork in enumerate(plan_prefixes(texts, first)):
        if fork.parent is not None and first[i] != first[fork.parent]:
            assert fork.start < min(first[i], first[fork.parent])


def test_a_comb_needs_two_slots() -> None:
    texts = [[*range(3 * n), 90 + n, 90 + n] for n in range(1, 9)]
    plan = plan_prefixes(texts, [0] * len(texts))
    assert [fork.parent for fork in plan] == [None, *range(7)]
    assert max(fork.slot for fork in plan) == 1
    assert read(texts)[1] < 60
