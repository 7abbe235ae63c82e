"""The calm overlay: few lines on a screen, and neither new names nor the text of strings."""

from __future__ import annotations

import re

import pytest

from counterlens.confidence import Confidence, confidence
from counterlens.confidence.calm import ON_SCREEN, SCREEN, calm
from counterlens.confidence.granularity import Granularity, spans
from counterlens.syntax.document import Document
from tests.confidence.test_confidence import scores_of

UNLIKELY, LIKELY = -5.0, -0.01


def scored(text: str, *unlikely: str) -> Confidence:
    """Each word is a token; those that match are unlikely."""
    words = list(re.finditer(r"\s*(\w+|[^\w\s]+)", text))
    ends = [word.end() for word in words[:-1]]
    values = [UNLIKELY if word[1] in unlikely else LIKELY for word in words]
    return confidence(Document(text), scores_of(text, ends, values))


def coloured(found: Confidence, granularity: Granularity = Granularity.STATEMENT) -> list[str]:
    chosen = calm(found, spans(found, granularity), granularity)
    return [found.document.data[one.start : one.end].decode() for one in chosen]


@pytest.mark.parametrize("granularity", [Granularity.TOKEN, Granularity.LEAF, Granularity.STATEMENT])
def test_a_name_counts_for_nothing_where_it_is_new(granularity: Granularity) -> None:
    text = "def spam(eggs):\n    eggs\n    return eggs\n"
    assert coloured(scored(text, "spam"), granularity) == []
    assert "eggs" in " ".join(coloured(scored(text, "eggs"), granularity))
    assert not any("(eggs" in one for one in coloured(scored(text, "eggs"), granularity))


def test_only_what_is_unlikely_is_coloured() -> None:
    text = "def spam():\n    pass\n    break\n    'some text'\n"
    assert coloured(scored(text, "break", "some", "text")) == ["break"]
    assert coloured(scored(text)) == []


def test_a_screen_has_few_coloured_lines_wherever_it_begins() -> None:
    text = "for x in y:\n" + "    break\n    pass\n" * 60
    found = scored(text, "break")
    chosen = calm(found, spans(found, Granularity.STATEMENT), Granularity.STATEMENT)
    lines = [found.document.positions.line_of(one.start) for one in chosen]
    assert len(lines) >= ON_SCREEN * 2
    for first in range(len(text.splitlines())):
        assert sum(first <= line < first + SCREEN for line in lines) <= ON_SCREEN
