"""A scored document as one self-contained page: the code, its levels, hover details and the tree.

The page loads nothing and may run only its own script, which its content security policy names by hash. Text
from the document or the model is JSON in a block that it cannot leave (it contains no `<`), and the script
creates only text nodes from it.
"""

from __future__ import annotations

import math
import re
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.granularity import LABELS, Granularity, level_of, spans
from counterlens.models.base import ModelInfo
from counterlens.reports.render.html import embed, policy
from counterlens.reports.wording import uncategorised_note
from counterlens.text import escape

_DIGITS = 4

__all__ = ["page"]


def page(confidence: Confidence, info: ModelInfo, by: Granularity = Granularity.STATEMENT) -> str:
    """The page, as one text of ASCII characters.

    Args:
        confidence: The scored document.
        info: The model that scored it.
        by: The granularity of the colours when the page opens.
    """
    template, style, script = (
        files(__package__).joinpath(f"page.{ending}").read_text(encoding="utf-8")
        for ending in ("html", "css", "js")
    )
    name = confidence.document.path.name if confidence.document.path else "text"
    values = {
        "title": escape(f"{name} - Counterlens"),
        "policy": policy([script], [style]),
        "style": style,
        "script": script,
        "data": embed(payload(confidence, info, by)),
    }
    # In one pass, so that a placeholder inside an inserted text is not replaced.
    filled = re.sub(r"\{\{(\w+)\}\}", lambda place: values[place[1]], template)
    return filled.encode("ascii", "xmlcharrefreplace").decode()


def payload(confidence: Confidence, info: ModelInfo, by: Granularity) -> dict[str, Any]:
    """Plain data for the page.

    Nodes are rows of [kind, category, start, end, parent, confidence, minimum, bits, first token, token after
    the last, level, non-terminal]; tokens are rows of [start, end, probability, rank, alternatives, level];
    spans are rows of [start, end, value, level, node or token]. Kinds and categories are indices into the
    lists `kinds` and `categories`.
    """
    document, scores = confidence.document, confidence.scores
    units = _utf16(document.data)
    kinds = sorted({node.kind for node in confidence.nodes})
    categories = sorted({node.category for node in confidence.nodes})
    kind_of = {kind: number for number, kind in enumerate(kinds)}
    category_of = {category: number for number, category in enumerate(categories)}
    whole = confidence.within(0, len(document.data))
    return {
        "name": str(document.path) if document.path else "text",
        "language": document.language,
        "model": info.name,
        "where": info.where,
        "aggregation": confidence.aggregation,
        "rule": confidence.rule,
        "confidence": _round_value(whole),
        "bitsPerByte": _round_value(confidence.bits_per_byte),
        "text": document.text,
        "labels": LABELS,
        "by": by,
        "kinds": kinds,
        "categories": categories,
        "conceptNote": uncategorised_note(document.language, confidence.concepts),
        "concepts": [[name, _round_value(value), n] for name, (value, n) in confidence.concepts.items()],
        "nodes": [
            [
                kind_of[node.kind],
                category_of[node.category],
                int(units[node.start]),
                int(units[node.end]),
                node.parent,
                _round_value(node.confidence),
                _round_value(node.minimum),
                None if node.bits is None else round(node.bits, 1),
                *node.tokens,
                None if node.confidence is None else level_of(node.confidence),
                int(i in confidence.parents),
            ]
            for i, node in enumerate(confidence.nodes)
        ],
        "tokens": [
            [int(units[start]), int(units[end]), *_token(logprob, rank), options, _level(logprob)]
            for start, end, logprob, rank, options in zip(
                scores.start.tolist(),
                scores.end.tolist(),
                scores.logprob.tolist(),
                scores.rank.tolist(),
                _alternatives(confidence),
                strict=True,
            )
        ],
        "spans": {
            granularity: [
                [
                    int(units[span.start]),
                    int(units[span.end]),
                    _round_value(span.value),
                    span.level,
                    span.index,
                ]
                for span in spans(confidence, granularity, prose=granularity is Granularity.TOKEN)
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
    return (None if math.isnan(logprob) else _round_value(math.exp(logprob))), rank


def _level(logprob: float) -> int | None:
    return None if math.isnan(logprob) else level_of(math.exp(logprob))


def _alternatives(confidence: Confidence) -> list[list[list[Any]]]:
    scores = confidence.scores
    return [
        [
            [text, _round_value(math.exp(logprob))]
            for text, logprob in zip(texts, row, strict=False)
            if not math.isnan(logprob)
        ]
        for texts, row in zip(scores.alternative_text, scores.alternative_logprob.tolist(), strict=True)
    ]


def _round_value(value: float | None) -> float | None:
    """Round to four digits: more would be below the noise of any score, and fewer would lose rare tokens."""
    return None if value is None else float(f"{value:.{_DIGITS}g}")
