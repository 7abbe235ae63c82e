"""Tables of the places where a model holds and fails: files by concept, the worst functions, files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from counterlens.counting import plural
from counterlens.metrics.effects import Proportion
from counterlens.metrics.places import TOLD_FROM, Place, by_concept, by_file, by_function
from counterlens.metrics.summary import Observation
from counterlens.reports.document import HeadingLink, ReportCell, Shaded, TableBlock

Rows = tuple[tuple[ReportCell, ...], ...]
WORST = 10
"""Maximum number of functions in the list of the worst ones."""
_MOST = 30  # rows of a table
_FUNCTIONS = ("function", "verdicts", "held", "lost", "gained", "by")
_HELD = "held: share of the pairs with a right verdict that kept it; higher is better"


def place_tables(
    pairs: Sequence[Observation],
    model: str,
    targets: Mapping[str, str],
    noise: Mapping[str, str],
    *,
    brief: bool = False,
) -> Iterator[TableBlock]:
    """The tables of one model.

    Args:
        pairs: Its pairs.
        model: Its name if there are several; else empty.
        targets: Headings of functions on a page, by function name.
        noise: What else may explain the lost verdicts of a function, by function name.
        brief: Whether a table has at most `WORST` rows.
    """
    most = WORST if brief else _MOST
    whose = f", {model}" if model else ""
    files, functions = by_file(pairs), by_function(pairs)
    failing = sorted((one for one in functions if one.lost), key=lambda one: one.name in noise)
    if failing:
        rows: Rows = tuple(
            (*_function(place, targets), noise.get(place.name, "")) for place in failing[:WORST]
        )
        columns: tuple[str, ...] = (*_FUNCTIONS, "noise")
        note = (
            "verdicts: informative pairs; lost: right on the original only; by: the mutations that changed "
            "them; noise: a placebo changes the verdict, too, or every change is unstable (listed last)"
        )
        yield TableBlock(f"functions with the most lost verdicts{whose}", columns, rows, note)
    if len(files) > 1:
        yield from _heat_map(pairs, files, whose, most)
        rows = tuple(_file(place) for place in files[:most])
        columns = ("file", "functions", "verdicts", "held", "lost", "gained")
        yield TableBlock(f"by file{whose}", columns, rows, _note_on_rest(len(files), most, _HELD, "file"))
    if len(functions) > 1 and not brief:
        rows = tuple(_function(place, targets) for place in functions[:most])
        note = _note_on_rest(len(functions), most, _HELD, "function")
        yield TableBlock(f"by function{whose}", _FUNCTIONS, rows, note)


def _heat_map(
    pairs: Sequence[Observation], files: Sequence[Place], whose: str, most: int
) -> Iterator[TableBlock]:
    cells = by_concept(pairs)
    conclusive = [one for one in files if any(held.n >= TOLD_FROM for held in cells[one.name].values())]
    concepts = sorted({concept for one in conclusive for concept in cells[one.name]})
    rows = tuple(
        (place.name, *(_shaded(cells[place.name].get(concept)) for concept in concepts))
        for place in conclusive[:most]
    )
    note = f"{_HELD}, with their number in brackets; shaded for at least {TOLD_FROM} pairs"
    if rest := len(files) - len(conclusive):
        note += f"; {plural(rest, 'file')} with fewer pairs per concept not shown"
    if rows:
        title = f"verdicts held, by file and concept{whose}"
        yield TableBlock(title, ("file", *concepts), rows, _note_on_rest(len(conclusive), most, note, "file"))


def _shaded(held: Proportion | None) -> ReportCell:
    if held is None or held.value is None:
        return None
    return Shaded(f"{held.value:.0%} ({held.n})", held.value if held.n >= TOLD_FROM else None)


def _function(place: Place, targets: Mapping[str, str]) -> tuple[ReportCell, ...]:
    target = targets.get(place.name)
    head = HeadingLink(place.name, target) if target else place.name
    found = place.summary
    return head, found.average.n, place.held, found.lost, found.gained, ", ".join(place.mutations)


def _file(place: Place) -> tuple[ReportCell, ...]:
    found = place.summary
    return place.name, found.functions, found.average.n, place.held, found.lost, found.gained


def _note_on_rest(there: int, most: int, note: str, what: str) -> str:
    rest = there - most
    return f"{note}. {plural(rest, f'more {what}')} with fewer lost verdicts not shown" if rest > 0 else note
