"""Masked spans: what counts as written, and how nodes are drawn and asked for."""

from __future__ import annotations

from threading import Event

import numpy as np
import pytest

from counterlens.calibration.measuring import NodeTruth, begins_with, measure
from counterlens.errors import Cancelled, CounterlensError
from counterlens.models.llama.model import LlamaModel
from counterlens.progress import Steps
from counterlens.syntax.document import Document

SOURCE = '''"""Shapes."""

import math


def area(radius):
    """The area of a circle."""
    return math.pi * radius ** 2


def perimeter(radius):
    """The perimeter of a circle."""
    return 2 * math.pi * radius


def total(values):
    result = 0
    for value in values:
        result += value
    return result
'''


def pieces(*texts: str) -> list[bytes]:
    return [text.encode() for text in texts]


@pytest.mark.parametrize(
    ("written", "expected", "same"),
    [
        ("value\n", ["value"], True),
        (" value + 1", ["value"], True),
        ("values\n", ["value"], False),
        ("value", ["values"], False),
        ("f( x,y )", ["f", "", "(", "", "x", "", ",", " ", "y", "", ")"], True),
        ("f(x, z)", ["f", "", "(", "", "x", "", ",", " ", "y", "", ")"], False),
        ("returnx", ["return", " ", "x"], False),
        ("return  x", ["return", " ", "x"], True),
        ("<= b", ["<"], False),
        ("< b", ["<"], True),
        ("1.5", ["1"], False),
        ("1]", ["1"], True),
        ("10", ["1"], False),
        ("'a b'", ["'", "", "a b", "", "'"], True),
        ("'a  b'", ["'", "", "a b", "", "'"], False),
        ("a\n    b", ["a", "\n    ", "b"], True),
        ("a\n        b", ["a", "\n    ", "b"], False),
        ("a b", ["a", "\n", "b"], False),
        ("a\r\n  b", ["a", "\n  ", "b"], True),
        ("größe", ["größ"], False),
        ("", ["x"], False),
    ],
)
def test_what_begins_with_a_node(written: str, expected: list[str], same: bool) -> None:
    assert begins_with(written, pieces(*expected)) is same


def test_the_model_fills_nodes_and_both_truths_nearly_agree(embedded: LlamaModel) -> None:
    found = measure(embedded, [Document(SOURCE)], nodes=20)
    seen = found.observations
    assert 20 <= len(seen) < 40
    assert found.units >= 2
    assert found.documents == 1
    assert ((seen.confidence >= 0) & (seen.confidence <= 1)).all()
    assert 0 < seen.right.mean() < 1
    assert seen.confidence[seen.right == 1].mean() > seen.confidence[seen.right == 0].mean()
    assert found.agreement is not None
    assert found.agreement > 0.8


def test_the_first_choice_is_known_of_every_node(model: LlamaModel) -> None:
    found = measure(model, [Document(SOURCE)], nodes=10_000, truth=NodeTruth.FIRST_CHOICE)
    assert len(found.observations) > 60
    assert found.agreement is None
    again = measure(model, [Document(SOURCE)], nodes=10_000, truth=NodeTruth.FIRST_CHOICE)
    np.testing.assert_array_equal(again.observations.confidence, found.observations.confidence)
    sure = found.observations.right == 1
    assert (found.observations.confidence[sure] > 0).all()


def test_no_code_is_said_and_a_cancelled_one_ends(model: LlamaModel) -> None:
    with pytest.raises(CounterlensError, match="no code"):
        measure(model, [Document("\n\n")], nodes=5)
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        measure(model, [Document(SOURCE)], nodes=5, steps=Steps(stop))
