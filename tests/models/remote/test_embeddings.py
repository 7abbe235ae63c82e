"""Embeddings of real servers: llama-cpp-python's, llama.cpp's own, and what servers say that have none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from counterlens.errors import ModelError
from counterlens.models import Capability
from counterlens.models.llama.model import LlamaModel
from counterlens.models.remote.model import RemoteModel
from tests.conftest import ModelServer, llama_cpp_server, llama_server, short_model
from tests.models.remote.conftest import Serve

TEXTS = ("def f(x):\n    return x + 1\n", "The cat sleeps.")


@pytest.fixture(scope="module")
def python_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    folder = tmp_path_factory.mktemp("embedding-server")
    with llama_cpp_server(
        folder, "--n_ctx", "256", "--embedding", "true", file=str(short_model(endless=True))
    ) as server:
        yield server


@pytest.fixture(scope="module", name="llama_server")
def _llama_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    with llama_server(
        tmp_path_factory.mktemp("llama-server"), "--embeddings", file=str(short_model(endless=True))
    ) as server:
        yield server


def alike(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize("name", ["python_server", "llama_server"])
def test_a_server_embeds_as_the_model_does_here(
    name: str, request: pytest.FixtureRequest, model: LlamaModel
) -> None:
    server: ModelServer = request.getfixturevalue(name)
    here = model.embed(TEXTS)
    with RemoteModel(server.base_url, server.model, allow_unlisted=True) as remote:
        assert Capability.EMBED not in remote.info.capabilities  # nobody asked yet
        assert remote.offers(Capability.EMBED)
        assert Capability.EMBED in remote.info.capabilities
        steps: list[tuple[int, int]] = []
        there = remote.embed(TEXTS, progress=lambda done, total: steps.append((done, total)))
        assert there.shape == here.shape
        assert steps == [(1, 2), (2, 2)]
        for ours, theirs in zip(here, there, strict=True):
            assert alike(ours, theirs) > 0.99
        assert alike(there[0], there[1]) < 0.95


def vector(value: object) -> dict[str, object]:
    return {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": value}]}


def test_a_server_without_embeddings_offers_none(serve: Serve) -> None:
    refusal = {"error": {"code": 501, "message": "This server does not support embeddings."}}
    script = serve(lambda handler: handler.reply(501, refusal))
    with RemoteModel(script.url, "m") as remote:
        assert not remote.offers(Capability.EMBED)
        assert not remote.offers(Capability.EMBED)
        assert len(script.requests) == 1
        with pytest.raises(ModelError, match="does not support embeddings"):
            remote.embed(["x"])


def test_vectors_of_tokens_are_averaged_and_what_is_no_vector_is_refused(serve: Serve) -> None:
    script = serve(
        lambda handler: handler.reply(200, vector([[1.0, 0.0], [3.0, 4.0]])),
        lambda handler: handler.reply(200, vector("AAAA")),
    )
    with RemoteModel(script.url, "m") as remote:
        assert remote.embed(["x"]).tolist() == [[2.0, 2.0]]
        assert script.requests[0][1] == {"model": "m", "input": "x", "encoding_format": "float"}
        with pytest.raises(ModelError, match="without an embedding"):
            remote.embed(["y"])
