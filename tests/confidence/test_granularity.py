"""Spans at four granularities: they cover what they should, once, and say what the nodes say."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.confidence import Confidence, confidence
from counterlens.confidence.granularity import (
    BOUNDS,
    LABELS,
    Granularity,
    Span,
    level_of,
    spans,
    visible_first,
)
from counterlens.syntax.concepts import Category
from counterlens.syntax.document import Document
from tests.confidence.test_confidence import scores_of

SOURCE = '''@cache
def größe(x: int = 3) -> str:
    """Wie groß? 😀"""
    for y in x:
        if y in (1, 2):  # Ende
            return f"{x + 1:>{x}} ab"
        elif not y:
            pass
    return "a\\n" + b ?
'''
SIZE = len(SOURCE.encode())


def scored(text: str, splits: list[int]) -> Confidence:
    n = len(splits) + 1
    scores = scores_of(text, splits, [-((7 * i) % 50) / 10 for i in range(n)])
    return confidence(Document(text), scores)


def texts(found: Confidence, given: list[Span]) -> list[str]:
    return [found.document.data[one.start : one.end].decode() for one in given]


@given(
    st.lists(st.integers(1, SIZE - 1), unique=True).map(sorted),
    st.sampled_from(list(Granularity)),
    st.booleans(),
)
def test_spans_are_in_order_without_overlap_and_hold_every_byte_that_is_not_blank(
    splits: list[int], granularity: Granularity, prose: bool
) -> None:
    found = scored(SOURCE, splits)
    given = spans(found, granularity, prose=prose)
    assert all(one.end <= two.start for one, two in pairwise(given))
    covered = {at for one in given for at in range(one.start, one.end)}
    data = SOURCE.encode()
    for one in given:
        assert data[one.start : one.end].strip() == data[one.start : one.end] != b""
        assert one.level == level_of(one.value)
    if prose and granularity is not Granularity.CONCEPT:
        assert covered >= {at for at in range(SIZE) if not data[at : at + 1].isspace()}


@given(
    st.lists(st.integers(1, SIZE - 1), unique=True).map(sorted),
    st.sampled_from(list(Granularity)),
    st.integers(0, SIZE),
)
def test_two_halves_give_the_spans_of_the_whole(
    splits: list[int], granularity: Granularity, middle: int
) -> None:
    found = scored(SOURCE, splits)
    halves = spans(found, granularity, (0, middle)) + spans(found, granularity, (middle, SIZE))
    assert sorted(set(halves), key=lambda one: one.start) == spans(found, granularity)


def test_a_statement_is_a_simple_one_or_the_header_of_a_compound_one() -> None:
    found = scored(SOURCE, list(range(1, SIZE)))
    assert texts(found, spans(found, Granularity.STATEMENT)) == [
        "@cache",
        "def größe(x: int = 3) -> str:",
        "for y in x:",
        "if y in (1, 2):",
        'return f"{x + 1:>{x}} ab"',
        "elif not y:",
        "pass",
        'return "a\\n" + b',
        "?",
    ]


def test_a_concept_is_the_innermost_non_terminal_and_has_that_nodes_value() -> None:
    found = scored(SOURCE, list(range(1, SIZE)))
    given = spans(found, Granularity.CONCEPT)
    shown = dict(zip(texts(found, given), given, strict=True))
    assert shown["y in"].kind == "comparison_operator"
    assert shown["y in"].category is Category.OPERATORS
    assert shown["(1, 2)"].kind == "tuple"
    assert shown["x + 1"].kind == "binary_operator"
    node = found.nodes[shown["y in"].index]
    assert shown["y in"].value == node.confidence
    assert node.end > shown["y in"].end


def test_leaves_leave_prose_out_unless_it_is_asked_for() -> None:
    found = scored(SOURCE, list(range(1, SIZE)))
    assert not {"# Ende", "Wie groß? 😀"} & set(texts(found, spans(found, Granularity.LEAF)))
    assert {"# Ende", "Wie groß? 😀"} <= set(texts(found, spans(found, Granularity.LEAF, prose=True)))


def test_the_header_of_a_loop_in_another_language_is_one_statement() -> None:
    text = "for (let i = 0; i < 3; i++) { f(i); }\n"
    document = Document(text, language="javascript")
    found = confidence(document, scores_of(text, list(range(1, len(text))), [-1.0] * len(text)))
    assert texts(found, spans(found, Granularity.STATEMENT)) == [
        "for (let i = 0; i < 3; i++) {",
        "f(i);",
        "}",
    ]


def test_what_is_visible_comes_first_and_nothing_is_lost() -> None:
    found = scored(SOURCE, list(range(1, SIZE)))
    whole = spans(found)
    ordered = visible_first(whole, (100, 130))
    assert ordered[0].end > 100
    assert ordered[0].start < 130
    assert sorted(ordered, key=lambda one: one.start) == whole


@pytest.mark.parametrize("value", [0.0, 1.0, *BOUNDS])
def test_levels_are_those_of_their_labels(value: float) -> None:
    assert 5 <= len(LABELS) <= 7
    assert 0 <= level_of(value) < len(LABELS)
    assert level_of(value) == sum(value >= bound for bound in BOUNDS)


@pytest.mark.parametrize("text", ["", "\n", "x", "# only this\n", "\ufeff", "((((", "a\r\nb\r\n"])
@pytest.mark.parametrize("granularity", list(Granularity))
def test_odd_documents_are_no_trouble(text: str, granularity: Granularity) -> None:
    spans(confidence(Document(text), scores_of(text, [], [-1.0])), granularity)
