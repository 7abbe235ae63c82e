"""Embeddings by exported models: hidden states pooled to one vector per text. Only in the child process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.base import Progress
from counterlens.models.local.pooling import Pooling, pooled
from counterlens.models.onnx.export import POOLING, Export, Reading
from counterlens.models.onnx.session import Session
from counterlens.models.onnx.tokenizer import ExportTokenizer

_POOLINGS = {
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_cls_token": Pooling.FIRST,
    "pooling_mode_lasttoken": Pooling.LAST,
}


def pooling_of(export: Export, reading: Reading) -> Pooling:
    """The pooling of an export.

    As the export says; else the state of the first token (`[CLS]`) for a model that reads both sides, as in
    Ahmed et al. 2024, and the mean for a completion model.
    """
    said = export.settings(POOLING)
    for name, pooling in _POOLINGS.items():
        if said.get(name):
            return pooling
    return Pooling.FIRST if reading is Reading.MASKED else Pooling.MEAN


class ExportEmbedder:
    """Embeds texts with one export, one by one, so that a vector depends on its text alone.

    Args:
        session: Its graph, with hidden states as an output.
        tokenizer: Its tokenizer.
        pooling: How a text's states become one vector.
        context: Number of tokens that the window holds.
    """

    def __init__(self, session: Session, tokenizer: ExportTokenizer, pooling: Pooling, context: int) -> None:
        self._session, self._tokenizer, self._pooling, self._context = session, tokenizer, pooling, context

    def embed(self, texts: Sequence[bytes], progress: Progress) -> npt.NDArray[np.float32]:
        """The vectors of texts, (n, dimensions), with the lengths that the model gives.

        Raises:
            Cancelled, ModelError: as `Session.run`; or a text does not fit into the model's window.
        """
        vectors = []
        before, after = self._tokenizer.around
        for number, text in enumerate(texts):
            progress(number, len(texts))
            tokens = [*before, *self._tokenizer.tokenize(text), *after]
            if len(tokens) > self._context:
                raise ModelError(
                    f"a text of {len(tokens)} tokens does not fit into the model's window of {self._context}",
                    "Choose a smaller function, or a model with a larger context",
                )
            if not tokens:
                raise ModelError("a text without tokens has no embedding")
            states, _ = self._session.run(np.array([tokens], np.int64), output=self._session.hidden or "")
            vectors.append(pooled(states[0], self._pooling))
        return np.array(vectors, np.float32)
