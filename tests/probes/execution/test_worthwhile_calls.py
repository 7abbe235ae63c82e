"""Calls worth asking about: they run each branch, go round loops again, and return what is not guessed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from counterlens.probes.execution.calls import WorthwhileCall, order_calls, worthwhile_calls
from counterlens.probes.execution.language import Step
from counterlens.probes.execution.printing import Input, Origin
from counterlens.probes.probe import Target
from counterlens.probes.prompts.literals import Literal
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.probes.execution.asking import context

LONGEST = '''\
def longest(words: list[str], least: int = 1) -> str | None:
    """Find the longest word.

    >>> longest([])
    >>> longest(["a"])
    'a'
    >>> longest(["a", "bcd", "ef"], 2)
    'bcd'
    """
    best = None
    for word in words:
        if len(word) < least:
            continue
        if best is None or len(word) > len(best):
            best = word
    return best
'''
BARE = '''\
def sign(number: int) -> int:
    """Tell the sign.

    >>> sign(0)
    0
    """
    if number < 0:
        return -1
    if number > 0:
        return 1
    return 0
'''


def chosen(source: str, name: str, **details: object) -> list[WorthwhileCall]:
    document = Document(source)
    target = Target(document, name, **details)  # type: ignore[arg-type]
    function = find_function(document, name)
    return worthwhile_calls(context(str), target, function, seed=0, limits=Limits(seconds=10, cpu_seconds=10))


def test_a_call_that_goes_round_a_loop_again_comes_before_the_first_of_the_docstring() -> None:
    first, *others = chosen(LONGEST, "longest")
    assert first.input.call == "longest(['a', 'bcd', 'ef'], 2)"
    assert first.again
    assert first.gives.value == "bcd"
    assert others[-1].gives.value is None


def test_calls_are_generated_for_branches_that_no_written_call_runs() -> None:
    calls = chosen(BARE, "sign")
    assert {call.gives.value for call in calls[:3]} == {-1, 0, 1}
    assert {call.input.origin for call in calls} == {Origin.EXAMPLE, Origin.GENERATED}
    whole = BARE.replace(
        ">>> sign(0)\n    0", ">>> sign(0)\n    0\n    >>> sign(2)\n    1\n    >>> sign(-9)\n    -1"
    )
    assert {call.input.origin for call in chosen(whole, "sign")} == {Origin.EXAMPLE}


def test_all_calls_of_a_dataset_are_candidates() -> None:
    telling = "longest(['x', 'yy', 'z'], 2)"
    calls = chosen(LONGEST, "longest", call="longest([])", calls=("longest([])", telling))
    assert [call.input for call in calls] == [
        Input(telling, Origin.DATASET),
        Input("longest([])", Origin.DATASET),
    ]


@st.composite
def some_calls(draw: st.DrawFn) -> list[WorthwhileCall]:
    lines = st.lists(st.integers(1, 6), max_size=8)
    return [
        WorthwhileCall(
            Input(f"f({number})", Origin.TEST),
            [Step(line, {}) for line in draw(lines)],
            Literal(value := draw(st.integers(0, 3)), str(value)),
        )
        for number in range(draw(st.integers(1, 6)))
    ]


@given(some_calls())
def test_every_call_is_there_once_and_the_first_ones_run_most(made: list[WorthwhileCall]) -> None:
    ordered = order_calls(made)
    assert sorted(call.input.call for call in ordered) == sorted(call.input.call for call in made)
    assert len(ordered[0].lines) == max(len(call.lines) for call in made)
    ran = set[int]()
    for at, call in enumerate(ordered):
        assert len(call.lines - ran) == max(len(other.lines - ran) for other in ordered[at:])
        ran |= call.lines
