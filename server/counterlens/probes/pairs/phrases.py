"""The change of each mutation, and the meaning of ignoring it, in plain words."""

from __future__ import annotations

from counterlens.counting import plural
from counterlens.judging.base import describe_cheats, describe_comparison
from counterlens.probes.pairs.record import Side
from counterlens.translating import ENGLISH, Translator

_DONE = {
    "if-else-flip": ("With the branches flipped", "the code for the unflipped condition"),
    "independent-swap": (
        "With two independent statements swapped",
        "the code that followed in their old order",
    ),
    "for-while-convert": ("With the loop converted", "the code for the original loop"),
    "refactor-condition": ("With the condition rewritten", "the code for the original condition"),
    "loop-unroll": ("With the loop unrolled", "the code for the original loop"),
    "def-use-break": ("With the second use of a variable renamed", "the code with the old name"),
    "operand-swap": ("With the operands swapped", "the code for the original operands"),
    "reorder-parameters": ("With the parameters reordered", "the code for their old order"),
    "rename-random": ("With a variable renamed at random", "the code with the old name"),
    "rename-shuffle": ("With the variables' names swapped", "the code with the original names"),
    "rename-generic": ("With a variable given a generic name", "the code with the old name"),
    "annotate-strip": ("Without the annotations", "the code that it wrote with them"),
    "annotate-shuffle": ("With the annotations permuted", "the code that it wrote before"),
    "blank-line": ("With a blank line added or removed", "the code that it wrote before"),
    "comment-move": ("With a comment moved by a line", "the code that it wrote before"),
    "docstring-quotes": ("With other quotation marks around the docstring", "the code that it wrote before"),
    "same-prompt": ("Sent the same prompt again", "the code that it wrote before"),
}


def rests_on(side: Side) -> str:
    """The facts behind a verdict: its tests, what the original says, and cheats; empty if nothing was run."""
    if not side.tests:
        return ""
    facts = [f"{side.attribution}, {plural(side.tests, 'case')}"]
    if side.comparison is not None:
        facts.append(describe_comparison(side.comparison).replace("\n ", ";"))
    if side.cheats is not None:
        facts.append(describe_cheats(side.cheats))
    return "; ".join(facts)


def change_phrase(mutation: str, t: Translator = ENGLISH) -> str:
    """The change of a mutation, as the beginning of a sentence."""
    known = _DONE.get(mutation)
    return t(known[0]) if known else t("After {mutation}", mutation=mutation)


def ignoring_phrase(mutation: str, t: Translator = ENGLISH) -> str:
    """The meaning of ignoring a mutation, as the object of a sentence."""
    known = _DONE.get(mutation)
    return t(known[1]) if known else t("what it wrote before the change")
