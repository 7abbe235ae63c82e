"""What a failing example expected and got, from the reports of every runner."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from counterlens.judging.base import brief
from counterlens.python.judging.doctest_reports import outcome_of, unlike

WORDS = st.text(st.sampled_from("ab1 '[],:="), min_size=1, max_size=20).map(str.strip).filter(bool)
LINES = st.lists(WORDS, min_size=1, max_size=9).map("\n".join)


def reported(source: str, wanted: str, space: dict[str, object]) -> str:
    """What doctest itself writes about a failing example."""
    example = doctest.Example(source, wanted)
    said: list[str] = []
    test = doctest.DocTest([example], space, "calc.total", "calc.py", 3, None)
    assert doctest.DocTestRunner(verbose=False).run(test, out=said.append).failed
    return "".join(said)


@given(wanted=LINES, got=LINES)
def test_what_doctest_reports_is_told_in_full(wanted: str, got: str) -> None:
    assume(doctest.OutputChecker().check_output(f"{wanted}\n", f"{got}\n", 0) is False)
    report = reported("show(1)", f"{wanted}\n", {"show": lambda _: print(got)})
    assert outcome_of(report) == f">>> show(1)\n{unlike(wanted, got)}"


@given(wanted=LINES, got=LINES, before=st.integers(0, 9), width=st.integers(0, 300))
def test_what_differs_is_shown_however_long_the_outputs_are(
    wanted: str, got: str, before: int, width: int
) -> None:
    assume(wanted != got)
    common = "line\n" * before + "x" * width
    message = unlike(f"{common}{wanted}\n", f"{common}{got}\n")
    assert brief(message) == message
    expected, _, printed = message.removeprefix("expected: ").partition("\ngot:      ")
    assert expected != printed


def test_an_exception_is_told_without_its_traceback() -> None:
    report = reported("{}[1]", "2\n", {})
    assert outcome_of(report) == ">>> {}[1]\nraised:   KeyError: 1"
    assert outcome_of(reported("print(1)", "", {})) == ">>> print(1)\nexpected: nothing\ngot:      1"
    assert outcome_of(reported("None", "1\n", {})) == ">>> None\nexpected: 1\ngot:      nothing"


PYTEST = """\
004     Some words about it.
005     >>> total([0])
006     0
{number}     >>> total([1, 2])
Expected:
    3
Got:
    1

/home/someone/calc.py:13: DocTestFailure"""


@pytest.mark.parametrize("number", ["013", "???"])
def test_the_last_example_that_pytest_shows_is_the_one_that_failed(number: str) -> None:
    report = PYTEST.format(number=number)
    assert outcome_of(report) == ">>> total([1, 2])\nexpected: 3\ngot:      1"


def test_where_pytest_shows_a_traceback_the_line_that_raised_is_told() -> None:
    report = """\
019 Doc.
021     >>> boom(1)
UNEXPECTED EXCEPTION: KeyError(1)
Traceback (most recent call last):
  File "/usr/lib/python3.11/doctest.py", line 1351, in __run
    exec(compile(example.source, filename, "single",
  File "<doctest calc.boom[0]>", line 1, in <module>
  File "/home/someone/calc.py", line 24, in boom
    return {}[x]
           ~~^^^
KeyError: 1
/home/someone/calc.py:21: UnexpectedException"""
    assert outcome_of(report) == ">>> boom(1)\nraised:   KeyError: 1\nat calc.py:24: return {}[x]"


@given(st.text(st.sampled_from("01? >.\nExpectedGot:")))
def test_any_other_message_stays_as_it_is(message: str) -> None:
    assert outcome_of(message) == message
