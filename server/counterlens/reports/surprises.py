"""Describes a surprise in one sentence; a surprise is not an error."""

from __future__ import annotations

import math

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.surprising import Surprise
from counterlens.reports.expected import expected
from counterlens.reports.wording import share, shortened
from counterlens.translating import ENGLISH, Translator

_LONGEST = 40


def surprise_sentence(found: Confidence, surprise: Surprise, model: str, t: Translator = ENGLISH) -> str:
    """The measurements at a surprise.

    Args:
        found: The scores in which it was found.
        surprise: The surprise.
        model: The name of the model.
        t: The translator.
    """
    whole, part = _shown(found, surprise.start, surprise.end), _shown(found, *_leaf(found, surprise))
    place = f"`{whole}`" if part == whole else t("{part} in {whole}", part=f"`{part}`", whole=f"`{whole}`")
    probability = share(math.exp(float(found.scores.logprob[surprise.token])), t)
    likelier = expected(surprise.alternatives, limit=3, markdown=False, t=t)
    values = {"model": model, "place": place, "probability": probability}
    if not likelier:
        return t("{model} did not expect {place} here ({probability}).", **values)
    return t(
        "{model} did not expect {place} here ({probability}); it expected {likelier}.",
        **values,
        likelier=", ".join(likelier),
    )


def _leaf(found: Confidence, surprise: Surprise) -> tuple[int, int]:
    """The word, operator or bracket in which the surprising token begins; the token if it extends beyond."""
    data, scores = found.document.data, found.scores
    start, end = int(scores.start[surprise.token]), int(scores.end[surprise.token])
    written = data[start:end]
    start, end = start + len(written) - len(written.lstrip()), start + len(written.rstrip())
    node = found.document.tree.root_node.descendant_for_byte_range(start, start + 1)
    if node is None or node.child_count or node.end_byte < end:
        return start, end
    return node.start_byte, node.end_byte


def _shown(found: Confidence, start: int, end: int) -> str:
    return shortened(found.document.data[start:end].decode("utf-8", "replace"), _LONGEST)
