"""The calm overlay: few lines on a screen, and neither new names nor the text of strings."""

from __future__ import annotations

import re

import pytest

from counterlens.confidence import Confidence, confidence
from counterlens.confidence.granularity import ON_SCREEN, SCREEN, Granularity, calm, spans
from counterlens.syntax.document import Document
from tests.confidence.test_confidence import scores_of

UNLIKELY, LIKELY = -5.0, -0.01


def scored(text: str, *unlikely: str, language: str = "python") -> Confidence:
    """Each word is a token; those that match are unlikely."""
    words = list(re.finditer(r"\s*(\w+|[^\w\s]+)", text))
    ends = [word.end() for word in words[:-1]]
    values = [UNLIKELY if word[1] in unlikely else LIKELY for word in words]
    return confidence(Document(text, language=language), scores_of(text, ends, values))


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
    text = "spam = 1\nspam()\n'some text'\n"
    assert coloured(scored(text, "spam", "()", "some", "text")) == ["spam()"]
    assert coloured(scored(text)) == []


@pytest.mark.parametrize("granularity", Granularity)
def test_ordinary_code_is_never_coloured(granularity: Granularity) -> None:
    text = """
import os.path as path
from os import (
    path,
)

@path
class path(path):
    def path(self, path=path, *, os: path = os) -> path:
        for path, os in [path]:
            break
        else:
            pass
        path = os = 1
        with path as os:
            return
        try:
            continue
        finally:
            raise
"""
    found = scored(text, *set(re.findall(r"[a-z]+|[^\w\s]+", text)) - {"[", "]"})
    shown = {line.strip() for line in coloured(found, granularity)}
    assert not [
        line for line in shown if re.match(r"(from|import|class|def|@|break|else|pass|return)", line)
    ], shown
    assert not shown & {"try:", "continue", "finally:", "raise", "import", "self", ":", "(", ")"}


def test_ordinary_code_is_known_in_languages_with_braces() -> None:
    text = "package a.b;\nimport a.b;\nclass b { int b(int a) { while (a) { break; } return; } }\n"
    found = scored(text, *re.findall(r"\w+|[^\w\s]+", text), language="java")
    assert not [line for line in coloured(found) if not line.startswith("while")]


def test_a_screen_has_few_coloured_lines_wherever_it_begins() -> None:
    text = "for x in y:\n" + "    y()\n    x\n" * 60
    found = scored(text, "y", "()")
    chosen = calm(found, spans(found, Granularity.STATEMENT), Granularity.STATEMENT)
    lines = [found.document.positions.line_of(one.start) for one in chosen]
    assert len(lines) >= ON_SCREEN * 2
    for first in range(len(text.splitlines())):
        assert sum(first <= line < first + SCREEN for line in lines) <= ON_SCREEN
