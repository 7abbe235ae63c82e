"""The global aggregation: medians of snippets, intervals over files, the same for the same seed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from counterlens.confidence import confidence
from counterlens.confidence.corpus import FileConfidence, corpus_confidence
from counterlens.syntax.concepts import NO_CONCEPTS, Category
from counterlens.syntax.document import Document
from tests.confidence.test_confidence import scores_of


def file_of(text: str, probability: float) -> FileConfidence:
    """A file whose tokens, one a byte, all have the same probability."""
    n = len(text.encode())
    scores = scores_of(text, list(range(1, n)), [math.log(probability)] * n)
    return FileConfidence.of(confidence(Document(text), scores))


LOOP = "def f(x):\n    for y in x:\n        pass\n\n\ndef g():\n    return 1\n"


def test_a_snippet_is_a_top_level_definition() -> None:
    found = file_of(LOOP, 0.5)
    assert found.categories[Category.ITERATION] == pytest.approx([0.5])
    assert found.categories[Category.SCOPE] == pytest.approx([0.5, 0.5])
    assert found.whole == pytest.approx([0.5, 0.5])
    assert Category.STRUCTURE not in found.categories
    assert found.bits / found.bytes == pytest.approx(1)


def test_nodes_without_a_category_are_shown_and_not_in_the_figure_over_all() -> None:
    text = "for x in *; do\n  wc $x\ndone\n"
    inside = text.index("wc"), text.index("\ndone")  # a command: no table knows what that is
    logprobs = [math.log(0.1 if inside[0] <= i < inside[1] else 0.9) for i in range(len(text))]
    scores = scores_of(text, list(range(1, len(text))), logprobs)
    scored = confidence(Document(text, language="shellscript"), scores)
    found = FileConfidence.of(scored)
    known = [node for node in scored.nodes if node.named and node.category not in NO_CONCEPTS]
    assert found.categories[Category.UNCATEGORISED][0] < 0.5
    assert found.whole == pytest.approx([np.mean([node.confidence for node in known])])


def test_the_figure_is_the_median_of_the_snippets_of_all_files() -> None:
    files = [file_of("x = 1\n", p) for p in (0.1, 0.2, 0.3, 0.8, 0.9)] + [file_of(LOOP, 0.5)]
    found = corpus_confidence(files, seed=3)
    assert found.whole is not None
    assert found.whole.value == pytest.approx(0.5)
    assert (found.whole.snippets, found.whole.files, found.files) == (7, 6, 6)
    assert found.categories[Category.ITERATION].files == 1
    assert found.categories[Category.ITERATION].low is None
    assert found.whole.low is not None
    assert found.whole.high is not None
    assert 0.1 <= found.whole.low <= 0.5 <= found.whole.high <= 0.9
    assert found.bits_per_byte is not None
    expected = sum(file.bits for file in files) / sum(file.bytes for file in files)
    assert found.bits_per_byte.value == pytest.approx(expected)


def test_the_same_seed_gives_the_same_interval_and_another_may_not() -> None:
    random = np.random.default_rng(0)
    files = [file_of("x = 1\n", p) for p in random.uniform(0.01, 0.99, 30)]
    one, two = corpus_confidence(files, seed=1), corpus_confidence(files, seed=1)
    assert one == two
    assert corpus_confidence(files, seed=2).bits_per_byte != one.bits_per_byte


def test_a_single_file_has_no_interval_and_no_file_no_figure() -> None:
    found = corpus_confidence([file_of(LOOP, 0.5)])
    assert found.whole is not None
    assert found.whole.low is None
    assert found.bits_per_byte is not None
    assert found.bits_per_byte.low is None
    nothing = corpus_confidence([])
    assert nothing.whole is None
    assert nothing.categories == {}
    assert nothing.bits_per_byte is None
