"""Surprising places: few, in the document, the same every time, and what surprises is named."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.confidence import Confidence, confidence, score_document
from counterlens.confidence.surprising import WEIGHTS, Surprise, allowance, excess, leaves, surprising
from counterlens.models.base import TokenScores
from counterlens.models.llama.model import LlamaModel
from counterlens.syntax.concepts import Category
from counterlens.syntax.document import Document

SOURCE = '''@cache
def größe(x: int = 3) -> str:
    """Wie groß? 😀"""
    if x >= 2 and not (x in [1, 2]):  # Ende
        return f"{x + 1:>{x}}"
    return [y for y in "ab"][0]
'''
SIZE = len(SOURCE.encode())
SPLITS = st.lists(st.integers(1, SIZE - 1), unique=True).map(sorted)
LOGPROBS = st.floats(-25, 0)


def scored(text: str, splits: list[int], logprobs: list[float]) -> Confidence:
    """A document with made-up scores of a text that was split at the given bytes."""
    edges = np.array([0, *splits, len(text.encode())], np.int64)
    n = len(edges) - 1
    scores = TokenScores(
        text=text,
        start=edges[:-1],
        end=edges[1:],
        logprob=np.array(logprobs[:n], np.float64),
        entropy=np.ones(n),
        rank=np.zeros(n, np.int64),
        alternative_logprob=np.full((n, 1), -0.1),
        alternative_text=tuple(("a",) for _ in range(n)),
        context=np.arange(n, dtype=np.int64),
    )
    return confidence(Document(text), scores)


def by_character(text: str, likely: dict[int, float] | None = None) -> Confidence:
    """A document with a token a byte, all but certain except where told."""
    logprobs = [math.nan, *[-0.01] * (len(text.encode()) - 1)]
    for at, logprob in (likely or {}).items():
        logprobs[at] = logprob
    return scored(text, list(range(1, len(text.encode()))), logprobs)


def texts(text: str, found: tuple[Surprise, ...]) -> list[str]:
    return [text.encode()[one.start : one.end].decode() for one in found]


@given(SPLITS, st.data(), st.integers(0, 6), st.floats(0, 30))
def test_places_are_few_lie_in_the_document_do_not_overlap_and_repeat(
    splits: list[int], data: st.DataObject, limit: int, least: float
) -> None:
    n = len(splits) + 1
    found = scored(SOURCE, splits, [math.nan, *data.draw(st.lists(LOGPROBS, min_size=n, max_size=n))[1:]])
    one = surprising(found, limit=limit, least_bits=least)
    assert len(one) <= limit
    assert one == surprising(found, limit=limit, least_bits=least)
    edges = [edge for place in one for edge in (place.start, place.end)]
    assert edges == sorted(edges)
    kinds = {(node.start, node.end, node.kind) for node in found.nodes}
    for place in one:
        assert 0 <= place.start < place.end <= SIZE
        assert (place.start, place.end, place.kind) in kinds
        assert place.bits >= least
        assert place.bits == pytest.approx(-found.scores.logprob[place.token] / math.log(2))
        token = place.token
        assert found.scores.start[token] < place.end
        assert found.scores.end[token] > place.start
        assert place.alternatives == (("a", pytest.approx(math.exp(-0.1))),)
    # a larger budget names the same and more
    more = surprising(found, limit=limit + 1, least_bits=least)
    assert set(one) <= set(more)


@given(SPLITS, st.data())
def test_every_token_that_is_no_blank_belongs_to_one_leaf_at_most(
    splits: list[int], data: st.DataObject
) -> None:
    n = len(splits) + 1
    logprobs = data.draw(st.lists(LOGPROBS, min_size=n, max_size=n))
    found = scored(SOURCE, splits, logprobs)
    rows = leaves(found)
    assert rows.total.sum() <= -sum(logprobs) / math.log(2) + 1e-6
    assert (rows.total >= rows.bits - 1e-9).all()
    assert (np.diff(rows.node) > 0).all()
    assert not {found.nodes[i].kind for i in rows.node.tolist()} & {"comment", "string_content"}


def test_the_budget_grows_with_the_lines() -> None:
    assert [allowance(n, 3.0) for n in (1, 33, 34, 100, 250, 1000)] == [1, 1, 1, 3, 7, 30]
    assert allowance(1000, 0) == 0


def test_an_operator_is_surprising_by_itself() -> None:
    text = "def f(a, b):\n    return a <= b\n"
    at = text.index("<=")
    (one,) = surprising(by_character(text, {at: -8.0}))
    assert (texts(text, (one,)), one.kind, one.category) == (["<="], "<=", Category.OPERATORS)
    assert one.bits == pytest.approx(8 / math.log(2))


def test_neighbours_that_surprise_together_are_one_place() -> None:
    text = "def f(a, b):\n    x = a\n    return a - b\n"
    at = text.index("a - b")
    found = surprising(by_character(text, {at: -8.0, at + 2: -9.0}), limit=5)
    assert texts(text, found) == ["a - b"]


def test_a_whole_function_is_no_place() -> None:
    text = "def f(a, b):\n    return a - b\n"
    code = [i for i, char in enumerate(text) if i and not char.isspace()]
    found = surprising(by_character(text, dict.fromkeys(code, -8.0)), limit=5, least_excess=-math.inf)
    assert all("\n" not in shown for shown in texts(text, found))


def test_what_is_usual_for_a_category_is_not_surprising() -> None:
    names = "\n".join(f"v{i} = w{i}" for i in range(30)) + "\nx = a + b\n"
    unlikely = {i: -6.0 for i, char in enumerate(names) if char in "vw" and i}
    plus = names.index("+")
    (one, *_) = surprising(by_character(names, unlikely | {plus: -6.0}), limit=1)
    assert texts(names, (one,)) == ["+"]


def test_certain_code_and_no_code_have_no_surprises() -> None:
    assert surprising(by_character("def f(a):\n    return a\n")) == ()
    assert surprising(by_character("# nothing but prose\n", {5: -20.0})) == ()
    assert surprising(by_character("  \n")) == ()


def test_a_line_has_one_place_and_a_range_only_its_own() -> None:
    text = "def f(a, b):\n    x = g(a) + k[b]\n    return a - b\n"
    found = by_character(text, {text.index(at): -8.0 for at in ("g(", "+", "k[", "- b")})
    assert texts(text, surprising(found, limit=5)) in (["+", "-"], ["g", "-"], ["k", "-"])
    assert texts(text, surprising(found, limit=5, span=(text.index("return"), len(text)))) == ["-"]


@pytest.mark.parametrize("name", WEIGHTS)
def test_every_weight_grows_with_the_surprise(name: str) -> None:
    text = "def f(a, b):\n    x = g(a) + k[b]\n    return a - b\n"
    at = text.index("+")
    weighed = []
    for logprob in (-1.0, -4.0, -9.0):
        rows = leaves(found := by_character(text, {at: logprob}))
        kinds = [found.nodes[i].kind for i in rows.node.tolist()]
        weighed.append(WEIGHTS[name](rows)[kinds.index("+")])
    assert weighed == sorted(weighed)
    assert weighed[0] < weighed[2]


def test_names_that_are_given_and_quotation_marks_do_not_surprise() -> None:
    text = "def fresh(one, two=2):\n    return f('a', one)\n"
    unlikely = {text.index(at): -9.0 for at in ("fresh", "one", "two", "'a'")}
    assert surprising(by_character(text, unlikely), limit=5) == ()
    quoting = scored(
        text, [text.index("('"), text.index("a'"), text.index(", one")], [math.nan, -9.0, -9.0, -0.1]
    )
    assert surprising(quoting, limit=5) == ()
    called = text.index("one)")
    assert texts(text, surprising(by_character(text, {called: -9.0}), limit=5)) == ["one"]


def test_a_rare_category_leans_on_the_document() -> None:
    text = "x = [1]\nassert x\n"
    found = by_character(text, {text.index("assert"): -3.0})
    rows = leaves(found)
    weights = dict(zip([found.nodes[i].kind for i in rows.node.tolist()], excess(rows), strict=True))
    assert 0 < weights["assert"] < 3 / math.log(2)


def test_a_changed_operator_is_found_by_a_real_model(embedded: LlamaModel) -> None:
    text = "def is_even(n):\n    return n % 2 == 0\n\n\ndef is_odd(n):\n    return n ** 2 == 1\n"
    document = Document(text)
    found = surprising(confidence(document, score_document(embedded, document)), limit=2)
    shown = texts(text, found)
    assert any("**" in one for one in shown)
    (place,) = [one for one in found if "**" in text.encode()[one.start : one.end].decode()]
    assert place.alternatives[0][0].strip() == "%"
