"""Token probabilities from real servers, beside the local model's own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from counterlens.errors import Cancelled, ModelError
from counterlens.models.base import Capability, TokenScores
from counterlens.models.llama.model import LlamaModel
from counterlens.models.remote.model import RemoteModel
from counterlens.models.remote.scoring.scorer import Memory
from tests.conftest import ModelServer, llama_cpp_server, llama_server, short_model
from tests.models.remote.scoring.remembered import Remembered

TEXT = '''def count_even(numbers):
    """Return how many are even."""
    return sum(n % 2 == 0 for n in numbers)
'''


@pytest.fixture(scope="module")
def echo_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """llama-cpp-python's server, keeping the logits of all tokens, which its echo needs."""
    folder = tmp_path_factory.mktemp("echo-server")
    with llama_cpp_server(folder, "--n_ctx", "256", "--logits_all", "true") as server:
        yield server


@pytest.fixture(scope="module", name="llama_server")
def _llama_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    with llama_server(tmp_path_factory.mktemp("llama-server")) as server:
        yield server


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "abilities.json")


def check_agreement(remote: TokenScores, local: TokenScores) -> None:
    """Equal tokens; values that differ by what batching and rounding cause, which a shift would exceed."""
    assert remote.text == local.text
    assert remote.start.tolist() == local.start.tolist()
    assert remote.end.tolist() == local.end.tolist()
    assert remote.context.tolist() == local.context.tolist()
    known = ~np.isnan(local.logprob)
    assert (np.isnan(remote.logprob) == ~known).all()
    assert np.corrcoef(remote.logprob[known], local.logprob[known])[0, 1] >= 0.99
    assert np.abs(remote.logprob[known] - local.logprob[known]).mean() < 0.12
    assert np.corrcoef(remote.logprob[known][1:], local.logprob[known][:-1])[0, 1] < 0.9
    best = [row[0] if row else None for row in remote.alternative_text]
    expected = [row[0] if row else None for row in local.alternative_text]
    assert np.mean([one == other for one, other in zip(best, expected, strict=True)]) > 0.85


def test_an_echo_that_is_off_by_one_is_found_and_corrected(
    echo_server: ModelServer, embedded: LlamaModel, memory: Memory
) -> None:
    seen: list[tuple[int, int]] = []
    with RemoteModel(echo_server.base_url, echo_server.model, memory=memory) as remote:
        assert Capability.SCORE not in remote.info.capabilities  # nobody asked yet
        scores = remote.score(TEXT, progress=lambda *step: seen.append(step))
        assert Capability.SCORE in remote.info.capabilities
        assert ("probabilities", "echo, shift corrected") in remote.info.details
        with pytest.raises(ModelError, match="part of a character"):
            remote.score("x = '😀'")
    check_agreement(scores, embedded.score(TEXT))
    assert seen[-1] == (len(scores), len(scores))
    with RemoteModel(echo_server.base_url, echo_server.model, memory=memory) as again:
        assert Capability.SCORE in again.info.capabilities  # remembered


def test_llama_server_is_made_to_generate_the_text(
    llama_server: ModelServer, embedded: LlamaModel, memory: Memory
) -> None:
    text = "# naïve → 😀 漢\n" + TEXT
    url = llama_server.base_url
    with RemoteModel(url, "smollm2", memory=memory, allow_unlisted=True) as remote:
        assert remote.offers(Capability.SCORE)
        assert ("probabilities", "llama_server") in remote.info.details
        check_agreement(remote.score(text), embedded.score(text))
        after = remote.score("\n\n" + TEXT, context="import math")
        expected = embedded.score("\n\n" + TEXT, context="import math")
        assert after.end[-1] == expected.end[-1]
        assert not np.isnan(after.logprob[0])
        assert after.logprob[5:].mean() == pytest.approx(expected.logprob[-len(after) + 5 :].mean(), abs=0.3)


def test_a_text_beyond_the_context_is_read_in_windows(model: LlamaModel, tmp_path: Path) -> None:
    text = "".join(f"a{n} = {n}\n" for n in range(38))
    with (
        llama_server(tmp_path, file=str(short_model(endless=True))) as server,
        RemoteModel(
            server.base_url, server.model, memory=Remembered(tmp_path), allow_unlisted=True
        ) as remote,
    ):
        scores = remote.score(text, alternatives=1)
    local = model.score(text)
    assert len(local) > 256
    assert scores.end.tolist() == local.end.tolist()
    assert scores.context.max() < 256
    assert scores.context[256:].min() >= 120
    assert np.corrcoef(scores.logprob[1:], local.logprob[1:])[0, 1] > 0.9


def test_scoring_is_cancelled_in_the_middle(llama_server: ModelServer, memory: Memory) -> None:
    cancel, seen = threading.Event(), list[tuple[int, int]]()

    def note(done: int, total: int) -> None:
        seen.append((done, total))
        cancel.set()

    with RemoteModel(llama_server.base_url, "smollm2", memory=memory, allow_unlisted=True) as remote:
        assert remote.offers(Capability.SCORE)
        with pytest.raises(Cancelled):
            remote.score("x = 1\n" * 1000, progress=note, cancel=cancel)
    assert all(done < total / 2 for done, total in seen), seen


def test_a_server_that_keeps_no_logits_says_so(tmp_path: Path, memory: Memory) -> None:
    options = ("--n_ctx", "256", "--logits_all", "false")
    with (
        llama_cpp_server(tmp_path, *options, file=str(short_model(endless=True))) as server,
        RemoteModel(server.base_url, server.model, memory=memory) as remote,
    ):
        assert not remote.offers(Capability.SCORE)
        assert remote.info.capabilities == {Capability.COMPLETE, Capability.SAMPLE}
        assert ("probabilities", "generation only") in remote.info.details
        with pytest.raises(ModelError, match="no token probabilities") as failure:
            remote.score(TEXT)
    assert "logits_all" in failure.value.message
    assert "local model" in (failure.value.hint or "")
