"""What each mutation did, and what it means to write on as if it had not, in plain words."""

from __future__ import annotations

from counterlens.attribution.base import Evidence, Isolation, Judgement
from counterlens.probes.results import Pair
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
}

_APART = {
    Isolation.APART: "the program ran in a process apart from them",
    Isolation.OWN_EQUALITY: "the program ran apart from them, but its own equality had a say",
    Isolation.SHARED: "the program ran in the same process, so it could have forged the result",
}


def rests_on(evidence: Evidence) -> str:
    """What a verdict rests on, and how strong that is; empty where nothing was run."""
    if not evidence.tests or evidence.strength is None:
        return ""
    cases = "case" if evidence.tests == 1 else "cases"
    apart = f"; {_APART[evidence.isolation]}" if evidence.isolation is not None else ""
    return f"{evidence.strength} evidence: {evidence.attribution}, {evidence.tests} {cases}{apart}"


def done(mutation: str, t: Translator = ENGLISH) -> str:
    """What a mutation did, as the beginning of a sentence."""
    known = _DONE.get(mutation)
    return t(known[0]) if known else t("After {mutation}", mutation=mutation)


def sentence(pair: Pair, t: Translator = ENGLISH) -> str:
    """What one pair shows, as one sentence that claims no more than was measured."""
    done_so, effect = done(pair.counterfactual.mutation, t), pair.effect
    if pair.original.completion is None:
        return t("{done}, only the likelihood of the true rest was measured.", done=done_so)
    if effect is None:
        return t("{done}, there is nothing to judge by what the model wrote.", done=done_so)
    if not effect.informative:
        return t(
            "{done} and without it the model failed, so the pair says nothing about the change.", done=done_so
        )
    if effect.mutation_effect == 0:
        return t("{done}, the model still got it right.", done=done_so)
    if effect.signed > 0:
        return t("The model failed on the code as it stands. {done}, it got it right.", done=done_so)
    if pair.copied:
        known = _DONE.get(pair.counterfactual.mutation)
        before = t(known[1]) if known else t("what it wrote before the change")
        return t("{done}, the model still wrote {before}.", done=done_so, before=before)
    if pair.mutated.verdict.judgement is Judgement.INVALID:
        return t("{done}, the model wrote something that does not parse.", done=done_so)
    if pair.mutated.verdict.judgement is Judgement.TIMED_OUT:
        return t("{done}, the model wrote a program that does not end in time.", done=done_so)
    return t("{done}, the model no longer got it right.", done=done_so)
