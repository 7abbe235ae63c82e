"""Bits are a sum over bytes: parts add up to the whole, and no tokenizer changes the whole."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.confidence import confidence
from counterlens.confidence.aggregate import Surprisal
from counterlens.syntax.document import Document
from tests.confidence.test_confidence import SOURCE, SPLITS, scores_of

SIZE = len(SOURCE.encode())
LOG2 = math.log(2)


@given(SPLITS, st.integers(0, SIZE), st.integers(0, SIZE))
def test_the_bits_of_parts_add_up_to_those_of_the_whole(splits: list[int], one: int, two: int) -> None:
    n = len(splits) + 1
    logprobs = [math.nan, *(-0.1 * (i % 7) for i in range(1, n))]
    edges = np.array([0, *sorted((one, two)), SIZE])
    bits, scored = Surprisal(scores_of(SOURCE, splits, logprobs)).bits(edges[:-1], edges[1:])
    assert bits.sum() == pytest.approx(-np.nansum(logprobs) / LOG2)
    assert scored.sum() == SIZE - (splits[0] if splits else SIZE)
    assert (bits >= 0).all()


def test_a_token_is_shared_between_the_nodes_that_it_straddles() -> None:
    text = "a  +bb\n"
    scores = scores_of(text, [1, 6], [-LOG2, -6 * LOG2, -LOG2])  # a, `  +bb`, a line end
    found = {
        node.kind: node for node in confidence(Document(text), scores).nodes if node.end - node.start < 3
    }
    assert found["+"].bits == pytest.approx(2)
    assert found["identifier"].bits == pytest.approx(4)
    assert found["identifier"].bits_per_byte == pytest.approx(2)


def test_what_is_not_scored_has_no_bits() -> None:
    found = confidence(Document("ab = 1\n"), scores_of("ab = 1\n", [2], [math.nan, -LOG2]))
    by_kind = {node.kind: node for node in found.nodes}
    assert by_kind["identifier"].bits is None
    assert by_kind["identifier"].bits_per_byte is None
    assert by_kind["module"].bits == pytest.approx(1)
    assert found.bits_per_byte == pytest.approx(1 / 5)
    assert confidence(Document("ab"), scores_of("ab", [], [math.nan])).bits_per_byte is None
