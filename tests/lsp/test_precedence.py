"""What someone waits for interrupts what a local model is asked in the background, which is asked again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import Any

import numpy as np
import pytest

from counterlens.errors import Cancelled
from counterlens.lsp.model_host import BackgroundModel, ForegroundModel, Precedence
from counterlens.models.base import Completion, Model, ModelInfo, Prompt, TokenScores

NOTHING = np.zeros(0)


class OneAtATime(Model):
    """Answers one request at a time, as a child process does; scoring takes until `may_end` is set."""

    def __init__(self) -> None:
        self.began, self.may_end, self.done = Event(), Event(), list[str]()
        self._turn = Lock()

    @property
    def info(self) -> ModelInfo:
        raise NotImplementedError

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        with self._turn:
            self.done.append("completed")
            return [Completion("", "stop", 0) for _ in prompts]

    def score(self, text: str, *, cancel: Event | None = None, **_options: Any) -> TokenScores:
        with self._turn:
            self.began.set()
            while not self.may_end.wait(0.001):
                if cancel is not None and cancel.is_set():
                    raise Cancelled
            self.done.append("scored")
        whole = NOTHING.astype(np.int64)
        return TokenScores(text, whole, whole, NOTHING, NOTHING, whole, NOTHING, (), whole)


@pytest.fixture
def model() -> OneAtATime:
    return OneAtATime()


def test_who_waits_is_answered_first_and_the_background_asks_again(model: OneAtATime) -> None:
    precedence = Precedence()
    asked, background = ForegroundModel(model, precedence), BackgroundModel(model, precedence)
    with ThreadPoolExecutor(1) as pool:
        scoring = pool.submit(background.score, "a")
        assert model.began.wait(60)
        asked.complete([Prompt("a", 1)])
        assert model.done == ["completed"]
        model.may_end.set()
        scoring.result(60)
    assert model.done == ["completed", "scored"]


def test_the_background_waits_while_someone_else_does(model: OneAtATime) -> None:
    precedence = Precedence()
    model.may_end.set()
    with ThreadPoolExecutor(1) as pool:
        with precedence.take():
            scoring = pool.submit(BackgroundModel(model, precedence).score, "a")
            time.sleep(0.02)
            assert not model.done
        scoring.result(60)
    assert model.done == ["scored"]


@pytest.mark.parametrize("waiting", [True, False])
def test_what_is_given_up_in_the_background_stays_so(model: OneAtATime, waiting: bool) -> None:
    precedence, cancel = Precedence(), Event()
    with ThreadPoolExecutor(1) as pool:
        scoring = pool.submit(BackgroundModel(model, precedence).score, "a", cancel=cancel)
        assert model.began.wait(60)
        if waiting:
            with precedence.take():
                cancel.set()
                with pytest.raises(Cancelled):
                    scoring.result(60)
        else:
            cancel.set()
            with pytest.raises(Cancelled):
                scoring.result(60)
    assert not model.done
