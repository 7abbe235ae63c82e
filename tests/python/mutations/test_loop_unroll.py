"""Loop unrolling, which needs to be told what was observed."""

from __future__ import annotations

import pytest

from counterlens.mutations import apply_everywhere, counterfactuals, refusals
from counterlens.python.mutations.loops import LoopUnroll, Rounds

SOURCE = """\
def f(xs):
    seen = []
    for a, b in xs:
        # twice
        if a:
            seen.append(a + b)
    else:
        seen.append("end")
    n = 2
    while n:
        n -= 1
        seen.append(n)
    return seen
"""
INPUT = [(1, 2), (0, 5), (3, 4)]


def run(source: str) -> object:
    space: dict[str, object] = {}
    exec(source, space)  # noqa: S102
    function = space["f"]
    assert callable(function)
    return function(INPUT)


def test_unrolled_loops_do_the_same_for_the_observed_input() -> None:
    values = tuple(map(repr, INPUT))
    (pair,) = counterfactuals(SOURCE, mutations=[LoopUnroll({3: Rounds(3, values)})])
    assert "for" not in pair.source
    assert pair.source.count("# twice") == 3
    assert run(pair.source) == run(SOURCE)
    (other,) = counterfactuals(SOURCE, mutations=[LoopUnroll({10: Rounds(2)})])
    assert "while" not in other.source
    assert run(other.source) == run(SOURCE)
    both = LoopUnroll({3: Rounds(3, values), 10: Rounds(2)})
    assert run(apply_everywhere(SOURCE, both)) == run(SOURCE)


def test_a_loop_that_never_ran() -> None:
    source = "def f(xs):\n    for x in xs: # none\n        return 1\n    return 2\n"
    expected = "def f(xs):\n    pass\n    return 2\n"
    assert apply_everywhere(source, LoopUnroll({2: Rounds(0)})) == expected


@pytest.mark.parametrize(
    ("rounds", "reason"),
    [
        (Rounds(1), "not all known"),
        (Rounds(2, ("1", "2"), entries=3), "entered 3 times"),
        (Rounds(999), "more than 200"),
    ],
)
def test_what_cannot_be_unrolled(rounds: Rounds, reason: str) -> None:
    found = refusals("def f(xs):\n    for x in xs:\n        g(x)\n", mutations=[LoopUnroll({2: rounds})])
    assert reason in found[0].reason


@pytest.mark.parametrize("jump", ["break", "continue"])
def test_jumps_need_the_loop(jump: str) -> None:
    source = f"def f(xs):\n    for x in xs:\n        if x:\n            {jump}\n"
    (refusal,) = refusals(source, mutations=[LoopUnroll({2: Rounds(1, ("0",))})])
    assert jump in refusal.reason
