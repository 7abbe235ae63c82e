"""Base class of mutations, with their sites, examples and context."""

from __future__ import annotations

from abc import ABC
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain
from textwrap import dedent
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit, Slice, order
from counterlens.mutations.parsed import ParsedSource

Owned = tuple[Edit, int]
"""An edit, and the index of its site."""


def compatible(sites: Sequence[Site]) -> list[Site]:
    """A set of sites without conflicts; of two conflicting sites, the first is kept."""
    clashes = _clashes(sites)
    taken: set[int] = set()
    for index in range(len(sites)):
        if not (clashes[index] & taken):
            taken.add(index)
    return [sites[index] for index in sorted(taken)]


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


@dataclass(frozen=True, slots=True)
class Transformation:
    """One transformation operator.

    Attributes:
        title: Its name in Table 6.
        dependence: The kind of dependence that it changes.
    """

    title: str
    dependence: Literal["control", "data"]
    mutation: AnyMutation

    @property
    def preserving(self) -> bool:
        """Whether it preserves the meaning."""
        return self.mutation.preserving


@dataclass(frozen=True, slots=True)
class Example:
    """A program before and after a mutation, used in the documentation and as a test.

    Attributes:
        before: The whole program.
        after: The program with all sites mutated; None if there must be no site.
        refused: Part of the reason of an expected refusal; None if no refusal is expected.

    The newline at the beginning of a program is removed, and the rest dedented.
    """

    before: str
    after: str | None = None
    refused: str | None = None

    def __post_init__(self) -> None:
        for name in ("before", "after"):
            text = getattr(self, name)
            if text is not None and text.startswith("\n"):
                object.__setattr__(self, name, dedent(text[1:]))


@dataclass(frozen=True, slots=True)
class Site:
    """One place where a mutation can be applied safely.

    Attributes:
        span: Byte range of the affected code; determines its lines and its function.
        description: The change, in one sentence without a full stop.
        edits: The edits that make the change.
        assumptions: The assumptions that it needs, see `ASSUMPTIONS`.
        cut: Offsets in the original of the cuts of the original and of the mutated source, the second mapped
            into the mutated source; None for the trailing part of the function.
        whole: Whether all its edits must be before the cut, not only one.
        sole: Whether no other site inside its span may be applied together with it.
        reindented: Byte ranges whose lines its edits indent.
    """

    span: tuple[int, int]
    description: str
    edits: tuple[Edit, ...]
    assumptions: tuple[str, ...] = ()
    cut: tuple[int, int] | None = None
    whole: bool = False
    sole: bool = False
    reindented: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SiteRefused:
    """One place where a mutation cannot be applied safely, and the reason, without a full stop."""

    at: int
    reason: str


class MutationContext(Protocol):
    """The context of a mutation, in any language: a parsed source, and the seed of its choices."""

    @property
    def module(self) -> ParsedSource:
        """The source."""

    @property
    def seed(self) -> int:
        """The seed."""


ContextT = TypeVar("ContextT", bound=MutationContext)


class Mutation(ABC, Generic[ContextT]):
    """One way to perturb one concept in a language; the docstring of a subclass is its documentation."""

    id: ClassVar[str]
    concept: ClassVar[Concept]
    preserving: ClassVar[bool] = True
    needs_observation: ClassVar[bool] = False  # it requires an observed execution of the program
    source: ClassVar[str]  # its origin: paper and section
    types: ClassVar[tuple[Any, ...]] = ()  # the types of the nodes at which it may apply
    EXAMPLES: ClassVar[tuple[Example, ...]]
    whole_program = False  # whether the file is a whole program: no code outside uses its names

    def for_whole_program(self) -> Self:
        """The same mutation for a file that no other code imports."""
        form = copy(self)
        form.whole_program = True
        return form

    def sites(self, context: ContextT) -> Iterator[Site | SiteRefused]:
        """All places in a source where it could apply: those at the nodes of its types, unless overridden.

        The results depend only on the source and the seed.
        """
        for node in context.module.nodes(*self.types):
            outcome = self.site(context, node)
            if outcome is not None:
                yield outcome

    def site(self, context: ContextT, node: Any) -> Site | SiteRefused | None:
        """The place at a node of one of its types; None if it does not apply there."""
        raise NotImplementedError


AnyMutation = Mutation[Any]
"""A mutation of any language."""
