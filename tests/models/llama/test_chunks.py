"""How many positions have logits at once: bounded memory for any vocabulary, and still the right scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.models.llama.native import CHUNK, LOGITS_BYTES, Engine, chunk_of
from counterlens.models.local.scoring import Scorer
from tests.conftest import short_model
from tests.models.llama.test_scoring import CODE, independent


@pytest.mark.parametrize(("vocabulary", "chunk"), [(32_000, 128), (49_152, 128), (262_144, 32)])
def test_a_chunk_shrinks_where_the_vocabulary_grows(vocabulary: int, chunk: int) -> None:
    assert chunk_of(vocabulary) == chunk


@given(st.integers(1, 10_000_000))
def test_the_logits_of_a_chunk_are_bounded(vocabulary: int) -> None:
    chunk = chunk_of(vocabulary)
    assert 1 <= chunk <= CHUNK
    assert chunk == 1 or chunk * vocabulary * 4 <= LOGITS_BYTES


def test_a_smaller_chunk_gives_the_scores_of_smaller_groups() -> None:
    engine = Engine(short_model(endless=True), threads=1, context=1024)
    engine.chunk = 32
    text = CODE[:900]
    ours = Scorer(engine).score(text.encode(), b"", 1, lambda _done, _total: None)
    theirs = independent(short_model(endless=True), text, 32)
    np.testing.assert_allclose(ours.logprob[1:], theirs["logprob"], atol=1e-4)
    again = Scorer(engine).score(text.encode(), b"", 1, lambda _done, _total: None)
    np.testing.assert_array_equal(ours.logprob, again.logprob)
