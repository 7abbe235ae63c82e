"""Counterfactuals and their descriptions: the types that all mutations share.

A mutation finds *sites* in a parsed module. Each site is either a set of edits, from which the engine makes
a `Counterfactual`, or a `Refusal` with the reason. Mutations never build source text themselves.

A mutation may need assumptions because the source alone cannot prove them. Each is recorded on the
counterfactuals that need it, so that a caller can exclude them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from counterlens.mutations.edits import Change, Edit, Rendered, render

TOTAL_ORDER = "total-order"
EQ_NE_CONSISTENT = "eq-ne-consistent"
REFLECTED = "reflected-comparison"
PURE_OPERATORS = "pure-operators"
NEITHER_RAISES = "neither-raises"
OBJECT_LIFETIME = "object-lifetime"
INTEGER_RANGE = "integer-range"
ITERATOR_PROTOCOL = "iterator-protocol"
ANNOTATIONS_UNREAD = "annotations-unread"
WHOLE_PROGRAM = "whole-program"
POSITIONAL_ARGUMENTS = "positional-arguments"
NAMES_UNREAD = "names-unread"
OBSERVED_INPUT = "observed-input"
ASSUMPTIONS = {
    TOTAL_ORDER: (
        "Exactly one of `a < b` and `a >= b` is true for two compared values: neither is NaN, and their "
        "class has a total order (sets do not)."
    ),
    EQ_NE_CONSISTENT: "`a != b` is the opposite of `a == b`: their class does not define `__ne__` otherwise.",
    REFLECTED: (
        "`a < b` and `b > a` are equivalent, as are `a == b` and `b == a`: the operands' classes define "
        "the reflected comparison consistently."
    ),
    PURE_OPERATORS: "Operators, attribute and subscript reads, and methods named like the reading ones of "
    "built-in classes (`split`, `items`) have no side effects.",
    NEITHER_RAISES: (
        "Neither of two swapped pieces of code raises an exception; if one does, it may be a different "
        "exception, or come before an effect that it followed."
    ),
    OBJECT_LIFETIME: "Nothing depends on when an object is freed: a value may be held a little longer.",
    INTEGER_RANGE: "The arguments of `range` are integers.",
    ITERATOR_PROTOCOL: "`iter` of an iterator returns the iterator itself, as Python's iterator protocol "
    "demands.",
    ANNOTATIONS_UNREAD: "No code reads the annotations at run time.",
    POSITIONAL_ARGUMENTS: "Callers pass the renamed parameter by position, not by name.",
    NAMES_UNREAD: 'No library looks a variable up by a word of a text, as in `frame.query("x > @limit")`.',
    OBSERVED_INPUT: "The input is the observed one: the program may behave differently for others.",
    WHOLE_PROGRAM: "The file is the whole program: no other module calls its definitions.",
}


class Concept(StrEnum):
    """The concept that a mutation perturbs (Hooda et al. 2024, section 1); a placebo perturbs none."""

    CONTROL_FLOW = "control flow"
    DATA_FLOW = "data flow"
    NAMING = "naming"
    TYPES = "types"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Cut:
    """The cut of a completion (Hooda et al. 2024, section 4.2): byte offsets, at the start of a line.

    The model writes the text between the cut and the function's end, or up to another offset.
    """

    original: int
    mutated: int
    own: bool = False  # the mutation itself fixes the cut, whatever the prefix ratio
    original_end: int | None = None
    mutated_end: int | None = None


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A source with exactly one thing changed along one concept.

    It holds the edits, not the text: thousands of one file take little more memory than the file.

    Attributes:
        mutation: The id of the mutation.
        concept: The concept that it perturbs.
        preserving: Whether it keeps the meaning.
        function: Qualified name of the function that contains it, `<module>` outside of any.
        start_line: First line of the site in the original, 1-based.
        end_line: Last line of the site.
        description: The change, in one sentence.
        original: The original source in UTF-8, without byte-order mark.
        edits: The edits of the original that make the mutated source.
        cut: The cut of both sources for the completion probe; None if the prompt would not show the change.
        other_cuts: Other cuts, the nearest first; empty unless requested.
        seed: The seed of names and sites.
        assumptions: The assumptions under which it preserves the meaning, such as `total-order`.
        possibly_equivalent: A breaking mutation that no available test or input distinguishes.
    """

    mutation: str
    concept: Concept
    preserving: bool
    function: str
    start_line: int
    end_line: int
    description: str
    original: bytes = field(repr=False)
    edits: tuple[Edit, ...]
    cut: Cut | None
    seed: int
    assumptions: tuple[str, ...] = ()
    possibly_equivalent: bool = False
    other_cuts: tuple[Cut, ...] = ()

    @property
    def rendered(self) -> Rendered:
        """The mutated source in parts, with the differences."""
        return render(self.original, self.edits)

    @property
    def source(self) -> str:
        """The whole mutated source; each call makes it anew."""
        return self.rendered.data.decode()

    @property
    def changes(self) -> tuple[Change, ...]:
        """The differences, in source order."""
        return self.rendered.changes


@dataclass(frozen=True, slots=True)
class Refusal:
    """A site where a mutation cannot be applied safely, with the reason."""

    mutation: str
    function: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Independence:
    """Whether two pieces of code can be swapped: the reason if not, and the assumptions if so."""

    reason: str | None
    assumptions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.reason is None
