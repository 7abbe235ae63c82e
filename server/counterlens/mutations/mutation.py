"""Base class of mutations, with their sites, examples and context."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from textwrap import dedent
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit
from counterlens.mutations.parsed import ParsedSource


@dataclass(frozen=True, slots=True)
class Transformation:
    """One transformation operator.

    Attributes:
        title: Its name in Table 6.
        dependence: The kind of dependence that it changes.
        mutation: The operator.
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
    EXAMPLES: ClassVar[tuple[Example, ...]]
    whole_program = False  # whether the file is a whole program: no code outside uses its names

    def for_whole_program(self) -> Self:
        """The same mutation for a file that no other code imports."""
        form = copy(self)
        form.whole_program = True
        return form

    @abstractmethod
    def sites(self, context: ContextT) -> Iterator[Site | SiteRefused]:
        """All places in a source where it could apply, in source order.

        The results depend only on the source and the seed.
        """


AnyMutation = Mutation[Any]
"""A mutation of any language."""
