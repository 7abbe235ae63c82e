"""Constrains a completion to a grammar (GBNF), with llama.cpp's own sampler."""

from __future__ import annotations

import ctypes

import llama_cpp as llama
import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.llama.native import Engine

_FIRST = 32
"""Candidates tried before the whole vocabulary: one of them nearly always fits."""


class Grammar:
    """The state of one completion in a grammar.

    Args:
        engine: The model whose vocabulary is used.
        text: GBNF; the rule `root` is the whole answer.

    Raises:
        ModelError: the grammar is invalid.
    """

    def __init__(self, engine: Engine, text: str) -> None:
        self._sampler = llama.llama_sampler_init_grammar(engine.vocab, text.encode(), b"root")
        if not self._sampler:
            raise ModelError("llama.cpp cannot read the grammar of the answer")

    def __del__(self) -> None:
        if getattr(self, "_sampler", None):
            llama.llama_sampler_free(self._sampler)

    def choose(self, logits: npt.NDArray[np.float32]) -> int:
        """The most likely allowed token; the end of the text if the answer may be complete.

        Args:
            logits: (v,) float32.

        Raises:
            ModelError: the vocabulary has no allowed token.
        """
        likely = np.argpartition(-logits, _FIRST)[:_FIRST]
        for candidates in (likely, np.arange(len(logits))):
            values = self._allowed(candidates, logits[candidates])
            best = int(np.argmax(values))
            if values[best] > -np.inf:
                return int(candidates[best])
        raise ModelError("the model's vocabulary cannot spell an answer in the requested form")

    def accept(self, token: int) -> None:
        """Advance past a chosen token."""
        llama.llama_sampler_accept(self._sampler, token)

    def _allowed(
        self, tokens: npt.NDArray[np.int64], logits: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """The logits, with -inf for tokens that are not allowed."""
        count = len(tokens)
        data = (llama.llama_token_data * count)()
        raw = np.frombuffer(memoryview(data).cast("B"), _TOKEN)
        raw["id"], raw["logit"], raw["p"] = tokens, logits, 0
        array = llama.llama_token_data_array(data=data, size=count, selected=-1, sorted=False)
        llama.llama_sampler_apply(self._sampler, ctypes.byref(array))
        allowed: npt.NDArray[np.float32] = raw["logit"].copy()
        return allowed


_TOKEN = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
