"""Embeddings: pooled last hidden states, as llama.cpp itself pools them, and each of its text alone."""

from __future__ import annotations

import ctypes
from pathlib import Path

import llama_cpp as llama
import numpy as np
import pytest

from counterlens.errors import ModelError
from counterlens.models import Capability
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.llama.model import LlamaModel
from counterlens.models.llama.native import Engine
from counterlens.models.llama.worker import Embedder
from counterlens.models.local.worker import Pooling, pool
from counterlens.models.wrapped import WrappedModel
from tests.conftest import short_model
from tests.models.llama.shortened import WIDTH

TEXTS = ("def f(x):\n    return x + 1\n", "def g(y):\n    return y + 1\n", "The cat sleeps.")


def own_pooling(text: str) -> np.ndarray:
    """The vector of llama.cpp's own mean pooling."""
    parameters = llama.llama_model_default_params()
    model = llama.llama_model_load_from_file(str(short_model(endless=True)).encode(), parameters)
    options = llama.llama_context_default_params()
    options.n_ctx = options.n_batch = options.n_ubatch = 64
    options.n_threads = options.n_threads_batch = 1
    options.embeddings, options.pooling_type = True, llama.LLAMA_POOLING_TYPE_MEAN
    context = llama.llama_init_from_model(model, options)
    data = text.encode()
    tokens = (ctypes.c_int32 * 64)()
    vocabulary = llama.llama_model_get_vocab(model)
    count = llama.llama_tokenize(vocabulary, data, len(data), tokens, 64, True, False)
    assert llama.llama_decode(context, llama.llama_batch_get_one(tokens, count)) == 0
    width = llama.llama_model_n_embd(model)
    found = np.ctypeslib.as_array(llama.llama_get_embeddings_seq(context, 0), (width,)).copy()
    llama.llama_free(context)
    llama.llama_model_free(model)
    return found


def test_a_text_is_the_mean_of_its_states_as_llama_cpp_pools_them(model: LlamaModel) -> None:
    ours = model.embed(TEXTS)
    assert Capability.EMBED in model.info.capabilities
    assert ours.shape == (3, WIDTH)
    np.testing.assert_allclose(ours[0], own_pooling(TEXTS[0]), rtol=1e-3, atol=1e-3)
    unit = ours / np.linalg.norm(ours, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2]


def test_a_vector_depends_on_its_text_alone(model: LlamaModel) -> None:
    together, alone = model.embed(TEXTS), model.embed(TEXTS[1:2])
    np.testing.assert_array_equal(together[1], alone[0])
    assert model.embed([]).shape[0] == 0


def test_vectors_are_kept_text_by_text(model: LlamaModel, tmp_path: Path) -> None:
    asked: list[int] = []

    class Counting(WrappedModel):
        def embed(self, texts: list[str], **_: object) -> np.ndarray:
            asked.append(len(texts))
            return model.embed(texts)

    cached = CachedModel(Counting(model), AnswerStore(tmp_path / "a.sqlite"))
    first = cached.embed(TEXTS[:1])
    again = cached.embed(TEXTS[:2])
    np.testing.assert_array_equal(first[0], again[0])
    assert asked == [1, 1]


def test_a_long_text_is_read_in_groups_and_one_that_does_not_fit_is_refused() -> None:
    engine = Engine(short_model(endless=True), threads=1, context=64)
    embedder = Embedder(engine)
    text = b"x = 1\n" * 12
    whole = embedder.embed([text], lambda _done, _total: None)
    engine.chunk = 16
    np.testing.assert_allclose(embedder.embed([text], lambda _d, _t: None), whole, rtol=0.05, atol=0.5)
    with pytest.raises(ModelError, match="does not fit"):
        embedder.embed([text * 3], lambda _done, _total: None)
    with pytest.raises(ModelError, match="without tokens"):
        embedder.embed([b""], lambda _done, _total: None)


def test_pooling_is_that_of_the_model() -> None:
    states = np.array([[1.0, 0.0], [3.0, 4.0]], np.float32)
    assert pool(states, Pooling.MEAN).tolist() == [2.0, 2.0]
    assert pool(states, Pooling.FIRST).tolist() == [1.0, 0.0]
    assert pool(states, Pooling.LAST).tolist() == [3.0, 4.0]
