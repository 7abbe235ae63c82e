"""Confidence in a document, from a model that may or may not give probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event

from counterlens.confidence.aggregate import Confidence, confidence
from counterlens.confidence.scoring import score_document
from counterlens.confidence.units import units
from counterlens.errors import ModelError, SourceError
from counterlens.models.base import Capability, Model
from counterlens.progress import ProgressCallback, Steps
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function


@dataclass(frozen=True, slots=True)
class FunctionConfidence:
    """Confidence in the definition that contains a function.

    Attributes:
        scored: The confidence; None if it is unknown.
        note: Why it is unknown.
    """

    scored: Confidence | None
    note: str | None = None


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
        span: Byte range; only its units are scored.
        progress: Called with a description of the current step.

    Raises:
        ModelError: the model returns no token probabilities, or failed.
        SourceError: the document cannot be scored.
        Cancelled: `cancel` was set.
    """
    if not model.offers(Capability.SCORE, cancel=cancel):
        raise ModelError(f"{model.info.name} returns no token probabilities, so its confidence is unknown")
    scores = score_document(
        model,
        document,
        span=span,
        cancel=cancel,
        progress=lambda done, total: progress("scoring", done, total),
    )
    return confidence(document, scores)


def measure_function(
    model: Model,
    document: Document,
    qualname: str,
    steps: Steps | None = None,
    *,
    most: int | None = None,
) -> FunctionConfidence:
    """Measure the confidence in the definition that contains a function; a note replaces missing scores.

    A method is scored with its whole class, which may take half a minute.

    Args:
        qualname: Qualified name of the function.
        most: Maximum size of a measured definition, in bytes; None for no limit.

    Raises:
        Cancelled: the user cancelled.
    """
    function, steps = find_function(document, qualname), steps or Steps()
    if most is not None:
        around = [unit for unit in units(document) if unit.start < function.end and function.start < unit.end]
        if sum(unit.end - unit.start for unit in around) > most:
            return FunctionConfidence(None, "not measured yet: it is part of a long definition")
    try:
        if not model.offers(Capability.SCORE, cancel=steps.cancel):
            return FunctionConfidence(None, "unknown: this model returns no token probabilities")
        scores = score_document(
            model,
            document,
            span=(function.start, function.end),
            cancel=steps.cancel,
            progress=lambda done, total: steps.report("measuring confidence", done, total),
        )
    except (ModelError, SourceError) as error:  # the model may still complete what it cannot score
        return FunctionConfidence(None, f"unknown: {error.message}")
    return FunctionConfidence(confidence(document, scores))
