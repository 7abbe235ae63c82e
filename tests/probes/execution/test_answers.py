"""A model's answer is read as a literal, and compared as a value."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.models.base import Completion
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.prompts import literals
from counterlens.probes.prompts.literals import AnswerOutcome
from counterlens.python.prompts.values import PYTHON_VALUES, equal, has_no_order, literal, same_type

direct_answer = partial(literals.direct_answer, values=PYTHON_VALUES)
stepwise_answer = partial(literals.stepwise_answer, values=PYTHON_VALUES)
outcome = partial(literals.outcome, values=PYTHON_VALUES)
why_unread = partial(literals.why_unread, values=PYTHON_VALUES)

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_what_python_writes_is_read_back(value: Any) -> None:
    for found in (direct_answer(f" {value!r}"), stepwise_answer(f"1. so\nAnswer: {value!r}")):
        assert found is not None
        assert outcome(found, value) is AnswerOutcome.RIGHT
        assert same_type(found.value, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" [1,2]", [1, 2]),
        (" [1,\n  2]\nassert g() == 3", [1, 2]),
        (" -3  # minus three", -3),
        (" 'a' 'b'", "ab"),
        ("`(1, 2)`", (1, 2)),
        (" 1.50", 1.5),
        (" set()", set()),
        (" 5.", 5),
    ],
)
def test_direct_answers(text: str, value: object) -> None:
    found = direct_answer(text)
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize("text", ["", " ", " f(1)", " the list [1]", " 1 +", " [1, 2", " x", " 1 2", "\n\n"])
def test_what_is_no_literal_is_unparsable(text: str) -> None:
    assert direct_answer(text) is None
    assert outcome(direct_answer(text), 1) is AnswerOutcome.UNPARSABLE


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a is 1\n# Answer: 2", 2),
        ("Answer: 1\nno, wait\nanswer: [3]", [3]),
        ("# Answer: f(2) == 'x'", "x"),
    ],
)
def test_stepwise_answers(text: str, value: object) -> None:
    found = stepwise_answer(text)
    assert found is not None
    assert found.value == value
    assert stepwise_answer("so it is 3") is None


def test_values_are_equal_within_the_tolerance_and_by_class() -> None:
    assert equal(0.1 + 0.2, 0.3)
    assert equal([1.0, (2, {"a": 1 / 3})], [1, (2, {"a": 0.33333333333})])
    assert equal(math.nan, math.nan)
    assert equal(1, 1.0)
    assert not equal(1.0, 1.001)
    assert not equal(True, 1)
    assert not equal((1,), [1])
    assert not equal("1", 1)
    assert not equal([1], [1, 2])
    assert not equal({"a": 1}, {"b": 1})
    assert not same_type(1, 1.0)


def test_deep_and_long_texts_do_no_harm() -> None:
    assert literal("[" * 3000 + "]" * 3000) is None
    assert literal("9" * 100_000) is None


@pytest.mark.parametrize(
    "text", ["```python\n[1, 2]\n```", "**[1, 2]**", "`[1, 2]`.", "```\n[1,\n 2]\n```\nbecause"]
)
def test_marks_around_an_answer_do_not_count(text: str) -> None:
    for found in (direct_answer(text), stepwise_answer(f"1. so\n**Answer:** {text}")):
        assert found is not None
        assert found.value == [1, 2]


def test_an_answer_may_stand_on_the_lines_after() -> None:
    for text in ("Answer:\n[1,\n 2]", "# 1. a\n# Answer:\n# [1, 2]", "Answer: ```\n[1, 2]\n```"):
        found = stepwise_answer(text)
        assert found is not None
        assert found.value == [1, 2]


@pytest.mark.parametrize(
    ("text", "finish", "stepwise", "says"),
    [
        ("", "stop", False, "nothing was said"),
        ("I'm sorry, I can't run code", "stop", False, "declines"),
        ("The output cannot be determined.", "stop", True, "declines"),
        ("1. a is 1", "stop", True, "ends without an answer"),
        ("1. a is", "length", True, "cut off"),
        ("Answer: f(1)", "stop", True, "not a Python literal"),
        (" f(1)", "stop", False, "an expression, not a literal"),
        (" the list", "stop", False, "not a Python literal"),
    ],
)
def test_why_an_answer_cannot_be_read(text: str, finish: str, stepwise: bool, says: str) -> None:
    reason = why_unread(text, finish, stepwise=stepwise)
    assert says in reason
    kinds = {"declines": AnswerOutcome.REFUSED, "cut off": AnswerOutcome.TRUNCATED}
    assert outcome(None, 1, unread=reason) is kinds.get(says, AnswerOutcome.UNPARSABLE)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (" 12", AnswerOutcome.TRUNCATED),  # of 123, it may be
        (" 12\n", AnswerOutcome.RIGHT),
        (" 12\nassert", AnswerOutcome.RIGHT),
        (" 13\nassert", AnswerOutcome.WRONG),
        (" [1, 2", AnswerOutcome.TRUNCATED),
        ("", AnswerOutcome.TRUNCATED),
        ("I cannot tell yet, but", AnswerOutcome.TRUNCATED),
        ("<think>It is 13, or", AnswerOutcome.TRUNCATED),
        ("<think>It is 13\nAnswer: 13\n", AnswerOutcome.TRUNCATED),
    ],
)
def test_a_truncated_answer_is_never_wrong(text: str, outcome: AnswerOutcome) -> None:
    assert STYLES["direct"].read(Completion(text, "length", 1), 12).outcome is outcome
    if "<think>" not in text:
        steps = f"1. so\nAnswer:{text}"
        assert STYLES["steps"].read(Completion(steps, "length", 1), 12).outcome is outcome


@pytest.mark.parametrize("style", STYLES)
def test_what_was_thought_is_no_answer(style: str) -> None:
    def read(text: str, finish: str) -> AnswerOutcome:
        return STYLES[style].read(Completion(text, finish, 1), 12).outcome

    lead = "Answer: " if STYLES[style].stepwise else ""
    assert read(f"<think>\nAnswer: 13\n</think>\n\n{lead}12", "stop") is AnswerOutcome.RIGHT
    assert read(f"Answer: 13\n</think>\n{lead}12", "stop") is AnswerOutcome.RIGHT  # begun by the template
    assert read("<think>\nAnswer: 12\n", "stop") is AnswerOutcome.TRUNCATED  # whatever the server says


def test_an_integer_beyond_every_float_is_an_answer() -> None:
    long = 7 * 10**350
    found = direct_answer(f" {long}")
    assert found is not None
    assert len(found.written) == 351
    assert outcome(found, long) is AnswerOutcome.RIGHT
    for other in (1.5, float("inf"), [1.5], {"a": 2.0}):
        assert outcome(found, other) is AnswerOutcome.WRONG
        assert not equal(other, long)
    assert not equal([long], [0.1])


def test_floats_for_integers_are_apart() -> None:
    def read(text: str, truth: Any) -> AnswerOutcome:
        return outcome(literal(text), truth)

    for text, truth in (("2.0", 2), ("2", 2.0), ("[1, 2.0]", [1, 2]), ("{'a': 1}", {"a": 1.0})):
        assert read(text, truth) is AnswerOutcome.OTHER_NUMBER
    assert read("{1.0: 'a'}", {1: "a"}) is AnswerOutcome.OTHER_NUMBER
    assert read("2.5", 2) is AnswerOutcome.WRONG
    assert read("0.30000000001", 0.3) is AnswerOutcome.RIGHT
    assert read("1", True) is AnswerOutcome.WRONG


def test_what_holds_a_set_has_no_order() -> None:
    assert all(map(has_no_order, ({1}, set(), frozenset(), [({2},)], {"a": {3}}, {frozenset(): 1})))
    assert not has_no_order([1, (2, {"a": "b"})])
