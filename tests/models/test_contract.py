"""The contract of every back end: spans that tile the text, repeatable answers, cancelling, death.

The remote one is llama.cpp's own server, which is made to generate the text.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np
import pytest

from counterlens.errors import Cancelled, ModelError
from counterlens.models import load
from counterlens.models.base import Capability, Model, Prompt, Stop
from counterlens.models.local.model import LocalModel
from counterlens.models.remote.client import Retries
from counterlens.models.remote.model import RemoteModel
from tests.conftest import ModelServer, free_port, llama_server, short_model
from tests.models.onnx.exporting import export
from tests.models.remote.scoring.remembered import Remembered

TEXTS = ("x", "\n", "def f(x):\n    return x\n", "s = 'é∂😀'\r\n\tx  =  1  ", "x = '\ud800'\n")


LONG = "".join(f"x{i} = {i}\n" for i in range(1500))
EXPORTS = ("onnx", "onnx with past", "onnx masked")
SERVER = "llama-server"


class Served(RemoteModel):
    """A model at a server that can be killed and started again, at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.serving = ExitStack()
        server = self.start()
        super().__init__(
            server.base_url,
            server.model,
            memory=Remembered(folder),
            retries=Retries(0),
            allow_unlisted=True,
        )

    def start(self) -> ModelServer:
        running = llama_server(self.folder, port=self.port, file=str(short_model(endless=True)))
        server = self.serving.enter_context(running)
        self.pid = server.pid
        return server

    def close(self) -> None:
        super().close()
        self.serving.close()


@pytest.fixture(scope="module", params=["llama.cpp", *EXPORTS, SERVER])
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Model]:
    if request.param == "llama.cpp":
        yield request.getfixturevalue("model")
        return
    folder = tmp_path_factory.mktemp("backend")
    if request.param == SERVER:
        with Served(folder) as model:
            yield model
        return
    masked = request.param == "onnx masked"
    exported = export(folder, causal=not masked, past=request.param == "onnx with past", hidden=True)
    with load(exported.spec) as model:
        yield model


@pytest.mark.parametrize("text", TEXTS[:-1])
@pytest.mark.parametrize("context", ["", "import os"])
def test_tokens_tile_the_text(backend: Model, text: str, context: str) -> None:
    scores = backend.score(text, context=context, alternatives=3)
    assert scores.text == text
    assert scores.start.tolist() == [0, *scores.end[:-1].tolist()]
    assert scores.end[-1] == len(text.encode())
    scored = ~np.isnan(scores.logprob)
    assert scored[1:].all()
    assert (scores.logprob[scored] <= 0).all()
    if isinstance(backend, RemoteModel):  # no server sends whole distributions
        assert np.isnan(scores.entropy).all()
    else:
        assert (scores.entropy[scored] >= 0).all()
    best = scores.alternative_logprob[scored]
    assert best.shape == (scored.sum(), 3) or not scored.any()  # a server lists what it can
    assert (np.diff(best, axis=1) <= 0).all()
    assert ((scores.rank[scored] == 0) == (best[:, :1].ravel() <= scores.logprob[scored] + 1e-9)).all()


def test_nothing_has_no_scores_and_half_a_character_is_no_failure(backend: Model) -> None:
    assert len(backend.score("")) == 0
    assert len(backend.score("", context="x = 1")) == 0
    with suppress(ModelError):  # what a tokenizer does not give back is refused
        assert backend.score(TEXTS[-1]).end[-1] == len(TEXTS[-1].encode("utf-8", "surrogatepass"))


def test_the_same_question_has_the_same_answer(backend: Model) -> None:
    first = backend.score(TEXTS[2])
    backend.score("import os\n")
    assert backend.score(TEXTS[2]).logprob[1:].tolist() == first.logprob[1:].tolist()
    together = backend.score_continuations("x =", [" 1", " x"], alternatives=0)
    assert [scores.text for scores in together] == [" 1", " x"]
    assert backend.score_continuations("x =", []) == []
    if backend.offers(Capability.EMBED):
        vectors = backend.embed(["x", "def f(x):", "x"])
        assert vectors[0].tolist() == vectors[2].tolist()
        assert backend.embed([]).shape[0] == 0


@pytest.mark.parametrize("backend", [*EXPORTS, SERVER], indirect=True)  # llama/ has its own, of exact ones
def test_a_completion_follows_its_prompt_and_keeps_its_limits(backend: Model) -> None:
    if not backend.offers(Capability.COMPLETE):
        with pytest.raises(ModelError):
            backend.complete([Prompt("x", 4)])
        return
    assert backend.complete([]) == []
    prompts = [Prompt("def f(x):\n    retu", 6, Stop(indent=0)), Prompt("x = ", 3)]
    answers = backend.complete(prompts)
    assert [answer.tokens for answer in answers][1] == 3
    assert backend.complete(prompts) == answers
    with pytest.raises(ModelError, match="empty prompt"):
        backend.complete([Prompt("", 4)])


def test_a_request_is_withdrawn_before_and_within(backend: Model) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        backend.score(TEXTS[2], cancel=cancel)
    cancel.clear()
    with pytest.raises(Cancelled):
        backend.score(LONG, cancel=cancel, progress=lambda *_: cancel.set())
    assert len(backend.score("x = 1"))


@pytest.mark.parametrize("backend", [*EXPORTS, SERVER], indirect=True)  # llama/ has its own
def test_what_is_killed_in_the_middle_answers_again_once_it_is_started(backend: Model) -> None:
    expected = backend.score("x = 1\n").logprob[1:].tolist()
    assert isinstance(backend, LocalModel | Served)
    killed = backend.pid
    assert killed is not None
    with pytest.raises(ModelError):
        backend.score(LONG, progress=lambda *_: os.kill(killed, signal.SIGKILL))
    if isinstance(backend, Served):
        backend.start()  # nobody else does; a child process starts again with the next request
    assert backend.score("x = 1\n").logprob[1:].tolist() == expected
