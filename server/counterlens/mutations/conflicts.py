"""Which sites of one mutation can be done together: those whose edits are disjoint or compose."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from counterlens.mutations.edits import Edit, Slice, order
from counterlens.mutations.mutation import Site


def compatible(sites: Sequence[Site]) -> list[Site]:
    """A set of sites that go together; of two that do not, the one that comes first stays."""
    clashes = _clashes(sites)
    taken: set[int] = set()
    for index in range(len(sites)):
        if not (clashes[index] & taken):
            taken.add(index)
    return [sites[index] for index in sorted(taken)]


def _clashes(sites: Sequence[Site]) -> defaultdict[int, set[int]]:
    clashes: defaultdict[int, set[int]] = defaultdict(set)
    slices = [_slices(site) for site in sites]
    edits = [(edit, index) for index, site in enumerate(sites) for edit in site.edits]
    edits.sort(key=lambda pair: order(pair[0]))
    around: list[tuple[Edit, int]] = []
    last: tuple[Edit, int] | None = None
    for edit, owner in edits:
        if last is not None and last[1] != owner and (last[0].start, last[0].end) == (edit.start, edit.end):
            _clash(clashes, last[1], owner)
        while around and around[-1][0].end <= edit.start:
            around.pop()
        for outer, other in around:
            if other != owner and outer.end > edit.start and not _composes(edit, outer, slices[other]):
                _clash(clashes, other, owner)
        around.append((edit, owner))
        last = (edit, owner)
    for index, site in enumerate(sites):
        for start, end in site.reindented:
            for edit, owner in edits:
                if owner != index and start <= edit.start < end and _breaks_lines(edit):
                    _clash(clashes, index, owner)
    return clashes


def _composes(inner: Edit, outer: Edit, slices: list[Slice]) -> bool:
    """Whether an edit inside another one's range lies in text that is kept."""
    return inner.end <= outer.end and any(
        piece.start <= inner.start and inner.end <= piece.end and not (inner.end == inner.start == piece.end)
        for piece in slices
    )


def _slices(site: Site) -> list[Slice]:
    return [piece for edit in site.edits for piece in edit.pieces if isinstance(piece, Slice)]


def _breaks_lines(edit: Edit) -> bool:
    return any("\n" in piece or "\r" in piece for piece in edit.pieces if isinstance(piece, str))


def _clash(clashes: defaultdict[int, set[int]], first: int, second: int) -> None:
    clashes[first].add(second)
    clashes[second].add(first)
