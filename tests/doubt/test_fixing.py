"""A function that fails its own tests is fixed by the alternative with which it passes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from counterlens.doubt.failing import FailedTest, FailingFunction
from counterlens.doubt.generating import scopes
from counterlens.doubt.marking import Doubt, Verification, doubts
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.settling import AT_ONCE, MOST, MOST_ENDLESS, fix_for, settle
from counterlens.judging.base import LIMITS, Evidence, Judge, Judgement, Setting, Verdict
from counterlens.judging.projects import interpreter_for
from counterlens.reports.export.doubts import doubt_sentence
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.doubt.conftest import WordModel
from tests.doubt.planted import PLANTED, Planted

FAILED = FailedTest("test_gap", "it failed")
SETTING = Setting(best_sandbox(), interpreter_for(None), LIMITS)


class Scripted(Judge):
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
    (mark,) = settle(WordModel({}), scope_of(planted.wrong, path), (), best_sandbox())
    assert isinstance(mark, Doubt)
    assert mark.tests is (Verification.FAIL if mark.rival is None else Verification.UNCONFIRMED)
    assert mark.failed is not None
    assert mark.fixed == planted.right or mark.alternative.kind != kind or mark.rival is not None
    path.write_text(planted.right)
    assert settle(WordModel({}), scope_of(planted.right, path), (), best_sandbox()) == []


def test_the_likeliest_alternative_is_tried_first(tmp_path: Path) -> None:
    scope = scope_of(PLANTED["arithmetic"].wrong, tmp_path / "planted.py")
    for liked in ("*", "-"):
        judge = Scripted(Judgement.FAILED)
        assert fix_for(WordModel({liked: -0.1}), scope, judge, FAILED, SETTING) is None
        assert f"width {liked} height" in judge.asked[0]
        assert len(set(judge.asked)) == len(judge.asked) > 2


GAP = "def gap(a: int, b: int):\n    return a - b if a {} b else b - a\n"
"""With `>` and with `>=` it does the same, with `!=` something else."""


class Content(Scripted):
    """A judge that some operators content."""

    def __init__(self, *operators: str) -> None:
        super().__init__(Judgement.PASSED)
        self.programs = {GAP.format(one) for one in operators}

    def judge(self, program: str, **_: object) -> Verdict:
        """Whether it is one of them."""
        judgement = Judgement.PASSED if program in self.programs else Judgement.FAILED
        return Verdict(judgement, Evidence("tests", 1))


@pytest.mark.parametrize(
    ("passing", "likes", "rival"),
    [
        ((">", ">="), {">=": -0.4}, None),
        ((">", ">=", "<="), {">=": -0.4}, "<="),
        ((">", "!="), {"!=": -0.4}, "!="),
        ((">", "!="), {"!=": -4.6}, "!="),
    ],
    ids=["does the same", "hardly likely", "as likely", "less likely"],
)
def test_a_fix_has_no_rival_that_passes_too_and_does_something_else(
    passing: tuple[str, ...], likes: dict[str, float], rival: str | None, tmp_path: Path
) -> None:
    scope = scope_of(GAP.format("<"), tmp_path / "gap.py")
    model = WordModel({"<": -1.0, ">": -0.1, "<=": -9.0} | likes)
    mark = fix_for(model, scope, Content(*passing), FAILED, SETTING)
    assert mark is not None
    assert (mark.text, mark.alternative.text, mark.failed) == ("<", ">", FAILED)
    assert mark.tests is (Verification.FAIL if rival is None else Verification.UNCONFIRMED)
    assert (mark.rival and mark.rival.text) == rival
    if mark.rival is not None:
        assert mark.apart is not None
        assert mark.apart.call.startswith("gap(")
        assert mark.apart.original != mark.apart.other
        said = f"it passes the tests, not confirmed; `{rival}` passes, too; `{mark.apart.call}`: "
        assert said in doubt_sentence(mark)
        assert "the two could not be compared" in doubt_sentence(replace(mark, apart=None))
        moved = mark.within(scope_of("\n\n" + scope.document.text, tmp_path / "gap.py"))
        assert moved.fixed == "\n\n" + mark.fixed
        assert moved.rival is not None
        assert moved.rival.start == mark.rival.start + 2


def test_an_alternative_that_is_hardly_as_likely_is_no_fix(tmp_path: Path) -> None:
    scope = scope_of(GAP.format("<"), tmp_path / "gap.py")
    for gain, fixes in ((-1.5, True), (-2.3, False)):
        model = WordModel({"<": -1.0, ">": -1.0 + gain})
        assert (fix_for(model, scope, Content(">"), FAILED, SETTING) is not None) == fixes


WITHOUT = '''def without(keys, unwanted):
    """The keys that nobody wants away.

    >>> sorted(without("abc", "b"))
    ['a', 'c']
    """
    return set(keys) & set(unwanted)
'''


@pytest.mark.parametrize(
    ("example", "tests"),
    [("", Verification.UNCONFIRMED), ("\n    >>> without('a', 'b')\n    {'a'}\n", Verification.FAIL)],
    ids=["few tests", "more tests"],
)
def test_sets_are_combined_by_operators_of_sets_and_rivals_are_named(
    example: str, tests: Verification, tmp_path: Path
) -> None:
    path, text = (
        tmp_path / "keys.py",
        WITHOUT.replace('\n    """\n    return', f'{example}\n    """\n    return'),
    )
    path.write_text(text)
    (mark,) = settle(WordModel({"-": -1.0, "^": -1.5}), scope_of(text, path), (), best_sandbox())
    assert isinstance(mark, Doubt)
    assert (mark.alternative.text, mark.tests) == ("-", tests)
    assert (mark.rival and mark.rival.text) == ("^" if tests is Verification.UNCONFIRMED else None)


def test_a_fix_with_more_rivals_than_can_be_compared_is_not_confirmed(tmp_path: Path) -> None:
    terms = " + ".join(f"0 * a * {number}" for number in range(2, 20))
    path = tmp_path / "sums.py"
    scope = scope_of(f"def f(a: int):\n    return {terms}\n", path)
    mark = fix_for(WordModel({}), scope, Scripted(Judgement.PASSED), None, SETTING)
    assert mark is not None
    assert mark.tests is Verification.UNCONFIRMED


def test_where_no_test_tells_them_apart_an_input_is_shown_that_does(tmp_path: Path) -> None:
    path = tmp_path / "gap.py"
    path.write_text(
        GAP.format("!=").replace("\n", '\n    """The gap.\n\n    >>> gap(2, 1)\n    1\n    """\n', 1)
    )
    scope = scope_of(path.read_text(), path)
    (found,) = doubts(WordModel({">": -0.1, "!=": -6.0}), scope, margins={"comparison": 3.0})
    (mark,) = settle(WordModel({}), scope, [found], best_sandbox())
    assert isinstance(mark, Doubt)
    assert mark.tests is Verification.SAME
    assert mark.apart is not None
    assert doubt_sentence(mark).endswith("; no test distinguishes them)")
    assert f"`{mark.apart.call}`: `{mark.apart.original}` or" in doubt_sentence(mark)


def test_what_is_run_is_bounded(tmp_path: Path) -> None:
    terms = " + ".join(f"a * {number}" for number in range(2, 40))
    scope = scope_of(f"def f(a, b):\n    return {terms}\n", tmp_path / "long.py")
    failing, endless = Scripted(Judgement.FAILED), Scripted(Judgement.TIMED_OUT)
    assert fix_for(WordModel({}), scope, failing, None, SETTING) is None
    assert len(failing.asked) == MOST
    assert fix_for(WordModel({}), scope, endless, None, SETTING) is None
    assert MOST_ENDLESS <= len(endless.asked) < MOST_ENDLESS + AT_ONCE


def test_an_ignored_line_is_not_fixed(tmp_path: Path) -> None:
    text = PLANTED["arithmetic"].wrong.replace("height\n", "height  # counterlens: ignore\n", 1)
    assert "ignore" in text
    path = tmp_path / "planted.py"
    path.write_text(text)
    (mark,) = settle(WordModel({}), scope_of(text, path), (), best_sandbox())
    assert isinstance(mark, FailingFunction)
    path.write_text(text := text.replace("height):", "height):  # counterlens: ignore"))
    assert settle(WordModel({}), scope_of(text, path), (), best_sandbox()) == []
