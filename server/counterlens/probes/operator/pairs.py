"""Originals and transformed versions of a function, with the mapping of their operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from counterlens.mutations import Change, Counterfactual, Survey, mutated, survey
from counterlens.probes.operator.forms import SwapForm, form_of_branches, form_of_operands, is_published
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from counterlens.syntax.operators import Family, OperatorSite, operator_sites

FLIP = "if-else-flip"
_SWAP, _RENAME, _REFACTOR = "operand-swap", "rename-generic", "refactor-condition"
CONDITIONS = frozenset({Family.COMPARISON, Family.IDENTITY, Family.MEMBERSHIP})
_Same = Callable[[Sequence[Change], list[OperatorSite], list[OperatorSite]], Iterator[tuple[int, int]]]
_NONE = {
    _SWAP: "its operator was not found in the changed code",
    FLIP: "its condition is not a single comparison",
    _RENAME: "the function has no operators",
    _REFACTOR: "its condition has no operator",
}


@dataclass(frozen=True)
class OperatorPlace:
    """One operator of one version of a function.

    Attributes:
        index: Index among the function's operators, in textual order.
    """

    document: Document
    qualname: str
    index: int

    @cached_property
    def site(self) -> OperatorSite:
        """The operator."""
        return sites_of(self.document, self.qualname)[self.index]


@dataclass(frozen=True, slots=True)
class Pairing:
    """An operator before and after a change.

    Attributes:
        change: The id of the change, see `CHANGES`.
        form: The construct that the operator of a swap decides.
    """

    change: str
    original: OperatorPlace
    transformed: OperatorPlace
    form: SwapForm | None = None

    @property
    def published(self) -> bool:
        """Whether Ahmed et al. 2024 have such pairs."""
        return is_published(self.form, self.original.site.family)


@dataclass(frozen=True, slots=True)
class Pairings:
    """All pairs of one function.

    Attributes:
        pairs: The pairs, change by change, in textual order.
        left_out: For each change, the number of sites left out, by reason.
    """

    pairs: tuple[Pairing, ...]
    left_out: dict[str, Counter[str]]

    def published(self) -> Pairings:
        """The pairs that Ahmed et al. 2024 have; other swaps are counted as left out, with the reason."""
        left_out = {name: Counter(self.left_out[name]) for name in PUBLISHED}
        for pair in self.pairs:
            if pair.change in PUBLISHED and not pair.published:
                family = pair.original.site.family
                what = pair.form if family is Family.COMPARISON else f"{pair.form}, {family}"
                left_out[pair.change][f"not in the paper ({what})"] += 1
        pairs = tuple(pair for pair in self.pairs if pair.change in PUBLISHED and pair.published)
        return Pairings(pairs, left_out)


@dataclass(frozen=True, slots=True)
class CodeChange:
    """A comparison of two versions: `before` applies to both, then `transform` to one, then `after` to both.

    Attributes:
        title: Its name in tables.
        transform: The id of the mutation that distinguishes the versions.
        before: A mutation of the whole function that comes first, or None.
        after: A mutation of the `if` around the operator that comes last, or None.
        source: The origin of the comparison.
    """

    title: str
    transform: str
    before: str | None = None
    after: str | None = None
    source: str = "ours"

    @property
    def can_swap(self) -> bool:
        """Whether the change may replace the operator."""
        return self.transform in {_SWAP, FLIP}

    @property
    def by_branches(self) -> bool:
        """Whether the change swaps the branches of an `if`."""
        return self.transform == FLIP


CHANGES: dict[str, CodeChange] = {
    "operand-swap": CodeChange("operand swap", _SWAP, source="Ahmed et al. 2024, Table 2"),
    "block-swap": CodeChange("block swap", FLIP, source="Ahmed et al. 2024, Table 2"),
    "renamed operand-swap": CodeChange(
        "operand swap, renamed", _SWAP, _RENAME, source="Ahmed et al. 2024, Table 4"
    ),
    "renamed block-swap": CodeChange(
        "block swap, renamed", FLIP, _RENAME, source="Ahmed et al. 2024, Table 4"
    ),
    "refactored block-swap": CodeChange(
        "block swap, refactored", FLIP, after=_REFACTOR, source="Ahmed et al. 2024, Table 5"
    ),
    "rename": CodeChange("renamed", _RENAME),
    "refactor": CodeChange("refactored", _REFACTOR),
}
PUBLISHED = tuple(name for name, change in CHANGES.items() if change.source != "ours")
"""The changes of Ahmed et al. 2024."""


def sites_of(document: Document, qualname: str) -> list[OperatorSite]:
    """The operators of a function."""
    function = find_function(document, qualname)
    return operator_sites(document, (function.start, function.end))


def pairings(document: Document, qualname: str, *, seed: int = 0) -> Pairings:
    """The pairs of a function.

    Args:
        seed: Like `survey`.

    Raises:
        SourceError: the source does not parse, or has no such function.
    """
    pairs: list[Pairing] = []
    left_out: dict[str, Counter[str]] = {name: Counter() for name in CHANGES}
    surveys = _Surveys(find_function(document, qualname).qualname, seed, document.language)
    for name, change in CHANGES.items():
        reasons, start = left_out[name], document
        if change.before is not None:
            made = surveys.mutated(document, change.before, reasons)
            if not made:
                continue
            start = replace(document, text=made[0].source)
        for original, transformed in surveys.transformed(start, change.transform, reasons):
            pair = (original, transformed)
            if change.after is not None:
                after = [surveys.refactored(place, reasons) for place in pair]
                if after[0] is None or after[1] is None:
                    continue
                pair = (after[0], after[1])
            pairs.append(Pairing(name, *pair, _form(change, original)))
    return Pairings(tuple(pairs), left_out)


def _form(change: CodeChange, place: OperatorPlace) -> SwapForm | None:
    """The construct that the operator decides, before its condition moves."""
    of = {_SWAP: form_of_operands, FLIP: form_of_branches}.get(change.transform)
    return of(place.document, place.site) if of is not None else None


def changed_operators(
    document: Document, flipped: Document, qualname: str, changes: Sequence[Change]
) -> tuple[str, str] | None:
    """The operator of a condition before and after its if-else was flipped; None if several changed."""
    before, after = sites_of(document, qualname), sites_of(flipped, qualname)
    return next(
        ((before[i].operator, after[j].operator) for i, j in _flipped_operators(changes, before, after)), None
    )


def flipped_site(
    document: Document, flipped: Document, qualname: str, changes: Sequence[Change]
) -> OperatorSite | None:
    """The operator that decides a flipped if-else; None if it is not a single one."""
    before, after = sites_of(document, qualname), sites_of(flipped, qualname)
    return next((before[i] for i, _ in _flipped_operators(changes, before, after)), None)


class _Surveys:
    """A cache of the mutations of one function's versions: several changes need the same ones.

    Parsing takes most of the time.

    Args:
        seed: Like `survey`.
        language: The id of the versions' language.
    """

    def __init__(self, qualname: str, seed: int, language: str) -> None:
        self._qualname, self._seed = qualname, seed
        self._surveys: dict[tuple[str, str], Survey] = {}
        self._parsed = lru_cache(maxsize=4)(
            mutated(language).parse
        )  # only for one change, because trees of long files are large

    def mutated(self, document: Document, mutation: str, reasons: Counter[str]) -> tuple[Counterfactual, ...]:
        surveyed = self._survey(document.text, mutation)
        reasons.update(refusal.reason for refusal in surveyed.refusals)
        return surveyed.counterfactuals

    def transformed(
        self, document: Document, mutation: str, reasons: Counter[str]
    ) -> Iterator[tuple[OperatorPlace, OperatorPlace]]:
        for made in self.mutated(document, mutation, reasons):
            mutated = replace(document, text=made.source)
            before, after = sites_of(document, self._qualname), sites_of(mutated, self._qualname)
            indices = list(_SAME[mutation](made.changes, before, after))
            if not indices:
                reasons[_NONE[mutation]] += 1
            for i, j in indices:
                yield OperatorPlace(document, self._qualname, i), OperatorPlace(mutated, self._qualname, j)

    def refactored(self, place: OperatorPlace, reasons: Counter[str]) -> OperatorPlace | None:
        """The same operator after its condition has moved to a variable."""
        surveyed, line = self._survey(place.document.text, _REFACTOR), place.site.line
        for made in surveyed.counterfactuals:
            hull = _hull(made.changes)[0]
            if hull[0] <= place.site.start < hull[1]:
                return OperatorPlace(replace(place.document, text=made.source), place.qualname, place.index)
        reason = next(
            (site.reason for site in surveyed.refusals if site.line == line), "its condition cannot be moved"
        )
        reasons[reason] += 1
        return None

    def _survey(self, text: str, mutation: str) -> Survey:
        if (text, mutation) not in self._surveys:
            self._surveys[text, mutation] = survey(
                self._parsed(text), mutations=[mutation], function=self._qualname, seed=self._seed
            )
        return self._surveys[text, mutation]


def _hull(changes: Sequence[Change]) -> tuple[tuple[int, int], tuple[int, int]]:
    """The range that covers all changes, in the original and in the mutated source."""
    originals, mutants = [c.original for c in changes], [c.mutated for c in changes]
    return (
        (min(r[0] for r in originals), max(r[1] for r in originals)),
        (min(r[0] for r in mutants), max(r[1] for r in mutants)),
    )


def _swapped_operators(
    changes: Sequence[Change], before: list[OperatorSite], after: list[OperatorSite]
) -> Iterator[tuple[int, int]]:
    """The comparison whose operands were swapped."""
    old, new = _hull(changes)
    first = [i for i, site in enumerate(before) if site.span == old and site.family is Family.COMPARISON]
    second = [i for i, site in enumerate(after) if site.span == new and site.family is Family.COMPARISON]
    if len(first) == 1 == len(second):
        yield first[0], second[0]


def _flipped_operators(
    changes: Sequence[Change], before: list[OperatorSite], after: list[OperatorSite]
) -> Iterator[tuple[int, int]]:
    """The only operator of the condition that was negated."""
    changed = [
        (i, change.mutated)
        for i, site in enumerate(before)
        for change in changes
        if change.original == (site.start, site.end)
    ]
    if len(changed) != 1 or before[changed[0][0]].family not in CONDITIONS:
        return
    (index, (start, end)) = changed[0]
    for j, site in enumerate(after):
        if start <= site.start and site.end <= end:
            yield index, j


def _aligned_operators(
    _changes: Sequence[Change], before: list[OperatorSite], after: list[OperatorSite]
) -> Iterator[tuple[int, int]]:
    """All operators: the change kept their order."""
    if [site.operator for site in before] == [site.operator for site in after]:
        yield from ((i, i) for i in range(len(before)))


def _moved_operators(
    changes: Sequence[Change], before: list[OperatorSite], after: list[OperatorSite]
) -> Iterator[tuple[int, int]]:
    """The operators of the moved condition."""
    start, end = _hull(changes)[0]
    for i, j in _aligned_operators(changes, before, after):
        if start <= before[i].start < end:
            yield i, j


_SAME: dict[str, _Same] = {
    _SWAP: _swapped_operators,
    FLIP: _flipped_operators,
    _RENAME: _aligned_operators,
    _REFACTOR: _moved_operators,
}
