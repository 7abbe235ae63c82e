"""Describes the model's expectation at a place: each word once, with its probability."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.replacing import known_words
from counterlens.confidence.surprising import Surprise
from counterlens.reports.render.markdown import code_span
from counterlens.reports.wording import share, shorten

_WORD_START = re.compile(r"\A\w+")
_LONGEST = 40


def expected_texts(
    alternatives: Iterable[tuple[str, float]],
    *,
    limit: int = 4,
    markdown: bool = True,
) -> list[str]:
    """The likeliest alternatives as Markdown: `>=` 61 %.

    Tokens that differ only in the blanks around a word are one word to readers, so their shares are added.

    Args:
        alternatives: Texts and probabilities, likeliest first.
        limit: Maximum number of alternatives.
        markdown: Whether names of blanks are in italics; code is always in backticks.
    """
    shares: dict[str, float] = {}
    for text, probability in alternatives:
        if text and not math.isnan(probability):
            word = code(text) if markdown or text.strip() else code(text).strip("*")
            shares[word] = shares.get(word, 0.0) + probability
    ranked = sorted(shares.items(), key=lambda entry: -entry[1])
    return [f"{word} {share(probability)}" for word, probability in ranked[:limit]]


def whole_alternatives(confidence: Confidence, token: int) -> list[tuple[str, float]]:
    """The alternatives to a token, with their probabilities, as words of a reader.

    A token may be a piece of a word. Inside a word, an alternative is the whole word with it, and is left out
    if the document and its language have no such word: it may be the beginning of any.
    """
    scores, document = confidence.scores, confidence.document
    start = int(scores.start[token])
    word = written_word(confidence, token)[0]
    head = document.data[word:start].decode("utf-8", "replace")
    named = [
        (text, math.exp(value))
        for text, value in zip(
            scores.alternative_text[token], scores.alternative_logprob[token].tolist(), strict=False
        )
        if text
    ]
    if not head.isidentifier():
        return named
    words = known_words(document)
    whole = ((head + "".join(_WORD_START.findall(text)), value) for text, value in named)
    return [(text, value) for text, value in whole if text in words]


def written_word(confidence: Confidence, token: int) -> tuple[int, int]:
    """The byte range of the words, operators and brackets that a token touches, without blanks around."""
    data, scores = confidence.document.data, confidence.scores
    start, end = int(scores.start[token]), int(scores.end[token])
    written = data[start:end]
    start, end = start + len(written) - len(written.lstrip()), start + len(written.rstrip())
    if start >= end:
        return start, end
    root = confidence.document.tree.root_node
    first, last = (root.descendant_for_byte_range(at, at + 1) for at in (start, end - 1))
    if first is not None and not first.child_count:
        start = first.start_byte
    if last is not None and not last.child_count:
        end = max(end, last.end_byte)
    return start, end


def code(text: str) -> str:
    """A token as inline code, without surrounding blanks; a blank token by name; backticks stay literal."""
    shown = text.strip()
    if not shown:
        return f"*{_blank(text) if text else 'nothing'}*"
    return code_span(shown.replace("\n", "⏎").replace("\t", "⇥"))


def _blank(text: str) -> str:
    """The name of the first blank that is more than a space."""
    first = text.lstrip(" ")[:1]
    return "line end" if first in ("\n", "\r") and first else "tab" if first == "\t" else "blank"


def surprise_sentence(confidence: Confidence, surprise: Surprise, model: str) -> str:
    """The measurements at a surprise.

    Args:
        confidence: The scores in which it was found.
        model: The name of the model.
    """
    start, end = written_word(confidence, surprise.token)
    whole, part = _quote(confidence, surprise.start, surprise.end), _quote(confidence, start, end)
    if start <= surprise.start and surprise.end <= end:
        whole = part
    place = f"`{whole}`" if part == whole else f"`{part}` in `{whole}`"
    probability = share(math.exp(float(confidence.scores.logprob[surprise.token])))
    likelier = expected_texts(whole_alternatives(confidence, surprise.token), limit=3, markdown=False)
    instead = f"; it expected {', '.join(likelier)}" if likelier else ""
    return f"{model} did not expect {place} here ({probability}){instead}."


def _quote(confidence: Confidence, start: int, end: int) -> str:
    return shorten(confidence.document.data[start:end].decode("utf-8", "replace"), _LONGEST)
