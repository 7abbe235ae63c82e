"""Describes a surprise in one sentence; a surprise is not an error."""

from __future__ import annotations

import math

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.surprising import Surprise
from counterlens.reports.expected import expected_texts, whole_alternatives, written_word
from counterlens.reports.wording import share, shorten
from counterlens.translating import ENGLISH, Translator

_LONGEST = 40


def surprise_sentence(confidence: Confidence, surprise: Surprise, model: str, t: Translator = ENGLISH) -> str:
    """The measurements at a surprise.

    Args:
        confidence: The scores in which it was found.
        surprise: The surprise.
        model: The name of the model.
        t: The translator.
    """
    start, end = written_word(confidence, surprise.token)
    whole, part = _quote(confidence, surprise.start, surprise.end), _quote(confidence, start, end)
    if start <= surprise.start and surprise.end <= end:
        whole = part
    place = f"`{whole}`" if part == whole else t("{part} in {whole}", part=f"`{part}`", whole=f"`{whole}`")
    probability = share(math.exp(float(confidence.scores.logprob[surprise.token])), t)
    likelier = expected_texts(whole_alternatives(confidence, surprise.token), limit=3, markdown=False, t=t)
    values = {"model": model, "place": place, "probability": probability}
    if not likelier:
        return t("{model} did not expect {place} here ({probability}).", **values)
    return t(
        "{model} did not expect {place} here ({probability}); it expected {likelier}.",
        **values,
        likelier=", ".join(likelier),
    )


def _quote(confidence: Confidence, start: int, end: int) -> str:
    return shorten(confidence.document.data[start:end].decode("utf-8", "replace"), _LONGEST)
