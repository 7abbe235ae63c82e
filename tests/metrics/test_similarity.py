"""Names by their parts, texts by their words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.metrics.similarity import cosine, lexical_vectors, name_agreement, subtokens


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("is_palindrome", {"is", "palindrome"}),
        ("parseHTTPResponse2", {"parse", "http", "response", "2"}),
        ("MAX_SIZE", {"max", "size"}),
        ("__init__", {"init"}),
        ("_", set()),
        ("größe_liste", {"gr", "öß", "e", "liste"}),
    ],
)
def test_names_have_parts(name: str, parts: set[str]) -> None:
    assert subtokens(name) == parts


def test_precision_is_of_the_new_name_and_recall_of_the_original() -> None:
    found = name_agreement("isPalindromeAndSmall", "is_palindrome")
    assert (found.precision, found.recall) == (1, 0.5)
    assert found.f1 == pytest.approx(2 / 3)
    assert name_agreement("a", "b").f1 == 0


def test_words_make_texts_alike() -> None:
    vectors = lexical_vectors(["it sorts numbers", "It sorts words", "zebras sleep", "", "it sorts numbers"])
    assert cosine(vectors[0], vectors[4]) == pytest.approx(1)
    assert 0 < cosine(vectors[0], vectors[1]) < 1
    assert cosine(vectors[0], vectors[2]) == 0
    assert cosine(vectors[0], vectors[3]) == 0
    assert lexical_vectors(["", "?"]).shape == (2, 1)


@given(st.lists(st.text(), min_size=2, max_size=5))
def test_likeness_lies_between_0_and_1_and_has_no_direction(texts: list[str]) -> None:
    vectors = lexical_vectors(texts)
    one, other = cosine(vectors[0], vectors[1]), cosine(vectors[1], vectors[0])
    assert one == pytest.approx(other)
    assert 0 <= one <= 1
    assert np.isfinite(vectors).all()
