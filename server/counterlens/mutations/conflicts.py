"""Sites of one mutation that can be applied together: their edits are disjoint or compose."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from counterlens.mutations.edits import Edit, Slice, order
from counterlens.mutations.mutation import Site


def compatible(sites: Sequence[Site]) -> list[Site]:
    """A set of sites without conflicts; of two conflicting sites, the first is kept."""
    clashes = _clashes(sites)
    taken: set[int] = set()
    for index in range(len(sites)):
        if not (clashes[index] & taken):
            taken.add(index)
    return [sites[index] for index in sorted(taken)]


Owned = tuple[Edit, int]
"""An edit, and the index of its site."""


def _clashes(sites: Sequence[Site]) -> defaultdict[int, set[int]]:
    clashes: defaultdict[int, set[int]] = defaultdict(set)
    edits = [(edit, index) for index, site in enumerate(sites) for edit in site.edits]
    edits.sort(key=lambda owned: order(owned[0]))
    pairs = chain(_overlaps(sites, edits), _forbidden(sites, edits))
    for first, second in pairs:
        clashes[first].add(second)
        clashes[second].add(first)
    return clashes


def _overlaps(sites: Sequence[Site], edits: list[Owned]) -> Iterator[tuple[int, int]]:
    """Pairs of sites whose edits overlap without composing."""
    slices = [
        [piece for edit in site.edits for piece in edit.pieces if isinstance(piece, Slice)] for site in sites
    ]
    around: list[Owned] = []
    for edit, owner in edits:
        while around and around[-1][0].end < edit.start:
            around.pop()
        for outer, other in around:
            same = (outer.start, outer.end) == (edit.start, edit.end)
            overlap = same or outer.end > edit.start or _touch(outer, edit)
            if other != owner and overlap and (same or not _composes(edit, outer, slices[other])):
                yield other, owner
        around.append((edit, owner))


def _forbidden(sites: Sequence[Site], edits: list[Owned]) -> Iterator[tuple[int, int]]:
    """Pairs of sites where one has an edit that the other does not allow."""
    for index, site in enumerate(sites):
        for start, end in site.reindented:
            for edit, owner in _starting_in(edits, start, end):
                if owner != index and _breaks_lines(edit):
                    yield index, owner
        if site.sole:
            for _, owner in _starting_in(edits, *site.span):
                if owner != index:
                    yield index, owner


def _starting_in(edits: list[Owned], start: int, end: int) -> Iterator[Owned]:
    for position in range(bisect_left(edits, start, key=lambda pair: pair[0].start), len(edits)):
        if edits[position][0].start >= end:
            break
        yield edits[position]


def _touch(first: Edit, second: Edit) -> bool:
    """Whether new lines are inserted exactly where another edit begins or ends: their order would matter."""
    lines = (edit for edit in (first, second) if edit.start == edit.end and _breaks_lines(edit))
    return any(edit.start in {first.start, first.end} & {second.start, second.end} for edit in lines)


def _composes(inner: Edit, outer: Edit, slices: list[Slice]) -> bool:
    """Whether an edit inside another edit's range lies in text that the other keeps."""
    if inner.start == inner.end:  # an insertion at the edge of a slice is not inside it
        return any(piece.start < inner.start < piece.end for piece in slices)
    inside = (piece.start <= inner.start and inner.end <= piece.end for piece in slices)
    return inner.end <= outer.end and any(inside)


def _breaks_lines(edit: Edit) -> bool:
    return any("\n" in piece or "\r" in piece for piece in edit.pieces if isinstance(piece, str))
