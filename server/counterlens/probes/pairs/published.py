"""The protocol `cacp`: the published population of counterfactuals (Hooda et al. 2024).

Population (section 3.3): five mutations. Only an `if` with its own `else` is flipped, and only if its
condition consists of comparisons and has no side effect. Only variables of a function are renamed or have
their names swapped, never its parameters. Swapped statements need not be neighbours. Choices that the paper
leaves open, such as how many sites of a program count, are as without the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from counterlens.errors import OptionError
from counterlens.mutations.languages import mutated
from counterlens.mutations.mutation import AnyMutation
from counterlens.probes.options import option

CACP = "cacp"
PAPER_ORDER = ("rename-random", "rename-shuffle", "if-else-flip", "independent-swap", "def-use-break")
"""The mutations of the paper, in the order of its tables."""
FLIP, SWAP = "if-else-flip", "independent-swap"
COMPLEMENTS = (("==", "!="), (">", "<="), ("<", ">="), ("is", "is not"), ("in", "not in"))
"""Operators that negate each other; the first three pairs are those of the paper's Table 3."""
FARTHEST = 9
"""Maximum distance of independent statements that are swapped, in statements."""
FIXED: Mapping[str, Any] = {"description": True, "preceding": True, "reach": FARTHEST}
"""The options that the protocol fixes."""


class Cuts(StrEnum):
    """The cuts of functions."""

    USUAL = "usual"
    DISCRIMINATING = "discriminating"


CutChoice = Annotated[
    Cuts,
    option(
        "Cut of functions: usual; or discriminating: the original's rest fails after the counterfactual's "
        "prompt, so that copying is exposed, and counterfactuals without such a cut are left out.",
    ),
]
Description = Annotated[
    bool, option("Show the model the task description, if the dataset gives one separately.")
]
Preceding = Annotated[
    bool,
    option("Show all code that precedes the function, not only the file's header."),
]
Reach = Annotated[
    int,
    option(
        "Maximum distance in statements for independent-swap; all statements between must be independent of "
        "both.",
        metavar="N",
        low=1,
        high=FARTHEST,
    ),
]


def check_mutations(protocol: str, mutations: Sequence[str]) -> None:
    """Check that the paper has the mutations.

    Raises:
        OptionError: the protocol is chosen, and does not have one of them.
    """
    others = [name for name in mutations if name not in PAPER_ORDER]
    if protocol == CACP and others:
        raise OptionError(
            f"--protocol {CACP} has no mutation {others[0]}", f"Its mutations are {', '.join(PAPER_ORDER)}"
        )


def forms_of(
    protocol: str, mutations: Sequence[str], reach: int, language: str = "python"
) -> list[str | AnyMutation]:
    """The mutations to probe with, each in the form of the options.

    Args:
        protocol: The protocol that is followed, if any.
        mutations: Ids.
        reach: Maximum distance, in statements, of statements that are swapped.
        language: The id of the language of the functions.

    Raises:
        OptionError: the language has no such form.
    """
    known = mutated(language)
    if protocol == CACP and known.published is None:
        raise OptionError(
            f"--protocol {CACP} supports Python only, the language of the paper's programs",
            "Leave out --protocol",
        )
    if reach > 1 and known.reaching is None:
        raise OptionError(
            f"--reach {reach} supports Python only: in other languages, only adjacent statements are swapped",
            "Leave out --reach",
        )
    forms = dict(known.published or {}) if protocol == CACP else {}
    if reach > 1 and known.reaching is not None:
        forms[SWAP] = known.reaching(reach)
    return [forms.get(name, name) for name in mutations]
