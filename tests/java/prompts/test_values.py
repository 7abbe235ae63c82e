"""Java values are written as expressions, read from answers in every usual form, and compared as values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from counterlens.java.prompts.reading import read_value
from counterlens.java.prompts.values import JAVA_VALUES, expression, java_literal
from counterlens.models.base import Completion
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.prompts.literals import AnswerOutcome, Literal, direct_answer, stepwise_answer
from counterlens.sandbox.java.values import NULL, JavaValue

LIST, SET, MAP = "java.util.ArrayList", "java.util.HashSet", "java.util.HashMap"
TEXT = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=6)
WHOLE = st.tuples(st.just("I"), st.integers(-(1 << 31), (1 << 31) - 1))
LEAVES: st.SearchStrategy[JavaValue] = st.one_of(
    st.just(NULL),
    WHOLE,
    st.tuples(st.just("J"), st.integers(-(1 << 63), (1 << 63) - 1)),
    st.tuples(st.sampled_from(["S", "B"]), st.integers(-128, 127)),
    st.tuples(st.just("i"), st.integers()),
    st.tuples(st.just("D"), st.floats(allow_nan=False)),
    st.tuples(st.just("F"), st.floats(width=32, allow_nan=False)),
    st.tuples(st.just("d"), st.integers(-(10**9), 10**9), st.integers(0, 6)),
    st.tuples(st.just("Z"), st.booleans()),
    st.tuples(st.just("C"), st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"])),
    st.tuples(st.just("s"), TEXT),
)


def containers(inner: st.SearchStrategy[JavaValue]) -> st.SearchStrategy[JavaValue]:
    items = st.lists(inner, max_size=3).map(tuple)
    keys = st.tuples(st.just("s"), TEXT)
    present = inner.filter(lambda value: value != NULL)
    return st.one_of(
        st.tuples(st.just("L"), st.just(LIST), items),
        st.tuples(st.just("L"), st.just(SET), st.lists(keys, max_size=3, unique=True).map(tuple)),
        st.tuples(
            st.just("M"),
            st.just(MAP),
            st.lists(st.tuples(keys, inner), max_size=12, unique_by=lambda pair: pair[0]).map(tuple),
        ),
        st.tuples(st.just("["), st.just("int"), st.lists(WHOLE, max_size=3).map(tuple)),
        st.tuples(st.just("["), st.just("java.lang.Object"), items),
        st.tuples(st.just("O"), present),
        st.just(("O", NULL)),
    )


VALUES = st.recursive(LEAVES, containers, max_leaves=8)


@given(VALUES)
def test_what_is_written_is_read_back_and_written_alike(value: JavaValue) -> None:
    written = JAVA_VALUES.written(value)
    for found in (
        direct_answer(f" {written}", values=JAVA_VALUES),
        stepwise_answer(f"1. so\n// Answer: {written}", values=JAVA_VALUES),
    ):
        assert found is not None
        assert JAVA_VALUES.equal(found.value, value)
        assert JAVA_VALUES.same_numbers(found.value, value)
        assert JAVA_VALUES.same_type(found.value, value)
        assert JAVA_VALUES.same_text(found, "", Literal(value, written))
    assert read_value(written, strict=True) is not None
    assert read_value(expression(value), strict=True) is not None


@given(VALUES)
@example(("d", 96_999_903, 0))  # the far value is within the tolerance if the sign stays
def test_what_misleads_is_another_value_of_the_same_type(value: JavaValue) -> None:
    other = JAVA_VALUES.misled(value)
    assert not JAVA_VALUES.equal(other, value)
    assert JAVA_VALUES.same_type(other, value) or value == NULL
    assert read_value(JAVA_VALUES.written(other), strict=True) is not None


@pytest.mark.parametrize(
    ("said", "same_as"),
    [
        ("[1, 2]", "List.of(1, 2)"),
        ("{1, 2}", "new int[] {1, 2}"),
        ("new int[]{1,2,}", "Arrays.asList(1, 2)"),
        ("new int[][] {{1}, {}}", "[[1], []]"),
        ("new ArrayList<Integer>(java.util.List.of(1, 2));", "[1, 2]"),
        ('new String[] {"a"}', '["a"]'),
        ("new int[0]", "[]"),
        ("Set.of(2, 1)", "Set.of(1, 2)"),
        ('{"a"=1, "b"=2}', 'Map.of("b", 2, "a", 1)'),
        ("Optional[3]", "Optional.of(3)"),
        ("Optional.empty", "Optional.empty()"),
        ("5L  // five", "5"),
        ("(long) 5", "5"),
        ("0x1F", "31"),
        ("1_000", "1000"),
        ("0.30000001f", "0.3"),
        ("1e3", "1000.0"),
        ("Integer.MAX_VALUE", "2147483647"),
        ("'\\u0061'", "'a'"),
        ("```java\nList.of(1)\n```", "[1]"),
        ("Collections.singletonList(null)", "Arrays.asList((String) null)"),
    ],
)
def test_forms_of_the_same_value(said: str, same_as: str) -> None:
    one, other = direct_answer(said, values=JAVA_VALUES), java_literal(same_as)
    assert one is not None
    assert other is not None
    assert JAVA_VALUES.equal(one.value, other.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("'a'", '"a"'), ("1", "true"), ("'a'", "97"), ("null", "0"), ("[1, 2]", "[2, 1]"), ("0.1", "0.2"),
        ("Optional.of(1)", "1"), ("[]", "Optional.empty()"), ("Set.of(1)", "Set.of(2)"),
        ("List.of(1, 1)", "List.of(1)"), ('Map.of("a", 1)', 'Map.of("a", 2)'), ("Set.of(1)", "List.of(1)"),
    ],
)  # fmt: skip
def test_values_that_are_not_the_same(one: str, other: str) -> None:
    found = java_literal(one), java_literal(other)
    assert found[0] is not None
    assert found[1] is not None
    assert not JAVA_VALUES.equal(found[0].value, found[1].value)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("{}", "it is ambiguous: empty braces are an array or a map"),
        ("[tea, milk]", "its strings are not quoted"),
        ("Optional[tea]", "its strings are not quoted"),
        ("{tea=1}", "its strings are not quoted"),
        ("1 + 1", "it is an expression, not a literal"),
        ("new int[5]", "it is an expression, not a literal"),
        ("five", "it is not a Java literal"),
        ("List.of(", "it is not a Java literal"),
        ("f(1)", "it is not a Java literal"),
    ],
)
def test_what_is_no_value_is_not_right_and_says_why(said: str, why: str) -> None:
    answer = STYLES["direct"].read(Completion(said, "stop", 1), ("I", 2), language="java")
    assert (answer.literal, answer.outcome, answer.unread) == (None, AnswerOutcome.UNPARSABLE, why)


def outcomes(truth: Any, said: str) -> tuple[AnswerOutcome, AnswerOutcome]:
    completion = Completion(said, "stop", 1)
    written = JAVA_VALUES.written(truth)
    as_value = STYLES["direct"].read(completion, truth, language="java").outcome
    return as_value, STYLES["direct"].read(completion, truth, written, language="java").outcome


def test_a_published_protocol_compares_what_is_written_and_not_its_form() -> None:
    right, wrong, other = AnswerOutcome.RIGHT, AnswerOutcome.WRONG, AnswerOutcome.OTHER_NUMBER
    assert outcomes(("[", "int", (("I", 1), ("I", 2))), " [1,2]") == (right, right)
    assert outcomes(("D", 0.5), " 0.5000000001") == (right, wrong)
    assert outcomes(("D", 5.0), " 5") == (other, other)
    assert outcomes(("J", 5), " 5") == (right, right)


def test_only_expressions_are_arguments_of_calls() -> None:
    for printed in ("[1]", "Optional[1]", "{1}", '{"a"=1}', "NaN", "Infinity", "Optional.empty"):
        assert read_value(printed) is not None
        assert read_value(printed, strict=True) is None
