"""The child process of ONNX Runtime: `python -m counterlens.child counterlens.models.onnx.worker PARENT`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from counterlens.errors import ModelError
from counterlens.models.base import Capability, Progress
from counterlens.models.local.messages import (
    Embed,
    Failed,
    Score,
    ScoreContinuations,
    Scored,
    ScoreSpan,
)
from counterlens.models.local.scoring import Scorer
from counterlens.models.local.worker import Pooling, Worker, pool, serve
from counterlens.models.onnx.export import POOLING, Export, Reading
from counterlens.models.onnx.masked import MaskedScorer
from counterlens.models.onnx.protocol import OpenedExport, OpenExport
from counterlens.models.onnx.session import ExportEngine, Session, reads_forward
from counterlens.models.onnx.tokenizer import ExportTokenizer

_POOLINGS = {
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_cls_token": Pooling.FIRST,
    "pooling_mode_lasttoken": Pooling.LAST,
}


class ExportWorker(Worker):
    """Handles requests with ONNX Runtime."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        super().__init__(requests, answers)
        self._scorer: Scorer | MaskedScorer | None = None
        self._embedder: ExportEmbedder | None = None

    def answer(self, number: int, request: Any, progress: Progress) -> Any:
        del number  # each is answered before the next one
        if isinstance(request, OpenExport):
            return self._open(request)
        if isinstance(request, Score):
            return self._score(request.text, request.context, request.alternatives, progress)
        if isinstance(request, ScoreSpan) and isinstance(self._scorer, MaskedScorer):
            return self._scorer.score_span(request.text, request.start, request.end, request.alternatives)
        if isinstance(request, ScoreContinuations):
            return self._continuations(request, progress)
        if isinstance(request, Embed) and self._embedder:
            return self._embedder.embed(request.texts, progress)
        return Failed("this model cannot do that")

    def _score(self, text: bytes, context: bytes, alternatives: int, progress: Progress) -> Scored:
        if self._scorer is None:
            raise ModelError("this model returns no token probabilities")
        return self._scorer.score(text, context, alternatives, progress)

    def _continuations(self, request: ScoreContinuations, progress: Progress) -> list[Scored]:
        scored = []
        for text in request.continuations:
            scored.append(self._score(text, request.context, request.alternatives, lambda *_: None))
            progress(len(scored), len(request.continuations))
        return scored

    def _open(self, request: OpenExport) -> OpenedExport:
        export = request.export
        session = Session(export.weights, request.threads)
        self.cancelled = session.cancelled
        tokenizer = ExportTokenizer(export.folder / "tokenizer.json")
        reading = _reading(export, session, tokenizer)
        context = min(request.context, export.window or request.context)
        offered: set[Capability] = set()
        if session.has_logits:
            engine = ExportEngine(export, session, tokenizer, context)
            context = engine.context
            offered |= {Capability.SCORE} | ({Capability.MASKED} if reading is Reading.MASKED else set())
            if reading is Reading.CAUSAL:
                self._scorer = Scorer(engine)
            elif tokenizer.mask is not None:
                self._scorer = MaskedScorer(engine, tokenizer.mask, request.masking)
            else:
                raise ModelError(f"the vocabulary of {export.folder.name} has no token for a mask")
        if session.hidden:
            self._embedder = ExportEmbedder(session, tokenizer, pooling_of(export, reading), context)
            offered |= {Capability.EMBED}
        if not offered:
            raise ModelError(
                f"{export.weights.name} returns neither logits nor hidden states",
                "Export it with --task text-generation-with-past, fill-mask or feature-extraction",
            )
        return OpenedExport(
            reading,
            frozenset(offered),
            context,
            bool(session.past),
            session.provider,
            onnxruntime.__version__,
        )


def _reading(export: Export, session: Session, tokenizer: ExportTokenizer) -> Reading:
    """The reading direction of a model: by its architecture, or by its cache and its vocabulary.

    Raises:
        ModelError: its architecture reads forward, but the model does not.
    """
    named = export.reading
    if session.past:
        named = Reading.CAUSAL
    elif named is None:
        masks = tokenizer.mask is not None or not session.has_logits
        named = Reading.MASKED if masks else Reading.CAUSAL
    if named is Reading.CAUSAL and session.has_logits and not reads_forward(session, tokenizer):
        raise ModelError(
            f"{export.folder.name} should be a causal model ({export.architecture}), but the tokens after a "
            f"position change its prediction there",
            "Export it for the task that it was trained for",
        )
    return named


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
            vectors.append(pool(states[0], self._pooling))
        return np.array(vectors, np.float32)


def main() -> None:
    """Run the child process."""
    serve(ExportWorker)
