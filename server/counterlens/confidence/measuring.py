"""Confidence on a document, from a model that may or may not give probabilities."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from counterlens.confidence.aggregate import Confidence, confidence
from counterlens.confidence.scoring import score_document
from counterlens.errors import ModelError
from counterlens.models.base import Capability, Model
from counterlens.syntax.document import Document


def measure(
    model: Model,
    document: Document,
    *,
    span: tuple[int, int] | None = None,
    cancel: Event | None = None,
    report: Callable[[str, int, int], None],
) -> Confidence:
    """Score a document and aggregate the scores.

    Args:
        model: Who is asked.
        document: The source.
        span: Only what this byte range lies in is scored.
        cancel: Set it to give up.
        report: Called with what is being done, steps done and steps in all.

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
        progress=lambda done, total: report("scoring", done, total),
    )
    return confidence(document, scores)
