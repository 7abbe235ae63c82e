"""The child process may die, hang or be cancelled; the parent says so and goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from counterlens.errors import ModelError, ModelProcessDiedError
from counterlens.models import load
from counterlens.models.base import Prompt
from counterlens.models.files import embedded_model
from counterlens.models.llama.model import LlamaModel
from tests.conftest import short_model


def test_a_killed_child_is_a_clear_error_and_the_next_request_works() -> None:
    with load(str(short_model(endless=True))) as model:
        assert isinstance(model, LlamaModel)
        first = model.pid
        assert first is not None
        threading.Timer(0.5, os.kill, (first, signal.SIGKILL)).start()
        with pytest.raises(ModelProcessDiedError, match="signal 9") as caught:
            model.score("\n".join(f"a{i} = b{i} + {i}" for i in range(2000)))
        assert "next request starts it again" in str(caught.value)
        (answer,) = model.complete([Prompt("def add(a, b):\n    return", 8)])
        assert answer.text
        assert model.pid not in (None, first)


def test_a_child_killed_between_requests_is_replaced_in_silence() -> None:
    with load(str(short_model(endless=True))) as model:
        assert isinstance(model, LlamaModel)
        first = model.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        psutil.wait_procs([psutil.Process(first)] if psutil.pid_exists(first) else [])
        assert model.complete([Prompt("x = ", 4)])[0].tokens == 4


def test_requests_from_many_threads_all_get_their_own_answer() -> None:
    with load(str(short_model(endless=True))) as model:
        texts = [f"value = {i}\nprint(value)\n" for i in range(6)]
        ends = [0] * len(texts)

        def ask(i: int) -> None:
            ends[i] = int(model.score(texts[i] * (i + 1)).end[-1])

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(texts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ends == [len(text) * (i + 1) for i, text in enumerate(texts)]


def test_a_closed_model_answers_nothing() -> None:
    model = load(str(short_model(endless=True)))
    model.close()
    with pytest.raises(ModelError, match="closed"):
        model.score("x")


def test_the_child_ends_with_its_parent() -> None:
    program = (
        "import os, sys\nfrom counterlens.models import load\n"
        "model = load(sys.argv[1])\nprint(model.pid, flush=True)\nos._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(short_model(endless=True))],
        capture_output=True,
        text=True,
        check=True,
    )
    child = int(done.stdout)
    deadline = time.monotonic() + 120
    while psutil.pid_exists(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(child)


def test_bad_model_files_are_named_and_explained(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no model file"):
        load(str(tmp_path / "missing.gguf"))
    (tmp_path / "text.gguf").write_text("hello, I am no model")
    with pytest.raises(ModelError, match="is not a GGUF file"):
        load(str(tmp_path / "text.gguf"))
    with pytest.raises(ModelError, match="is a folder"):
        load(str(tmp_path) + "/")
    with pytest.raises(ModelError, match="there is no model 'gpt-9'"):
        load("gpt-9")
    with embedded_model().open("rb") as file:
        (tmp_path / "half.gguf").write_bytes(file.read(30_000_000))
    with pytest.raises(ModelError, match=r"cannot load half\.gguf"):
        load(str(tmp_path / "half.gguf"))
    (tmp_path / "head.gguf").write_bytes(b"GGUF\x03")
    with pytest.raises(ModelError, match="truncated"):
        load(str(tmp_path / "head.gguf"))


def test_a_hub_model_without_a_network_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match="does not name a model file"):
        load("hf:owner/file.gguf")
    with pytest.raises(ModelError, match="not on this machine yet"):
        load("hf:owner/repo/file.gguf")
