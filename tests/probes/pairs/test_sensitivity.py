"""Pairs are judged only by sensitive tests: they fail where the hole is empty, or returns a constant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.record import PairsRecord, RefusedSite
from counterlens.probes.pairs.sensitivity import empty_programs
from counterlens.probes.pairs.wording import meaning
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.runner import run_probe
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.probes.pairs.test_drawing import Drawer

BRANCHES = '''def sign(number):
    """The sign.

    {examples}
    """
    if number < 0:
        return -1
    if number > 0:
        found = 1
    else:
        found = 0
    return found
'''
GUARD, BRANCH = 7, 9
"""The lines of its two conditions."""
ALL = ">>> sign(-3), sign(0), sign(2)\n    (-1, 0, 1)"
NEGATIVE = ">>> sign(-3)\n    -1"
TRUTH = ">>> bool(sign(-3) and sign(3))\n    True"


def probed(examples: str, *, protocol: str | None = None) -> PairsRecord:
    target = Target(Document(BRANCHES.replace("{examples}", examples)), "sign")
    options = CompletionOptions(mutations=("if-else-flip",), placebos=0, ways=0, protocol=protocol)
    context = Context(Drawer(lambda _text: 1.0), best_sandbox, unjudged=False)
    record = run_probe(CompletionProbe(), context, target, options)
    assert isinstance(record, PairsRecord)
    return record


def lines(record: PairsRecord) -> list[int]:
    return [pair.start_line for pair in record.pairs]


def insensitive(record: PairsRecord) -> list[str]:
    return [one.reason for one in record.refused if "replaces the code after the cut" in one.reason]


def test_tests_that_see_the_holes_judge_them() -> None:
    record = probed(ALL)
    assert lines(record) == [GUARD, BRANCH]
    assert not insensitive(record)


@pytest.mark.parametrize(
    ("examples", "seen", "stand_in"), [(NEGATIVE, [GUARD], "pass"), (TRUTH, [GUARD], "return 42")]
)
def test_tests_that_pass_without_what_follows_judge_nothing(
    examples: str, seen: list[int], stand_in: str
) -> None:
    record = probed(examples)
    assert lines(record) == seen
    reasons = insensitive(record)
    assert len(reasons) == 2 - len(seen)
    assert all(f"`{stand_in}`" in one for one in reasons)


def test_the_published_protocol_does_not_ask() -> None:
    record = probed(TRUTH, protocol="cacp")
    assert record.pairs
    assert not insensitive(record)


def test_a_stand_in_is_as_deep_as_what_it_replaces() -> None:
    document = Document(BRANCHES)
    cut = BRANCHES.index("        found = 1")
    (program,) = empty_programs(document, Gap.of(document, find_function(document, "sign"), cut), "pass")
    assert program == BRANCHES[:cut] + "        pass\n"


def test_a_function_whose_holes_no_test_sees_says_so_before_other_reasons() -> None:
    record = probed(TRUTH)
    other = RefusedSite("operand-swap", 8, "the operands: one changes an object that the other may use")
    record = replace(record, pairs=(), refused=(other, *record.refused))
    assert insensitive(record)
    said = meaning(record)
    assert said.startswith("Mutations apply to sign, but the tests also pass if `")
    assert said.endswith("Add a doctest or a test that checks that code.")
    assert meaning(replace(record, refused=(other,))).startswith(
        "No mutation could be applied safely to sign"
    )
