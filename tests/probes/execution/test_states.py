"""States while a call runs, loops that are written out, and states beside outputs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from counterlens.errors import SourceError
from counterlens.judging.base import LIMITS, Setting
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.execution.independent import unroll
from counterlens.probes.execution.language import MARK, add_mark, execution_of, points
from counterlens.probes.execution.questions import question_of
from counterlens.probes.execution.record import Form
from counterlens.probes.probe import Context, Target
from counterlens.probes.runner import run_targets
from counterlens.probes.runtime.probe import RuntimeOptions, RuntimeProbe
from counterlens.probes.subjects import targets_in
from counterlens.progress import Steps
from counterlens.python.execution.running import trace
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.probes.execution.asking import context, entries, probed, table


def setting(limits: Limits | None = None) -> Setting:
    return Setting(best_sandbox(), Path(sys.executable), limits or Limits())


SOURCE = '''\
def count(words, letter):
    found, seen = 0, {}
    for word in words:
        text = """\\
"""
        found += word.count(letter); seen[word] = found
        seen[letter] = object
    seen.pop(letter)
    return found


def rec(n):
    m = n * 2
    if n:
        rec(n - 1)
    return m
'''
DOCUMENT = Document(SOURCE)


def test_a_trace_says_what_each_line_changed() -> None:
    steps = trace(DOCUMENT, "count(['ab', 'b'], 'b')", setting())
    changed = [(step.line, step.changed) for step in steps]
    assert changed[0] == (2, {"found": "0", "seen": "{}"})
    assert (6, {"found": "1", "seen": "{'ab': 1}"}) in changed
    assert (7, {}) in changed  # no plain value any more
    outermost = [step.changed for step in trace(DOCUMENT, "rec(2)", setting()) if step.changed]
    assert outermost == [{"m": "4"}]


@pytest.mark.parametrize(
    ("call", "says"), [("count(1, 2)", "raises TypeError"), ("nothing(1)", "raises KeyError")]
)
def test_what_cannot_be_traced_says_why(call: str, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        trace(DOCUMENT, call, setting())


def test_states_are_asked_about_at_whole_simple_lines_only() -> None:
    steps = trace(DOCUMENT, "count(['ab', 'b'], 'b')", setting())
    function = find_function(DOCUMENT, "count")
    lines = execution_of("python").simple_lines(DOCUMENT, function)
    found = {(one.line, one.times, one.variable) for seed in range(30) for one in points(
        DOCUMENT, function, steps, lines, seed=seed
    )}  # fmt: skip
    # Two statements share line 6, and line 4 ends inside a string.
    assert {line for line, _, _ in found} == {2, 8}
    assert points(DOCUMENT, function, steps, lines, seed=3) == points(
        DOCUMENT, function, steps, lines, seed=3
    )
    assert add_mark(DOCUMENT, 2).text.splitlines()[1].endswith(f"{{}}  # {MARK}")
    assert add_mark(Document("x = 1\r\n"), 1).text == f"x = 1  # {MARK}\r\n"


LOOPS = '''\
def pairs(n):
    """Make pairs.

    >>> pairs(2)
    [0, 0, 0, 1]
    """
    made = []
    for a in range(n):
        for b in range(n):
            made.append(a * b)
    while False:
        made.clear()
    return made


def first(xs):
    """Take one.

    >>> first([5, 2])
    5
    """
    for x in xs:
        if x:
            break
    return x


def plain(x):
    """Say it.

    >>> plain(1)
    1
    """
    return x
'''


def test_nested_loops_are_written_out_as_they_ran() -> None:
    asking, target = context(lambda _: ""), targets_in(Document(LOOPS))[0]
    question = question_of(asking, target, seed=0, limits=LIMITS)
    assert question.truth.rounds == 6
    found = unroll(asking, target, question, LIMITS)
    assert found.form is Form.UNROLLED
    assert found.source.count("made.append(a * b)") == 4
    assert "for b" not in found.source.partition("def first")[0]
    assert (found.truth.written, found.truth.rounds) == ("[0, 0, 0, 1]", 6)


@pytest.mark.parametrize(("number", "says"), [(1, "`break`"), (2, "it has no loops")])
def test_what_cannot_be_unrolled_says_why(number: int, says: str) -> None:
    asking, target = context(lambda _: ""), targets_in(Document(LOOPS))[number]
    question = question_of(asking, target, seed=0, limits=LIMITS)
    with pytest.raises(SourceError, match=says):
        unroll(asking, target, question, LIMITS)


def test_the_effect_of_unrolling_is_of_the_same_functions() -> None:
    def reads(text: str) -> str:
        truth = "[0, 0, 0, 1]" if "for b" not in text.partition("def first")[0] else "[]"
        return f" {truth}" if text.endswith("==") else f" so\n# Answer: {truth}"

    result = probed("execution", reads, LOOPS, unroll=True)
    n, loops, without, difference, gained, lost, p = table(result, "the effect of unrolling loops")["direct"]
    assert (n, loops.count, without.count, difference.value) == (1, 0, 1, 1.0)
    assert (gained, lost, p) == (1, 0, 1.0)
    reasons = [reason for reason in result.left_out if "unrolled" in reason]
    assert len(reasons) == 2
    assert table(result, "independent execution reasoning")["direct"][0] == 3
    for title, cells in table(result, "by construct").items():
        assert cells[0] == {"for": 2, "while": 1, "nested loop": 1, "if": 1, "basic": 1}[title]


STATES = '''\
def total(xs):
    """Add up.

    >>> total([4, 7])
    11
    """
    t = 0
    for x in xs:
        t = t + x
    return t


def same(x):
    """Say it.

    >>> same(3)
    3
    """
    y = x
    return y
'''


def test_outputs_and_states_are_counted_together() -> None:
    def answer(text: str) -> str:
        if "HERE has run" in text.rpartition("\n\n")[2]:
            return " I cannot determine it" if "While total" in text else " 3"
        return " 11" if text.endswith("total([4, 7]) ==") else " 4"

    result = probed("runtime", answer, STATES)
    rows = table(result, "outputs and states")
    assert rows["right"][0] == 1
    assert rows["right"][1].count == 0
    assert rows["not right"][0] == 1
    assert rows["not right"][1].count == 1
    (total, same) = sorted(entries(result, "calls"), key=lambda one: one["target"], reverse=True)
    assert {one["outcome"] for one in total["states"]} == {"refused"}
    assert [(one["variable"], one["times"], one["truth"]) for one in same["states"]] == [("y", 1, "3")]


def test_states_of_the_embedded_model(model: LlamaModel) -> None:
    targets: list[Target] = targets_in(Document(STATES), "same")
    seen: list[Any] = []
    asking = Context(model, best_sandbox, Steps(progress=lambda *step: seen.append(step)))
    result = run_targets(RuntimeProbe(), asking, targets, RuntimeOptions(max_tokens=16))
    one, *_ = entries(result, "calls")
    assert one["truth"] == "3"
    assert len(one["states"]) == 1
    assert seen


def test_long_values_are_no_states_to_ask_about() -> None:
    document = Document("def f(n):\n    xs = [0] * n\n    k = n + 1\n    return k\n")
    steps = trace(document, "f(90)", setting())
    lines = execution_of("python").simple_lines(document, find_function(document, "f"))
    found = points(document, find_function(document, "f"), steps, lines, seed=0)
    assert [(one.variable, one.truth.written) for one in found] == [("k", "91")]
