"""A model that answers immediately: some words are likelier, everywhere or after certain others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from counterlens.errors import Cancelled
from counterlens.models.base import Capability, Completion, Model, ModelInfo, Progress, Prompt, TokenScores
from tests.folders import emptied

_WORDS = re.compile(r"\s*(?:\w+|[^\w\s]+)|\s+")
USUAL = -2.0
"""The log-probability of all other words."""


class WordModel(Model):
    """Its tokens are words, operators and brackets, each with the blanks before it.

    Args:
        likes: Log-probabilities of words; the key `a b` is for `b` after `a`.
    """

    def __init__(self, likes: Mapping[str, float]) -> None:
        self.likes = likes
        self.asked: list[str] = []

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("words", "words", "words", "local", frozenset({Capability.SCORE}))

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        cancel: Event | None = None,
        progress: Progress | None = None,
    ) -> list[Completion]:
        """Not supported: the model only scores."""
        raise NotImplementedError

    def score(
        self,
        text: str,
        *,
        context: str = "",
        alternatives: int = 5,
        cancel: Event | None = None,
        progress: Progress | None = None,  # noqa: ARG002 - it answers at once
    ) -> TokenScores:
        """The log-probability of each word."""
        if cancel is not None and cancel.is_set():
            raise Cancelled
        self.asked.append(text)
        words = _WORDS.findall(text)
        ends = np.cumsum([len(word.encode()) for word in words])
        before = [(_WORDS.findall(context) or [""])[-1], *words]
        logprob = [
            self.likes.get(f"{last.strip()} {word.strip()}", self.likes.get(word.strip(), USUAL))
            for last, word in zip(before, words, strict=False)
        ]
        named = [(f" {word}", value) for word, value in self.likes.items() if " " not in word][:alternatives]
        n, k = len(words), len(named)
        return TokenScores(
            text=text,
            start=np.concatenate([[0], ends[:-1]]).astype(np.int64),
            end=ends.astype(np.int64),
            logprob=np.array(logprob, np.float64),
            entropy=np.zeros(n),
            rank=np.zeros(n, np.int64),
            alternative_logprob=np.tile(np.array([value for _, value in named]), (n, 1)).reshape(n, k),
            alternative_text=(tuple(word for word, _ in named),) * n,
            context=np.arange(n, dtype=np.int64),
        )


@pytest.fixture
def tmp_path(common_folder: Path) -> Path:
    """An empty folder, the same one for all tests."""
    return emptied(common_folder)
