"""Recognise the swaps of Ahmed et al. 2024."""

from __future__ import annotations

import pytest

from counterlens.probes.operator.forms import SwapForm
from counterlens.probes.operator.pairs import pairings
from counterlens.probes.operator.questions import OperatorPlan
from counterlens.probes.probe import Target
from counterlens.syntax.document import Document

SHAPES = """\
def f(a, b, rows):
    if a < b:
        return 0
    if a == b:
        x = 1
    else:
        x = 2
    if a is None:
        x = 3
    else:
        x = 4
    if a > 1:
        x = 5
    elif b > 2:
        x = 6
    else:
        x = 7
    if b in rows:
        return x
    while x <= 9 and not (x >= b):
        x += 1
    return x != a
"""


def forms(source: str, change: str) -> dict[str, tuple[SwapForm | None, bool]]:
    """The operations of a change as they stand, each with its form, and whether the paper has it."""
    found = pairings(Document(source), "f").pairs
    return {pair.original.site.text: (pair.form, pair.published) for pair in found if pair.change == change}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_a_plain_if_else_with_a_comparison_is_a_published_block_swap(newline: str) -> None:
    assert forms(SHAPES.replace("\n", newline), "block-swap") == {
        "a < b": (SwapForm.GUARD, False),
        "a == b": (SwapForm.IF_ELSE, True),
        "a is None": (SwapForm.IF_ELSE, False),
        "a > 1": (SwapForm.ELIF, False),
        "b > 2": (SwapForm.ELIF, False),
        "b in rows": (SwapForm.GUARD, False),
    }


def test_a_refactored_condition_keeps_the_form_of_its_if() -> None:
    found = forms(SHAPES, "refactored block-swap")
    assert found["a == b"] == (SwapForm.IF_ELSE, True)
    assert found["a < b"] == (SwapForm.GUARD, False)


def test_only_operands_in_conditions_are_published_operand_swaps() -> None:
    found = forms(SHAPES, "operand-swap")
    assert {text for text, (_, published) in found.items() if published} == {
        "a < b",
        "a == b",
        "a > 1",
        "b > 2",
        "x <= 9",
        "x >= b",
    }
    assert found["x != a"] == (SwapForm.ELSEWHERE, False)


@pytest.mark.parametrize(
    ("condition", "form"),
    [
        ("a < b.c[0]", SwapForm.CONDITION),
        ("len(a) > 5", SwapForm.CONDITION),
        ("-1 == len(a)", SwapForm.CONDITION),
        ("'' != str(a)", SwapForm.CONDITION),
        ("len(a) > b", SwapForm.CALLS),
        ("len(a) > len('b')", SwapForm.CALLS),
        ("len([x for x in (1, 2) if x < 2]) > 0", SwapForm.CONDITION),
    ],
)
def test_a_call_is_kept_only_beside_a_constant(condition: str, form: SwapForm) -> None:
    source = f"def f(a: list, b: int):\n    if {condition}:\n        a = 1\n    return a\n"
    found = forms(source, "operand-swap")
    assert found[condition][0] is form
    if "if x < 2" in condition:  # what decides a comprehension decides no statement
        assert found["x < 2"][0] is SwapForm.ELSEWHERE


def test_the_protocol_asks_only_of_what_the_paper_has_and_counts_the_rest() -> None:
    target = Target(Document(SHAPES), "f")
    plan = OperatorPlan.of(target, windows=True, seed=0, published=True)
    assert {pair.change for pair in plan.pairings} == {
        "operand-swap",
        "block-swap",
        "renamed operand-swap",
        "renamed block-swap",
        "refactored block-swap",
    }
    assert all(pair.published for pair in plan.pairings)
    assert [place.site.text for place in plan.places] == [
        "a < b",
        "a == b",
        "a > 1",
        "b > 2",
        "x <= 9",
        "x >= b",
    ]
    assert plan.left_out["block-swap"] == {
        "not in the paper (guard)": 1,
        "not in the paper (guard, membership)": 1,
        "not in the paper (if-else, identity)": 1,
        "not in the paper (elif chain)": 2,
    }
    assert sum(plan.frequency.values()) > len(plan.places)  # guessing goes by all that stands there
    everything = OperatorPlan.of(target, windows=True, seed=0)
    assert {pair.change for pair in everything.pairings} > {pair.change for pair in plan.pairings}


@pytest.mark.parametrize("published", [True, False])
def test_a_sample_has_all_pairs_of_its_operators(published: bool) -> None:
    target = Target(Document(SHAPES), "f")
    drawn = set[int]()
    for seed in range(8):
        whole = OperatorPlan.of(target, windows=True, seed=seed, published=published)
        plan = OperatorPlan.of(target, windows=True, seed=seed, most=2, published=published)
        kept = {place.index for place in plan.places}
        assert len(kept) == 2
        expected = [pair for pair in whole.pairings if pair.original.index in kept]
        assert list(plan.pairings) == expected
        assert {pair.original.site.text for pair in plan.pairings if pair.change == "operand-swap"} <= {
            place.site.text for place in plan.places
        }
        assert plan.frequency == whole.frequency
        drawn |= kept
    assert len(drawn) > 4
    assert OperatorPlan.of(target, windows=True, seed=0, most=99, published=published).places == tuple(
        OperatorPlan.of(target, windows=True, seed=0, published=published).places
    )
