"""Loops are seen as they ran, and unrolled from that."""

from __future__ import annotations

import subprocess
import sys

import pytest

from counterlens.errors import SourceError
from counterlens.mutations import apply_everywhere
from counterlens.mutations.loop_unroll import LoopUnroll, Rounds
from counterlens.probes.observation import observe_loops
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

SOURCE = """def total(items):
    result = 0
    for item in items:
        result += item
    n = 2
    while n > 0:
        n -= 1
        for _ in "ab":
            result += 1
    return result


for i in range(3):
    pass
"""


def test_rounds_values_and_entries_are_those_of_the_call_alone() -> None:
    seen = observe_loops(Document(SOURCE), "total([3, 4, 5])", best_sandbox())
    assert seen == {
        3: Rounds(3, ("3", "4", "5"), 1),
        6: Rounds(2, (), 1),
        8: Rounds(4, ("'a'", "'b'", "'a'", "'b'"), 2),
    }


def test_the_unrolled_program_does_the_same_for_that_input() -> None:
    document = Document(SOURCE)
    seen = observe_loops(document, "total([3, 4, 5])", best_sandbox())
    mutated = apply_everywhere(SOURCE, LoopUnroll(seen))
    assert mutated.count("result += item") == 3
    for text in (SOURCE, mutated):
        check = f"{text}\nassert total([3, 4, 5]) == 16\n"
        subprocess.run([sys.executable, "-c", check], check=True)


def test_values_that_no_literal_can_stand_for_are_not_given() -> None:
    source = "def f(rows):\n    for row in rows:\n        row.append(1)\n"
    seen = observe_loops(Document(source), "f([[], []])", best_sandbox())
    assert seen == {2: Rounds(2, (), 1)}
    assert apply_everywhere(source, LoopUnroll(seen)) == source


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("total([1", "not an expression"),
        ("total(['a'])", "raised TypeError"),
        ("nothing()", "raised NameError"),
        ("__import__('os')._exit(3)", "ended the process"),
        ("exit()", "raised SystemExit"),
    ],
)
def test_a_call_that_cannot_be_observed_says_why(call: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        observe_loops(Document(SOURCE), call, best_sandbox())
