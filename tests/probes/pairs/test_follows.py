"""The sentence on whether a model follows a function says no more than the pairs carry."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterlens.judging.base import Evidence, Judgement, Verdict
from counterlens.mutations import survey
from counterlens.probes.pairs.attempts import Attempt, Pair
from counterlens.probes.pairs.counterfactuals import gaps_of
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.recording import pairs_record
from counterlens.probes.pairs.wording import follows_sentence
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

DOCUMENT = Document(
    "def sign(number):\n    if number < 0:\n        return 'below'\n    else:\n        return 'not'\n"
)
PASSED = Verdict(Judgement.PASSED, Evidence("tests", 2))
FAILED = Verdict(Judgement.FAILED, Evidence("tests", 2, "test_sign", "1 != 2"))
REST, OTHER = "        return 'below'\n    else:\n        return 'not'\n", "        return 'not'\n"


def record(
    *pairs: tuple[Verdict, Verdict],
    exposed: bool = True,
    placebos: int = 1,
    judged_by: str | None = "2 tests",
) -> PairsRecord:
    """Pairs of flips with these verdicts, in a function with placebos that held."""
    (made,) = survey(DOCUMENT.text, mutations=["if-else-flip"], function="sign").counterfactuals
    gaps = gaps_of(DOCUMENT, find_function(DOCUMENT, "sign"), made)

    def pair(original: Verdict, mutated: Verdict) -> Pair:
        return Pair(made, *gaps, Attempt(REST, "stop", original), Attempt(OTHER, "stop", mutated), None)

    known = pairs_record(
        DOCUMENT,
        find_function(DOCUMENT, "sign"),
        [replace(pair(*verdicts), discriminating=exposed) for verdicts in pairs],
        placebos=[pair(PASSED, PASSED)] * placebos,
        refusals=(),
        dropped=(),
        judged_by=judged_by,
    )
    return replace(known, probe="completion", function="sign")


HELD, LOST, GAINED = (PASSED, PASSED), (PASSED, FAILED), (FAILED, PASSED)
BOTH_WRONG = (FAILED, FAILED)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (record(HELD, judged_by=None), "It cannot be told: nothing judged"),
        (record(), "It cannot be told: it was asked about no rewritten version."),
        (record(BOTH_WRONG), "It cannot be told: it completed no version correctly"),
        (record(HELD, exposed=False), "held in 1 of 1 rewritten version with the same meaning, but a copied"),
        (record(HELD), "It may follow this code: its verdict held in 1 of 1 rewritten version"),
        (record(HELD, HELD), "held in 2 of 2 rewritten versions"),
        (record(HELD, LOST), "It does not always follow this code: its verdict held in 1 of 2 rewritten"),
        (record(HELD, GAINED), "It cannot be told: its verdict held in 1 of 2 rewritten versions"),
        (record(HELD, GAINED), "and in 1 it was right only after the change."),
        (record(LOST, placebos=0), "How often a verdict changes without a reason is not known here."),
    ],
)
def test_it_says_what_the_pairs_carry(known: PairsRecord, said: str) -> None:
    assert said in follows_sentence(known)


def test_a_copy_after_the_change_is_told() -> None:
    known = record(LOST, HELD)
    first, second = known.pairs
    copied = replace(known, pairs=(replace(first, copied=True), second))
    assert "in 1 it wrote the same code as before the change." in follows_sentence(copied)
    assert "wrote the same code" not in follows_sentence(known)


def test_a_contested_pass_is_told() -> None:
    known = record(HELD)
    (pair,) = known.pairs
    contested = replace(
        known, pairs=(replace(pair, counterfactual=replace(pair.counterfactual, contested=True)),)
    )
    assert "a program passed that does otherwise on some input" in follows_sentence(contested)


def test_a_placebo_that_changes_the_verdict_leaves_it_open() -> None:
    known = record(LOST)
    noisy = replace(known, placebos=known.pairs)
    assert follows_sentence(noisy).startswith("It cannot be told")
