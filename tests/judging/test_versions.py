"""Versions of a function beside each other on the same inputs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from counterlens.judging.base import Setting
from counterlens.judging.languages import run_versions
from counterlens.judging.versions import InputOutcomes, VersionRuns
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

MEDIAN = '''
def median(values):
    """The middle value.

    >>> median([3, 1, 2])
    2
    """
    return values[len(values) // 2]
'''
RIGHT = MEDIAN.replace("return values", "return sorted(values)")
RAISING = MEDIAN.replace("return values[len(values) // 2]", "raise KeyError")
ENDLESS = MEDIAN.replace("return values", "while len(values) > 4: pass\n    return values")
RANDOM = MEDIAN.replace("return values[len(values) // 2]", "import os\n    return os.urandom(8)")


@pytest.fixture(scope="module")
def setting() -> Setting:
    return Setting(best_sandbox(), Path(sys.executable), Limits(seconds=20.0, output_bytes=16 << 20))


def run(setting: Setting, text: str, *programs: str, texts: tuple[str, ...] = ()) -> VersionRuns:
    document = Document(text)
    function = find_function(document, document.text.partition("def ")[2].partition("(")[0])
    runs = run_versions(document, function, programs, setting, texts=texts)
    assert not isinstance(runs, str), runs
    return runs


def outcome(runs: VersionRuns, call: str) -> InputOutcomes:
    return next(each for each in runs.inputs if each.call == call)


def test_each_version_has_an_outcome_for_each_input(setting: Setting) -> None:
    runs = run(setting, MEDIAN, RIGHT, RIGHT, RAISING, texts=("median([5, 4, 9, 0])",))
    example = outcome(runs, "median([3, 1, 2])")
    assert [each.text for each in example.outcomes] == [
        "returned 1", "returned 2", "returned 2", "raised KeyError",
    ]  # fmt: skip
    assert [each.group for each in example.outcomes] == [0, 1, 1, 3]
    assert example.given
    assert outcome(runs, "median([5, 4, 9, 0])").given
    drawn = [each for each in runs.inputs if not each.given]
    assert len(drawn) > 20
    assert any(each.outcomes[0].group == each.outcomes[1].group for each in drawn)
    assert runs.troubles == (None, None, None, None)


def test_a_given_input_counts_although_the_document_raises(setting: Setting) -> None:
    runs = run(setting, RAISING, RIGHT)
    assert [each.text for each in outcome(runs, "median([3, 1, 2])").outcomes] == [
        "raised KeyError", "returned 2",
    ]  # fmt: skip


def test_versions_without_an_outcome_say_why(setting: Setting) -> None:
    renamed, broken = MEDIAN.replace("def median", "def mean"), MEDIAN + ")"
    runs = run(setting, MEDIAN, ENDLESS, RANDOM, renamed, broken, texts=("median([1, 2, 3, 4, 5])",))
    endless, random, missing, invalid = outcome(runs, "median([1, 2, 3, 4, 5])").outcomes[1:]
    assert (endless.text, endless.group) == ("did not end (time)", None)
    assert (random.text, random.group) == ("has two outcomes", None)
    assert (missing.text, invalid.text) == ("was not run", "was not run")
    assert runs.troubles[3] == "it does not define median"
    assert runs.troubles[4]


def test_the_literals_of_a_version_suggest_inputs(setting: Setting) -> None:
    rule = "def is_leap(year: int) -> bool:\n    return year % 4 == 0\n"
    runs = run(setting, rule, rule.replace("== 0", "== 0 and year % 100 != 0"))
    apart = [each.call for each in runs.inputs if each.outcomes[1].group != 0]
    assert "is_leap(100)" in apart


def test_a_version_that_reaches_a_limit_counts_on_other_inputs(setting: Setting) -> None:
    code = "def product(n: int) -> int:\n    return 1\n"
    runs = run(setting, code, code.replace("return 1", "return 1 if n == 0 else n * product(n - 1)"))
    assert "RecursionError" in outcome(runs, "product(-1)").outcomes[1].text
    assert outcome(runs, "product(5)").outcomes[1].text == "returned 120"


def test_without_given_inputs_some_are_unlike_those_that_docstrings_speak_of(setting: Setting) -> None:
    code = "def top(values: list[float], word: str) -> str:\n    return f'{max(values, default=0)} {word}'\n"
    runs = run(setting, code)
    odd = [each for each in runs.inputs if re.search(r"nan|inf|\[\]|, '( .*|.* )?'\)|[^ -~]", each.call)]
    usual = [
        each for each in runs.inputs if re.fullmatch(r"top\(\[[-\d.e, ]+\], '\w+'\)", each.call, re.ASCII)
    ]
    assert min(len(odd), len(usual)) > 5
    assert {each.like_given for each in odd} == {False}
    assert {each.like_given for each in usual} == {None}


def test_an_input_that_shows_a_difference_can_be_made_simpler(setting: Setting) -> None:
    code = "def joined(rows: list[list[int]]) -> list[int]:\n    return [n for row in rows for n in row]\n"
    runs = run(setting, code, code.replace("in rows", "in rows[::-1]"))
    assert runs.further is not None
    apart = [each.call for each in runs.inputs if each.outcomes[1].group != 0]
    call = sorted(apart, key=len)[len(apart) // 2]
    while call:
        simplest, tried = call, runs.further.outcomes(runs.further.simpler(call), (0, 1))
        call = next((each.call for each in tried if each.outcomes[1].group != 0), "")
    assert simplest in {"joined([[0], [1]])", "joined([[1], [0]])"}  # no step from either differs
    assert runs.further.simpler("joined([[7]])") == [], "an input that was never run"


def test_without_any_input_the_reason_is_given(setting: Setting) -> None:
    document = Document("class A:\n    def __init__(self, b): pass\n    def f(self): return 1\n")
    reason = run_versions(document, find_function(document, "A.f"), (), setting)
    assert isinstance(reason, str)
    assert "no object" in reason
