"""Marks: what is likelier by more than its margin, judged by what follows, at a bounded cost."""

from __future__ import annotations

from threading import Event

import pytest

from counterlens.doubt.generating import alternatives_in, scopes
from counterlens.doubt.marking import Doubt, doubts
from counterlens.doubt.passages import PASSAGE_BYTES, passages
from counterlens.doubt.scoring import COST, trials
from counterlens.errors import Cancelled
from counterlens.models.base import Model
from counterlens.syntax.document import Document
from tests.doubt.conftest import WordModel

SOURCE = 'def is_even(n):\n    """Whether n is even: 1 != 2."""\n    rest = n % 2\n    return rest != 0\n'
LIKES = {"==": -0.1, "!=": -6.0, "<": -9.0, ">": -9.0, "<=": -9.0, ">=": -9.0}


def found(model: Model, source: str, **margins: float) -> list[Doubt]:
    """All marks of a text."""
    return [doubt for scope in scopes(Document(source)) for doubt in doubts(model, scope, margins=margins)]


def test_a_place_is_marked_where_an_alternative_is_likelier_by_more_than_the_margin() -> None:
    (doubt,) = found(WordModel(LIKES), SOURCE, comparison=3.0)
    assert (doubt.text, doubt.alternative.text) == ("!=", "==")
    assert doubt.trial.gain == pytest.approx(5.9)
    assert doubt.trial.place == pytest.approx(5.9)
    assert 0.9 < doubt.trial.share < 1
    assert doubt.fixed == SOURCE.replace("rest != 0", "rest == 0")
    assert found(WordModel(LIKES), SOURCE, comparison=6.0) == []
    assert found(WordModel({}), SOURCE, comparison=0.0) == []


def test_what_follows_decides_with_it() -> None:
    (doubt,) = found(WordModel(LIKES | {"== 0": -1.5}), SOURCE, comparison=3.0)
    assert doubt.trial.rest == pytest.approx(0.5)
    assert doubt.trial.gain == pytest.approx(6.4)
    assert found(WordModel(LIKES | {"== 0": -4.0}), SOURCE, comparison=3.0) == []


def test_of_a_silent_kind_nothing_is_asked() -> None:
    model = WordModel(LIKES)
    assert found(model, SOURCE) == []
    assert found(model, SOURCE, boolean=0.0) == []
    assert model.asked == []


def test_lines_that_are_ignored_have_no_mark() -> None:
    ignored = SOURCE.replace("rest != 0", "rest != 0  # counterlens: ignore")
    assert found(WordModel(LIKES), ignored, comparison=3.0) == []
    other = SOURCE.replace("n % 2", "n % 2  # counterlens: ignore")
    assert len(found(WordModel(LIKES), other, comparison=3.0)) == 1


def test_line_ends_and_wide_characters_do_not_move_a_mark() -> None:
    windows = SOURCE.replace("even:", "gerade, ğ𝄞:").replace("\n", "\r\n")
    (doubt,) = found(WordModel(LIKES), windows, comparison=3.0)
    assert doubt.text == "!="
    assert doubt.fixed == windows.replace("rest != 0", "rest == 0")


def test_the_cost_is_bounded_and_the_likeliest_are_tried_first() -> None:
    body = "".join(f"    x{i} = a != b + {i % 7} and c in d or a[c + 1] > len(d)\n" for i in range(40))
    document = Document(f"def f(a, b, c, d):\n{body}")
    (scope,) = scopes(document)
    read: list[int] = []
    tried = trials(WordModel({"==": -0.1, "!=": -6.5}), scope, read=read.append)
    model = WordModel({})
    once = len(model.score(document.text))
    assert once < sum(read) <= COST * once
    assert tried
    assert {one.alternative.text for one in tried} == {"=="}


def test_a_long_body_is_asked_about_in_pieces_with_what_stands_before() -> None:
    body = "".join(f"    value{i} = other{i} != {i}\n" for i in range(300))
    document = Document(f"import os\n\n\ndef f():\n    '''Doc.'''\n{body}")
    (scope,) = scopes(document)
    places = alternatives_in(scope)
    pieces = list(passages(scope, places))
    assert len(pieces) > 2
    assert sum(len(inside) for _, inside in pieces) == len(places)
    for passage, inside in pieces:
        assert passage.end - passage.start <= PASSAGE_BYTES + 100
        assert passage.context.startswith("import os")
        assert all(passage.start <= one.start <= one.end <= passage.end for one in inside)
    joined = "".join(passage.as_it_stands(passage.end) for passage, _ in pieces)
    assert joined.strip() == body.strip()


def test_it_ends_when_it_is_cancelled() -> None:
    cancel = Event()
    cancel.set()
    (scope,) = scopes(Document(SOURCE))
    with pytest.raises(Cancelled):
        doubts(WordModel(LIKES), scope, margins={"comparison": 3.0}, cancel=cancel)
