"""Possibly equivalent breaking mutations: those that no test and no input tells from the original."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from counterlens.mutations.base import Counterfactual

TellsApart = Callable[[str, str], bool]
"""Given an original source and a mutated one: whether any available test or input tells them apart."""


def mark_possibly_equivalent(
    source: str, pairs: Iterable[Counterfactual], tells_apart: TellsApart
) -> list[Counterfactual]:
    """Mark the breaking counterfactuals that a judge cannot tell from their original.

    Whether a program still means the same is undecidable in general, so a breaking mutation that nothing
    notices is neither kept in silence nor dropped: it is marked, and the caller states how many there were.

    Args:
        source: The original.
        pairs: Its counterfactuals. Preserving ones come back as they are, without being judged.
        tells_apart: The judge.
    """
    return [
        pair
        if pair.preserving
        else dataclasses.replace(pair, possibly_equivalent=not tells_apart(source, pair.source))
        for pair in pairs
    ]
