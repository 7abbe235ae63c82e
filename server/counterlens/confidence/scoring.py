"""Scoring a document: what the model is shown of it, and how its answer gets back to the document's bytes."""

from __future__ import annotations

from dataclasses import replace
from threading import Event

import numpy as np

from counterlens.errors import SourceError
from counterlens.models.base import Model, Progress, TokenScores
from counterlens.syntax.document import Document

MAX_BYTES = 65_536
"""Longer documents are refused by default: at a few hundred tokens a second they take minutes."""


def score_document(
    model: Model,
    document: Document,
    *,
    alternatives: int = 5,
    max_bytes: int = MAX_BYTES,
    cancel: Event | None = None,
    progress: Progress | None = None,
) -> TokenScores:
    r"""Score every token of a document, in byte offsets of the document.

    Models have hardly seen `\r\n`, so they are shown `\n`; the offsets are those of the document as it is.

    Raises:
        SourceError: the document is longer than `max_bytes`.
        ModelError, Cancelled: as `Model.score`.
    """
    size = len(document.data)
    if size > max_bytes:
        raise SourceError(
            f"{document.path or 'the text'} has {size:,} bytes, and scoring is limited to {max_bytes:,}",
            "Raise the limit if you can wait: a small local model reads about 1 kB a second",
        )
    unix = document.text.replace("\r\n", "\n")
    scores = model.score(unix, alternatives=alternatives, cancel=cancel, progress=progress)
    if len(unix) == len(document.text):
        return scores
    dropped = _dropped_returns(document.data)
    return replace(
        scores,
        text=document.text,
        start=scores.start + np.searchsorted(dropped, scores.start),
        end=scores.end + np.searchsorted(dropped, scores.end),
    )


def _dropped_returns(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    r"""Where in the text with `\n` the line feeds are that lost their `\r`: sorted byte offsets."""
    raw = np.frombuffer(data, np.uint8)
    returns = np.flatnonzero((raw[:-1] == 13) & (raw[1:] == 10))
    return (returns - np.arange(len(returns))).astype(np.int64)
