"""What a surprise says: whole words, and whole characters."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from counterlens.confidence import Confidence, confidence
from counterlens.confidence.granularity import Granularity, spans
from counterlens.confidence.scoring import whole_characters
from counterlens.confidence.surprising import surprising
from counterlens.reports.expected import surprise_sentence, written_word
from counterlens.syntax.document import Document
from tests.confidence.test_confidence import scores_of

SURPRISING, LIKELY = -9.0, -0.01


def scored(text: str, pieces: list[str], unlikely: int, *alternatives: str) -> Confidence:
    """A text in tokens; the model does not expect one of them, and expects the alternatives to it instead."""
    ends = np.cumsum([len(piece.encode()) for piece in pieces])[:-1].tolist()
    values = [SURPRISING if i == unlikely else LIKELY for i in range(len(pieces))]
    scores = scores_of(text, ends, values)
    names = tuple(alternatives if i == unlikely else () for i in range(len(pieces)))
    probabilities = np.full((len(pieces), len(alternatives)), math.log(0.3))
    return confidence(
        Document(text), replace(scores, alternative_text=names, alternative_logprob=probabilities)
    )


def sentence(found: Confidence) -> str:
    (surprise,) = surprising(found, limit=1)
    return surprise_sentence(found, surprise, "M")


@pytest.mark.parametrize(
    ("pieces", "unlikely", "alternatives", "named", "unnamed"),
    [
        (["values", ".so", "rt", "()", "\n"], 2, ["urce", "rted", "()"], ["`sort`"], ["`rt`", "urce"]),
        (
            ["values", ".so", "rt(", ")", "\nsorted"],
            2,
            ["rted"],
            ["sort", "`sorted` 30 %"],
            ["`rt", "`rted`"],
        ),
        (["values", ".", "sort", "()", "\n"], 3, ["(key"], ["`()`", "`(key` 30 %"], ["in `(`"]),
        (["values", ".", "sort", "()", "\n"], 2, ["\ufffd", "index"], ["`sort`", "`index`"], ["\ufffd"]),
    ],
)
def test_a_reader_gets_whole_words(
    pieces: list[str], unlikely: int, alternatives: list[str], named: list[str], unnamed: list[str]
) -> None:
    text = "".join(pieces)
    found = scored(text, pieces, unlikely, *alternatives)
    found = confidence(found.document, whole_characters(found.scores, found.document.data))
    said = sentence(found)
    assert all(word in said for word in named), said
    assert not any(word in said for word in unnamed), said


def test_pieces_of_a_character_are_joined() -> None:
    text = 'x = "a😀b"\n'
    data = text.encode()
    at = data.index("😀".encode())
    scores = scores_of(text, [2, at, at + 1, at + 3, at + 4], [LIKELY, LIKELY, -1.0, -2.0, -0.5, LIKELY])
    whole = whole_characters(scores, data)
    assert len(whole) == 4
    assert [data[a:b].decode() for a, b in zip(whole.start, whole.end, strict=True)] == [
        "x ",
        '= "a',
        "😀",
        'b"\n',
    ]
    assert whole.logprob.tolist() == [LIKELY, LIKELY, -3.5, LIKELY]
    found = confidence(Document(text), whole)
    assert all(data[span.start : span.end].decode() for span in spans(found, Granularity.TOKEN, prose=True))
    assert written_word(found, 2) == (at - 1, at + 5)  # the text of the string
