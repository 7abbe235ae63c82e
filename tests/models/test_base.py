"""A model of a few lines: what it does not say, it inherits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from counterlens.errors import ModelError
from counterlens.models.base import (
    Api,
    Capability,
    Completion,
    Model,
    ModelInfo,
    Prompt,
    TokenScores,
)
from counterlens.models.wrapped import WrappedModel


class Echo(Model):
    """Repeats what it is given."""

    info = ModelInfo("echo", "Echo", "echo-1", "local", frozenset({Capability.COMPLETE}))

    def complete(self, prompts: Sequence[Prompt], **_options: Any) -> list[Completion]:
        return [Completion(prompt.text, "stop", 1) for prompt in prompts]


class Lengths(Echo):
    """Finds a text the less likely the longer it and its context are."""

    info = ModelInfo("l", "Lengths", "l-1", "local", frozenset({Capability.COMPLETE, Capability.SCORE}))

    def score(self, text: str, *, context: str = "", alternatives: int = 5, **_options: Any) -> TokenScores:
        value = np.array([-float(len(context + text))])
        none = np.empty((1, alternatives))
        zero = np.zeros(1, np.int64)
        return TokenScores(text, zero, np.array([len(text)]), value, value, zero, none, ((),), zero)


def test_a_model_is_its_identity_and_its_completions() -> None:
    with Echo() as model:
        assert model.complete([Prompt("x = 1")])[0].text == "x = 1"
        assert model.offers(Capability.COMPLETE)
        assert not model.offers(Capability.SCORE, retest=True)
        with pytest.raises(ModelError, match="Echo returns no token probabilities"):
            model.score("x")
        with pytest.raises(ModelError, match="Echo returns no token probabilities"):
            model.score_continuations("x", ["y"])
        with pytest.raises(ModelError, match="Echo returns no embeddings"):
            model.embed(["x"])


def test_a_model_without_completions_is_none() -> None:
    class Nothing(Model):
        info = Echo.info

    with pytest.raises(TypeError, match="complete"):
        Nothing()  # type: ignore[abstract]


def test_continuations_are_scored_one_after_the_other() -> None:
    steps: list[tuple[int, int]] = []
    scores = Lengths().score_continuations(
        "ab", ["c", "", "def"], alternatives=2, progress=lambda *step: steps.append(step)
    )
    assert [score.logprob.tolist() for score in scores] == [[-3.0], [-2.0], [-5.0]]
    assert [score.text for score in scores] == ["c", "", "def"]
    assert scores[0].alternative_logprob.shape == (1, 2)
    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_a_wrapped_model_passes_everything_on() -> None:
    closed: list[bool] = []

    class Closing(Lengths):
        def close(self) -> None:
            closed.append(True)

    with WrappedModel(Closing()) as model:
        assert model.info is Lengths.info
        assert model.offers(Capability.SCORE)
        assert model.complete([Prompt("x")])[0].text == "x"
        assert model.score("x", context="y").logprob.tolist() == [-2.0]
        assert len(model.score_continuations("y", ["a", "b"])) == 2
        with pytest.raises(ModelError, match="no embeddings"):
            model.embed(["x"])
    assert closed == [True]


def test_an_api_is_named_by_the_user() -> None:
    assert Api.named("chat") is Api.CHAT
    with pytest.raises(ModelError, match="there is no API 'telepathy'") as failure:
        Api.named("telepathy")
    assert failure.value.hint == "Choose one of: completions, fill, chat"
