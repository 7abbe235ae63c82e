"""The operators of some functions, asked as they are and after changes that keep the meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from counterlens.errors import Cancelled, CounterlensError
from counterlens.models.base import Model
from counterlens.probes.operator.pairs import ROWS, Pairing, Place, pairings, sites_of
from counterlens.probes.operator.scoring import OperatorDistribution, OperatorScorer, OperatorScores
from counterlens.probes.task import Report, Request, Target
from counterlens.syntax.operators import OperatorSite

WINDOWS = (10, 30, 50)
"""Lexical tokens of context (Ahmed et al. 2024, Table 3)."""
TOLERANCE = 1e-6  # nats: the same question twice
WINDOW_ROWS = ("operand-swap", "block-swap")


@dataclass(frozen=True, slots=True)
class Window:
    """How much the model sees of what surrounds a gap, in lexical tokens; None for all of it."""

    before: int | None
    after: int | None

    def __str__(self) -> str:
        if self.after is None:
            return "complete"
        return f"±{self.after}" if self.before else f"+{self.after}"


COMPLETE = Window(None, None)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """An operator of a function, and what the model believes of it.

    Attributes:
        target: The id of the target.
        distribution: What it believes.
    """

    target: str
    distribution: OperatorDistribution


@dataclass(frozen=True, slots=True, eq=False)
class AskedPair:
    """An operator before and after a change, and what the model believes of both.

    Attributes:
        target: The id of the target.
        row: The id of the comparison, see `ROWS`.
        window: How much was seen.
        original: Before.
        transformed: After.
        found: Whether the operation before, and that after, stand in a corpus; None without one.
    """

    target: str
    row: str
    window: Window
    original: OperatorDistribution
    transformed: OperatorDistribution
    found: tuple[bool, bool] | None = None

    @property
    def both(self) -> bool:
        """Whether the model knew both operators."""
        return self.original.correct and self.transformed.correct

    @property
    def exchanged(self) -> bool:
        """Whether another operator stands there after the change."""
        return self.original.site.operator != self.transformed.site.operator


@dataclass(frozen=True)
class Study:
    """What was asked and answered.

    Attributes:
        targets: The ids of the functions, all of them, also those without operators.
        operators: Every operator, as the functions stand.
        pairs: The pairs.
        left_out: For each row, how many sites were left out, by reason.
    """

    targets: tuple[str, ...]
    operators: tuple[Asked, ...]
    pairs: tuple[AskedPair, ...]
    left_out: dict[str, Counter[str]] = field(default_factory=dict)


def study(request: Request, rows: tuple[str, ...] = tuple(ROWS)) -> Study:
    """Ask for every operator of the targets.

    Args:
        request: The model, the functions, and whether to ask with less context too.
        rows: Ids of `ROWS`.

    Raises:
        SourceError: a target does not parse, or has no such function.
        CounterlensError: a sanity check failed, so that figures would mean nothing.
        ModelError: the model gives no token probabilities, or failed.
        Cancelled: `request.cancel` was set.
    """
    plans = [_Plan.of(target, rows, request) for target in request.targets]
    asker = _Asker(request, 1 + sum(plan.asks for plan in plans))
    insane = list(_insane(asker, (place for plan in plans for place in plan.places)))
    if insane:
        raise CounterlensError(
            f"the operators cannot be probed with this model: {insane[0]}", "Figures would mean nothing"
        )
    operators: list[Asked] = []
    pairs: list[AskedPair] = []
    left_out: dict[str, Counter[str]] = {name: Counter() for name in rows}
    for plan in plans:
        name = plan.target.name
        operators += [Asked(name, asker.scores(place, COMPLETE).distribution()) for place in plan.places]
        for pairing in plan.pairs:
            for window in plan.windows(pairing):
                original = asker.distribution(pairing.original, window)
                transformed = asker.distribution(pairing.transformed, window)
                pairs.append(AskedPair(name, pairing.row, window, original, transformed))
        for row, reasons in plan.left_out.items():
            left_out[row].update(reasons)
        asker.forget()
    names = tuple(target.name for target in request.targets)
    return Study(names, tuple(operators), tuple(pairs), left_out)


def texts(request: Request, rows: tuple[str, ...] = tuple(ROWS)) -> int:
    """How many texts `study` would score, one for each candidate of each gap; its errors, but the model's."""
    plans = [_Plan.of(target, rows, request) for target in request.targets]
    tried = next((place for plan in plans for place in plan.places), None)  # asked twice, see `_insane`
    return sum(plan.texts for plan in plans) + (len(tried.site.candidates) if tried else 0)


