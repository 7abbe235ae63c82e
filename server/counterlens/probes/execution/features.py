"""Features that may make a function hard to execute mentally (Liu et al. 2024, section IV-D)."""

from __future__ import annotations

from dataclasses import dataclass

TAGS = ("for", "while", "nested loop", "if", "nested if", "match", "try", "basic")
USES = (
    "arithmetic",
    "comparison",
    "membership",
    "boolean",
    "bitwise",
    "builtin call",
    "method call",
    "other call",
)


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a function.

    Attributes:
        tags: Some of `TAGS`; `basic` if it has no other.
        complexity: Cyclomatic complexity (McCabe 1976): the number of decisions plus one.
        lines: Lines without blank ones.
        uses: Some of `USES`: kinds of operators and of calls.
        apis: Its callees, each once: `len`, `.append`, `math.sqrt` (Liu et al. 2024, API calls).
    """

    tags: tuple[str, ...]
    complexity: int
    lines: int
    uses: tuple[str, ...]
    apis: tuple[str, ...] = ()
