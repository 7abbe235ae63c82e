"""Confidence on a document, from a model that may or may not give probabilities."""

from __future__ import annotations

from threading import Event

from counterlens.confidence.aggregate import Confidence, confidence
from counterlens.confidence.scoring import score_document
from counterlens.errors import ModelError
from counterlens.models.base import Capability, Model
from counterlens.progress import ProgressCallback
from counterlens.syntax.document import Document


def measure(
    model: Model,
    document: Document,
    *,
    span: tuple[int, int] | None = None,
    cancel: Event | None = None,
    progress: ProgressCallback,
) -> Confidence:
    """Score a document and aggregate the scores.

    Args:
        model: The model.
        document: The source.
        span: Only what this byte range lies in is scored.
        cancel: Set it to give up.
        progress: Called with the share that is scored.

    Raises:
        ModelError: the model gives no token probabilities, or failed.
        SourceError: the document cannot be scored.
        Cancelled: `cancel` was set.
    """
    if not model.offers(Capability.SCORE, cancel=cancel):
        raise ModelError(f"{model.info.name} gives no token probabilities, so its confidence is unknown")
    scores = score_document(
        model,
        document,
        span=span,
        cancel=cancel,
        progress=lambda done, total: progress("scoring", done, total),
    )
    return confidence(document, scores)
