"""Base class of mutations: finds its sites in a module, with its documentation and its examples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from textwrap import dedent
from typing import Any, ClassVar, Generic, TypeVar

from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit
from counterlens.mutations.effect_analysis import effects_in
from counterlens.mutations.effect_rules import EffectAnalysis
from counterlens.mutations.module import Module


@dataclass(frozen=True, slots=True)
class Example:
    """A program before and after a mutation: its documentation and its test.

    Attributes:
        before: The whole program.
        after: All sites mutated; None if nothing may be.
        refused: A part of the reason of a refusal, if there must be one.

    A program that begins with a newline is dedented, and begins behind it.
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
    """One place where a mutation can be done safely.

    Attributes:
        span: Byte range that it concerns; decides its lines and the function that it lies in.
        description: The change, in one sentence without a full stop.
        edits: How.
        assumptions: The assumptions, see `ASSUMPTIONS`.
        cut: Offsets of the original at which original and mutated source are cut, the second to be found
            in the mutated source; None for the trailing part of the function.
        whole: All of its edits must stand before the cut, not only some.
        sole: No other site inside its span may be done together with it.
        reindented: Byte ranges whose lines its edits indent further.
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
    """One place where a mutation cannot be done safely, and why, in one sentence without a full stop."""

    at: int
    reason: str


@dataclass(frozen=True)
class MutationContext:
    """The context of a mutation: a module, and the seed of its choices."""

    module: Module
    seed: int = 0

    @cached_property
    def effects(self) -> EffectAnalysis:
        """The effects of the module's code; analysed once for all mutations."""
        return effects_in(self.module)


ContextT = TypeVar("ContextT")


class MutationOf(ABC, Generic[ContextT]):
    """One way to perturb one concept in a language; the docstring of a subclass is its documentation."""

    id: ClassVar[str]
    concept: ClassVar[Concept]
    preserving: ClassVar[bool] = True
    needs_observation: ClassVar[bool] = False  # does nothing until it is told how the program ran
    source: ClassVar[str]  # where it comes from: paper and section
    EXAMPLES: ClassVar[tuple[Example, ...]]

    @abstractmethod
    def sites(self, context: ContextT) -> Iterator[Site | SiteRefused]:
        """All places of a module that it could concern, in the order of the text.

        The results depend only on the source and the seed.
        """


class Mutation(MutationOf[MutationContext]):
    """One way to perturb one concept of Python."""


AnyMutation = MutationOf[Any]
"""A mutation of whatever language."""
