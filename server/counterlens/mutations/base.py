"""Counterfactuals and how they are described: the types that every mutation shares.

A mutation finds *sites* in a parsed module. Each site is either a set of edits, from which the engine makes
a `Counterfactual`, or a `Refusal` with the reason. Mutations never build source text themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Concept(StrEnum):
    """The concept that a mutation perturbs (Hooda et al. 2024, section 1); a placebo perturbs none."""

    CONTROL_FLOW = "control flow"
    DATA_FLOW = "data flow"
    NAMING = "naming"
    TYPES = "types"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed place: byte ranges of the original and of the mutated source that correspond."""

    original: tuple[int, int]
    mutated: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cut:
    """The cut of a completion (Hooda et al. 2024, section 4.2): byte offsets, at the start of a line.

    The model has to write the text between the cut and the function's end.
    """

    original: int
    mutated: int
    own: bool = False  # the mutation itself says where, whatever part of the function is wanted


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A source with exactly one thing changed along one concept.

    Attributes:
        mutation: The id of the mutation.
        concept: The concept that it perturbs.
        preserving: Whether it keeps the meaning.
        function: Qualified name of the function that it lies in, `<module>` outside of any.
        start_line: First line of the site in the original, 1-based.
        end_line: Last line of the site.
        description: The change, in one sentence.
        source: The whole mutated source.
        changes: The differences, in the order of the text.
        cut: The cut of both for the completion probe; None if the change would not be seen.
        other_cuts: Other cuts, the nearest first; empty unless they were asked for.
        seed: The seed of names and sites.
        assumptions: The assumptions under which it preserves the meaning, such as `total-order`.
        possibly_equivalent: It should not preserve, but nothing that was tried tells it from the original.
    """

    mutation: str
    concept: Concept
    preserving: bool
    function: str
    start_line: int
    end_line: int
    description: str
    source: str
    changes: tuple[Change, ...]
    cut: Cut | None
    seed: int
    assumptions: tuple[str, ...] = ()
    possibly_equivalent: bool = False
    other_cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A site where a mutation could not be done safely, and why."""

    mutation: str
    function: str
    line: int
    reason: str
