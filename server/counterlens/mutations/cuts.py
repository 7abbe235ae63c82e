"""Cuts of original and mutated source for the completion probe (Hooda et al. 2024, section 4.2)."""

from __future__ import annotations

from counterlens.mutations.base import Cut
from counterlens.mutations.edits import Edit, Rendered
from counterlens.mutations.mutation import Site
from counterlens.mutations.parsed import FunctionSpan, ParsedSource

PREFIX_RATIO = 0.75

Ratio = float | tuple[float, float]
"""Share of a function's lines before the cut, from 0 to 1, or a range of shares."""


def nearest(module: ParsedSource, function: FunctionSpan, edits: tuple[Edit, ...], ratio: Ratio) -> list[int]:
    """Possible cuts of a function: offsets of statements, the nearest to `ratio` first.

    The ratio is a share of the lines from the first statement after the docstring to the end, so that a long
    docstring does not push the cut out of the code. Statements inside an edit are excluded. A range (Hooda
    et al. 2024, Table 4) prefers its middle and excludes cuts outside it.
    """
    lines = module.lines_of(function)
    if len(lines) < 2:
        return []
    first = module.line(lines[0])
    last = module.line(function.end - 1)
    low, high = ratio if isinstance(ratio, tuple) else (0.0, 1.0)
    height = last + 1 - first
    wanted = first + ((low + high) / 2 if isinstance(ratio, tuple) else ratio) * height
    free = [
        line
        for line in lines[1:]
        if not any(edit.start < line < edit.end for edit in edits)
        and low <= (module.line(line) - first) / height <= high
    ]
    return sorted(free, key=lambda line: (abs(module.line(line) - wanted), line))


def wanted_points(
    module: ParsedSource, site: Site, function: FunctionSpan, ratio: Ratio
) -> tuple[int, int] | None:
    """The cut offsets of a site, for original and mutated source, both in the original; None if not cut."""
    if site.cut is not None:
        return site.cut
    at = next(iter(nearest(module, function, site.edits, ratio)), None)
    if at is None:
        return None
    seen = all(edit.end <= at for edit in site.edits) if site.whole else _has_begun(site, at)
    return (at, at) if seen else None


def other_points(
    module: ParsedSource, site: Site, function: FunctionSpan, ratio: Ratio
) -> list[tuple[int, int]]:
    """Other cuts of a site, the nearest to `ratio` first; none if the site fixes its cut.

    Part of the site's change lies before each cut, even if the usual cut requires the whole change: between
    two swapped statements the true rests differ, after both they do not.
    """
    if site.cut is not None:
        return []
    usual = wanted_points(module, site, function, ratio)
    places = nearest(module, function, site.edits, ratio)
    return [(at, at) for at in places if _has_begun(site, at) and (at, at) != usual]


def _has_begun(site: Site, at: int) -> bool:
    """Whether part of a site's change lies before an offset."""
    return any(edit.start < at for edit in site.edits)


def cut(points: tuple[int, int] | None, rendered: Rendered, *, own: bool = False) -> Cut | None:
    """The cut of a rendered site; None if there is none, or if its place in the mutated source is gone."""
    if points is None or points[1] not in rendered.points:
        return None
    return Cut(points[0], rendered.points[points[1]], own)
