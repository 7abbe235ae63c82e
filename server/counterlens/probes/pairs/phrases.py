"""The change of each mutation, and the meaning of ignoring it, in plain words."""

from __future__ import annotations

from counterlens.attribution.base import Isolation
from counterlens.counting import plural
from counterlens.probes.pairs.record import Side
from counterlens.translating import ENGLISH, Translator

_DONE = {
    "if-else-flip": ("With the branches flipped", "the code for the unflipped condition"),
    "independent-swap": ("With two independent statements swapped", "what followed in their old order"),
    "for-while-convert": ("With the loop written the other way", "the code of the loop as it was"),
    "refactor-condition": ("With the condition written another way", "the code for the condition as it was"),
    "loop-unroll": ("With the loop unrolled", "the code of the loop as it was"),
    "def-use-break": ("With the second use of a variable renamed", "the code with the old name"),
    "operand-swap": ("With the operands swapped", "the code for the operands as they were"),
    "reorder-parameters": ("With the parameters in another order", "the code for their old order"),
    "rename-random": ("With a variable called by a random name", "the code with the old name"),
    "rename-shuffle": ("With the variables' names exchanged", "the code with the names as they were"),
    "rename-generic": ("With a variable called by a generic name", "the code with the old name"),
    "annotate-strip": ("Without the annotations", "the code that it wrote with them"),
    "annotate-shuffle": ("With the annotations exchanged", "the code that it wrote before"),
    "blank-line": ("With a blank line more or less", "the code that it wrote before"),
    "comment-move": ("With a comment moved by a line", "the code that it wrote before"),
    "docstring-quotes": ("With other quotation marks around the docstring", "the code that it wrote before"),
    "same-prompt": ("Asked the same once more", "the code that it wrote before"),
}

_APART = {
    Isolation.APART: "the program ran in a process apart from them",
    Isolation.OWN_OPERATORS: "the program ran apart from them, but its own operators had a say",
    Isolation.SHARED: "the program ran in the same process, so it could have forged the result",
}


def rests_on(side: Side) -> str:
    """What a verdict rests on, and how strong that is; empty if nothing was run."""
    if not side.tests or side.strength is None:
        return ""
    apart = f"; {_APART[Isolation(side.isolation)]}" if side.isolation is not None else ""
    return f"{side.strength} evidence: {side.attribution}, {plural(side.tests, 'case')}{apart}"


def done(mutation: str, t: Translator = ENGLISH) -> str:
    """The change of a mutation, as the beginning of a sentence."""
    known = _DONE.get(mutation)
    return t(known[0]) if known else t("After {mutation}", mutation=mutation)


def unchanged(mutation: str, t: Translator = ENGLISH) -> str:
    """The meaning of ignoring a mutation, as the object of a sentence."""
    known = _DONE.get(mutation)
    return t(known[1]) if known else t("what it wrote before the change")
