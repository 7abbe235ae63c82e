"""The protocol `cacp`: the published population of counterfactuals (Hooda et al. 2024).

Population (section 3.3): five mutations. Only an `if` with its own `else` is flipped, and only if its
condition consists of comparisons and has no side effect. Only variables of a function are renamed or have
their names swapped, never its parameters. Swapped statements need not be neighbours. Choices that the paper
leaves open, such as how many sites of a program count, are as without the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

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


class PromptContext(StrEnum):
    """The code that prompts show besides the function."""

    FILE = "file"
    IMPORTS = "imports"


ContextChoice = Annotated[
    PromptContext,
    option(
        "Code shown besides the function: of its own file; or also the definitions that it uses from other "
        "files of the project, as assistants do (imports; Python, at most 4,096 characters).",
    ),
]
