"""A function that fails its own tests is fixed by the alternative with which it passes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.attribution.base import Evidence, Judgement, Verdict
from counterlens.doubt.fixing import MOST, MOST_ENDLESS, fix_for
from counterlens.doubt.generating import scopes
from counterlens.doubt.marking import Telling
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.settling import settled
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.doubt.conftest import WordModel
from tests.doubt.planted import PLANTED, Planted


class Scripted:
    """A judge that says what it was told to."""

    attribution, tests = "tests", 1

    def __init__(self, judgement: Judgement) -> None:
        self.judgement = judgement
        self.asked: list[str] = []

    def judge(self, program: str, **_: object) -> Verdict:
        """Always the same."""
        self.asked.append(program)
        return Verdict(self.judgement, Evidence("tests", 1))


def scope_of(text: str, path: Path | None = None) -> DoubtScope:
    return scopes(Document(text, path=path))[-1]


def test_there_is_a_planted_bug_of_every_kind() -> None:
    assert set(PLANTED) == set(DOUBT_KINDS)


@pytest.mark.parametrize(("kind", "planted"), PLANTED.items(), ids=list(PLANTED))
def test_a_bug_of_each_kind_is_fixed_by_the_functions_own_examples(
    kind: str, planted: Planted, tmp_path: Path
) -> None:
    path = tmp_path / "planted.py"
    path.write_text(planted.wrong)
    (mark,) = settled(WordModel({}), scope_of(planted.wrong, path), (), best_sandbox())
    assert mark.tests is Telling.FAIL
    assert mark.failing
    assert mark.fixed == planted.right or mark.alternative.kind != kind
    path.write_text(planted.right)
    assert settled(WordModel({}), scope_of(planted.right, path), (), best_sandbox()) == []


def test_the_likeliest_alternative_is_tried_first(tmp_path: Path) -> None:
    scope = scope_of(PLANTED["arithmetic"].wrong, tmp_path / "planted.py")
    for liked in ("*", "-"):
        judge = Scripted(Judgement.FAILED)
        assert fix_for(WordModel({liked: -0.1}), scope, judge, "it failed") is None
        assert f"width {liked} height" in judge.asked[0]
        assert len(set(judge.asked)) == len(judge.asked) > 2


def test_what_is_run_is_bounded(tmp_path: Path) -> None:
    terms = " + ".join(f"a * {number}" for number in range(2, 40))
    scope = scope_of(f"def f(a, b):\n    return {terms}\n", tmp_path / "long.py")
    failing, endless = Scripted(Judgement.FAILED), Scripted(Judgement.TIMED_OUT)
    assert fix_for(WordModel({}), scope, failing, "") is None
    assert len(failing.asked) == MOST
    assert fix_for(WordModel({}), scope, endless, "") is None
    assert len(endless.asked) == MOST_ENDLESS


def test_an_ignored_line_is_not_fixed(tmp_path: Path) -> None:
    text = PLANTED["arithmetic"].wrong.replace("height\n", "height  # counterlens: ignore\n", 1)
    assert "ignore" in text
    path = tmp_path / "planted.py"
    path.write_text(text)
    assert settled(WordModel({}), scope_of(text, path), (), best_sandbox()) == []
