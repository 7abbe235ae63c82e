"""Possibly equivalent breaking mutations: no available test or input distinguishes them from the original."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from counterlens.mutations.base import Counterfactual

Distinguishes = Callable[[str, str], bool]
"""Returns whether any available test or input distinguishes an original source from a mutated one."""


def mark_possibly_equivalent(
    source: str, pairs: Iterable[Counterfactual], distinguishes: Distinguishes
) -> list[Counterfactual]:
    """Mark the breaking counterfactuals that a judge cannot distinguish from their original.

    Equivalence of programs is undecidable in general. A breaking mutation that nothing detects is therefore
    neither kept silently nor dropped: it is marked, and the caller reports the number of marked ones.

    Args:
        source: The original.
        pairs: Its counterfactuals. Preserving ones are returned unchanged, without being judged.
        distinguishes: The judge.
    """
    return [
        pair
        if pair.preserving
        else dataclasses.replace(pair, possibly_equivalent=not distinguishes(source, pair.source))
        for pair in pairs
    ]