@dataclass(frozen=True)
class _Plan:
    """What to ask about one function."""

    target: Target
    places: tuple[Place, ...]
    pairs: tuple[Pairing, ...]
    left_out: dict[str, Counter[str]]
    windowed: bool

    @classmethod
    def of(cls, target: Target, rows: tuple[str, ...], request: Request) -> _Plan:
        if request.cancel is not None and request.cancel.is_set():
            raise Cancelled
        found = pairings(target.document, target.qualname, rows=rows, seed=request.seed)
        count = len(sites_of(target.document, target.qualname))
        places = tuple(Place(target.document, target.qualname, i) for i in range(count))
        return cls(target, places, found.pairs, found.left_out, request.windows)

    def windows(self, pairing: Pairing) -> Iterable[Window]:
        yield COMPLETE
        if self.windowed and pairing.row in WINDOW_ROWS:
            for size in WINDOWS:
                yield from (Window(size, size), Window(0, size))

    @property
    def asks(self) -> int:
        """How many batches the model will be asked for."""
        return len(self._asked)

    @property
    def texts(self) -> int:
        """How many texts are in them."""
        return sum(len(place.site.candidates) for place in self._asked.values())

    @property
    def _asked(self) -> dict[tuple[str, int, int | None], Place]:
        places = {_key(place, COMPLETE): place for place in self.places}
        for pairing in self.pairs:
            for window in self.windows(pairing):
                for place in (pairing.original, pairing.transformed):
                    places[_key(place, window)] = place
        return places


class _Asker:
    """Asks once for each gap and what is shown before it: narrower windows after it are read off."""

    def __init__(self, request: Request, total: int) -> None:
        self._model: Model = request.model
        self._cancel, self._report = request.cancel, request.report
        self._done, self._total = 0, total
        self._known: dict[tuple[str, int, int | None], OperatorScores] = {}

    def scores(self, place: Place, window: Window) -> OperatorScores:
        key = _key(place, window)
        if key not in self._known:
            if self._cancel is not None and self._cancel.is_set():
                raise Cancelled
            site = place.site
            _tell(self._report, site, self._done, self._total)
            after = None if window.before is None else max(WINDOWS)
            self._known[key] = OperatorScorer(self._model, place.document).score(
                site, before=window.before, after=after, cancel=self._cancel
            )
            self._done += 1
        return self._known[key]

    def distribution(self, place: Place, window: Window) -> OperatorDistribution:
        return self.scores(place, window).distribution(window.after)

    def forget(self) -> None:
        """Nothing of one function is asked of another."""
        self._known.clear()


def _key(place: Place, window: Window) -> tuple[str, int, int | None]:
    return place.document.text, place.index, window.before


def _tell(report: Report | None, site: OperatorSite, done: int, total: int) -> None:
    if report:
        text = site.text if len(site.text) <= 40 else site.text[:39] + "…"
        report(f"line {site.line}: {text}", done, total)


def _insane(asker: _Asker, places: Iterable[Place]) -> Iterable[str]:
    """What must hold whatever the model, tried on the first operator of all.

    With another operator in its place, the answer must stay the same, because the gap hides what stands
    there; and what was right for the one must be wrong for the other.
    """
    for place in places:
        site, data = place.site, place.document.data
        other = next(one for one in site.candidates if one != site.operator)
        changed = data[: site.start] + other.encode() + data[site.end :]
        forced = Place(replace(place.document, text=changed.decode()), place.qualname, place.index)
        told, first = asker.distribution(forced, COMPLETE), asker.distribution(place, COMPLETE)
        if told.site.operator != other or not np.allclose(told.logprob, first.logprob, atol=TOLERANCE):
            yield f"line {site.line}: the answer changes with what the gap hides"
        elif told.correct == first.correct and first.predicted in (site.operator, other):
            yield f"line {site.line}: an operator that was exchanged is judged like the right one"
        if not np.isfinite(first.logprob).all() or (first.logprob >= 0).any():
            yield f"line {site.line}: the text has no probability"
        return
