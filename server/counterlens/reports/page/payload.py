"""The page's data: offsets in UTF-16 code units, as in its script, and rounded numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.granularity import LABELS, Granularity, level_of, spans
from counterlens.models.base import ModelInfo
from counterlens.reports.wording import uncategorised_note

_DIGITS = 4


def payload(found: Confidence, info: ModelInfo, by: Granularity) -> dict[str, Any]:
    """Plain data for the page.

    Nodes are rows of [kind, category, start, end, parent, confidence, minimum, bits, first token, token after
    the last, level, non-terminal]; tokens are rows of [start, end, probability, rank, alternatives, level];
    spans are rows of [start, end, value, level, node or token]. Kinds and categories are indices into the
    lists `kinds` and `categories`.
    """
    document, scores = found.document, found.scores
    units = _utf16(document.data)
    kinds = sorted({node.kind for node in found.nodes})
    categories = sorted({node.category for node in found.nodes})
    kind_of = {kind: number for number, kind in enumerate(kinds)}
    category_of = {category: number for number, category in enumerate(categories)}
    whole = found.within(0, len(document.data))
    return {
        "name": str(document.path) if document.path else "text",
        "language": document.language,
        "model": info.name,
        "where": info.where,
        "aggregation": found.aggregation,
        "rule": found.rule,
        "confidence": _rounded(whole),
        "bitsPerByte": _rounded(found.bits_per_byte),
        "text": document.text,
        "labels": LABELS,
        "by": by,
        "kinds": kinds,
        "categories": categories,
        "conceptNote": uncategorised_note(document.language, found.concepts),
        "concepts": [[name, _rounded(value), n] for name, (value, n) in found.concepts.items()],
        "nodes": [
            [
                kind_of[node.kind],
                category_of[node.category],
                int(units[node.start]),
                int(units[node.end]),
                node.parent,
                _rounded(node.confidence),
                _rounded(node.minimum),
                None if node.bits is None else round(node.bits, 1),
                *node.tokens,
                None if node.confidence is None else level_of(node.confidence),
                int(i in found.parents),
            ]
            for i, node in enumerate(found.nodes)
        ],
        "tokens": [
            [int(units[start]), int(units[end]), *_token(logprob, rank), options, _level(logprob)]
            for start, end, logprob, rank, options in zip(
                scores.start.tolist(),
                scores.end.tolist(),
                scores.logprob.tolist(),
                scores.rank.tolist(),
                _alternatives(found),
                strict=True,
            )
        ],
        "spans": {
            granularity: [
                [int(units[one.start]), int(units[one.end]), _rounded(one.value), one.level, one.index]
                for one in spans(found, granularity, prose=granularity is Granularity.TOKEN)
            ]
            for granularity in Granularity
        },
    }


def _utf16(data: bytes) -> npt.NDArray[np.int64]:
    """(size + 1,) number of UTF-16 code units that begin before each byte offset."""
    raw = np.frombuffer(data, np.uint8)
    units = np.where(raw & 0xC0 == 0x80, 0, np.where(raw >= 0xF0, 2, 1))
    return np.concatenate([[0], np.cumsum(units)]).astype(np.int64)


def _token(logprob: float, rank: int) -> tuple[float | None, int]:
    return (None if math.isnan(logprob) else _rounded(math.exp(logprob))), rank


def _level(logprob: float) -> int | None:
    return None if math.isnan(logprob) else level_of(math.exp(logprob))


def _alternatives(found: Confidence) -> list[list[list[Any]]]:
    scores = found.scores
    return [
        [
            [text, _rounded(math.exp(logprob))]
            for text, logprob in zip(texts, row, strict=False)
            if not math.isnan(logprob)
        ]
        for texts, row in zip(scores.alternative_text, scores.alternative_logprob.tolist(), strict=True)
    ]


def _rounded(value: float | None) -> float | None:
    """Round to four digits: more would be below the noise of any score, and fewer would lose rare tokens."""
    return None if value is None else float(f"{value:.{_DIGITS}g}")
