"""Similarity is a number and no verdict."""

from __future__ import annotations

import pytest

from counterlens.attribution.similarity import similarity
from counterlens.errors import SourceError
from counterlens.syntax.document import Document

RUN = """
def run(values):
    best = 0
    for value in values:
        if value > best:
            best = value
    return best
"""


def test_the_same_text_is_fully_alike() -> None:
    found = similarity(Document(RUN), Document("import os\n" + RUN), "run")
    assert (found.ngrams, found.syntax, found.data_flow, found.chrf) == pytest.approx((1, 1, 1, 1))
    assert found.combined == pytest.approx(1)


def test_other_names_keep_the_syntax_and_the_flow() -> None:
    renamed = RUN.replace("best", "top").replace("value", "item")
    found = similarity(Document(RUN), Document(renamed), "run")
    assert found.syntax == 1
    assert found.data_flow == 1
    assert found.ngrams < 1
    assert found.chrf < 1


def test_what_does_the_same_may_look_different_and_the_other_way_round() -> None:
    same = similarity(Document(RUN), Document("def run(values):\n    return max([0, *values])\n"), "run")
    wrong = similarity(Document(RUN), Document(RUN.replace(">", "<")), "run")
    assert same.combined < 0.5 < wrong.combined < 1
    assert 0 <= same.syntax < wrong.syntax


def test_a_candidate_that_does_not_parse_still_has_a_likeness_or_is_refused() -> None:
    broken = similarity(Document(RUN), Document(RUN.replace("    return best", "    return (best")), "run")
    assert broken.data_flow in {0, None}
    assert 0 < broken.chrf < 1
    with pytest.raises(SourceError, match="there is no function run"):
        similarity(Document(RUN), Document("x = 1\n"), "run")
