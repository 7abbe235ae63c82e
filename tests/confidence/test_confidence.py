"""Tokens on syntax nodes: alignment by byte, and aggregation, against plain definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.confidence import Aggregation, confidence, score_document
from counterlens.errors import SourceError
from counterlens.models.base import TokenScores
from counterlens.models.llama.model import LlamaModel
from counterlens.syntax.concepts import Category
from counterlens.syntax.document import Document

SOURCE = '''@cache
def größe(x: int = 3) -> str:
    """Wie groß? 😀"""
    return f"{x + 1:>{x}}" if x in (1, 2) else [y for y in "ab"][0]  # Ende
'''
SPLITS = st.lists(st.integers(1, len(SOURCE.encode()) - 1), unique=True).map(sorted)
LOGPROBS = st.floats(-20, 0)


def scores_of(text: str, splits: list[int], logprobs: list[float]) -> TokenScores:
    """Made-up scores of a text that was split at the given bytes."""
    edges = np.array([0, *splits, len(text.encode())], np.int64)
    n = len(edges) - 1
    return TokenScores(
        text=text,
        start=edges[:-1],
        end=edges[1:],
        logprob=np.array(logprobs[:n], np.float64),
        entropy=np.zeros(n),
        rank=np.zeros(n, np.int64),
        alternative_logprob=np.zeros((n, 1)),
        alternative_text=tuple(("a",) for _ in range(n)),
        context=np.arange(n, dtype=np.int64),
    )


@given(SPLITS, st.data())
def test_every_node_has_exactly_the_tokens_that_share_a_byte_with_it(
    splits: list[int], data: st.DataObject
) -> None:
    n = len(splits) + 1
    logprobs = data.draw(st.lists(LOGPROBS, min_size=n, max_size=n))
    scores = scores_of(SOURCE, splits, [math.nan, *logprobs[1:]])
    for how, function in (
        (Aggregation.MEAN, np.mean),
        (Aggregation.MEDIAN, np.median),
        (Aggregation.MINIMUM, np.min),
        (Aggregation.MAXIMUM, np.max),
    ):
        for node in confidence(Document(SOURCE), scores, how).nodes:
            expected = [
                i for i in range(n) if max(scores.start[i], node.start) < min(scores.end[i], node.end)
            ]
            assert list(range(*node.tokens)) == expected
            known = [math.exp(logprobs[i]) for i in expected if i > 0]
            if known:
                assert node.confidence == pytest.approx(function(known))
                assert node.minimum == pytest.approx(min(known))
            else:
                assert node.confidence is None


@given(SPLITS)
def test_every_byte_that_is_not_blank_is_in_a_token_and_a_node(splits: list[int]) -> None:
    scores = scores_of(SOURCE, splits, [-1.0] * (len(splits) + 1))
    found = confidence(Document(SOURCE), scores)
    data = SOURCE.encode()
    for at in range(len(data)):
        if not data[at : at + 1].isspace():
            chain = found.at(at)
            assert chain
            assert any(scores.start[i] <= at < scores.end[i] for i in range(*chain[0].tokens))


def test_f_strings_decorators_and_comments_are_nodes_like_others(model: LlamaModel) -> None:
    document = Document(SOURCE)
    found = confidence(document, score_document(model, document))
    kinds = {node.kind: node for node in found.nodes}
    for kind in ("interpolation", "format_specifier", "decorator", "comment", "list_comprehension", "type"):
        assert kinds[kind].confidence is not None
    assert kinds["interpolation"].category is Category.NATURAL_LANGUAGE
    assert kinds["comparison_operator"].category is Category.OPERATORS
    assert all(0 <= value <= 1 and n > 0 for value, n in found.concepts.values())


def test_a_file_with_syntax_errors_is_scored_all_the_same(model: LlamaModel) -> None:
    document = Document("def f(:\n  return ]\n")
    found = confidence(document, score_document(model, document))
    assert any(node.kind == "ERROR" for node in found.nodes)


def test_line_ends_do_not_change_the_scores(model: LlamaModel) -> None:
    unix = Document(SOURCE)
    windows = Document(SOURCE.replace("\n", "\r\n"))
    first, second = score_document(model, unix), score_document(model, windows)
    np.testing.assert_array_equal(first.logprob[1:], second.logprob[1:])
    for scores, document in ((first, unix), (second, windows)):
        assert (scores.start[1:] == scores.end[:-1]).all()
        assert scores.end[-1] == len(document.data)
    texts = [windows.data[a:b].replace(b"\r\n", b"\n") for a, b in zip(second.start, second.end, strict=True)]
    assert texts == [unix.data[a:b] for a, b in zip(first.start, first.end, strict=True)]


def test_what_is_too_long_is_refused_before_the_model_is_asked(model: LlamaModel) -> None:
    with pytest.raises(SourceError, match="limited to 10"):
        score_document(model, Document("x = 1\n" * 10), max_bytes=10)


def test_the_least_certain_token_is_the_least_certain() -> None:
    text = "a = b + c\n"
    scores = scores_of(text, [1, 3, 5, 7], [math.nan, -1.0, -5.0, -2.0, -3.0])
    found = confidence(Document(text), scores)
    module = found.nodes[0]
    assert found.least_certain(module) == 2
    assert found.within(0, 1) is None
    assert found.within(5, 7) == pytest.approx(math.exp(-2))
