"""What a failing example expected and got, from the objects of doctest and pytest."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from counterlens.judging.base import FailureDetail, brief
from counterlens.python.judging.sandboxed.runner.failures import describe, detail_of, unlike
from counterlens.python.judging.unittests import read_detail

WORDS = st.text(st.sampled_from("ab1 '[],:="), min_size=1, max_size=20).map(str.strip).filter(bool)
LINES = st.lists(WORDS, min_size=1, max_size=9).map("\n".join)


def failure_of(source: str, wanted: str, space: dict[str, object]) -> BaseException:
    """What doctest raises for a failing example."""
    test = doctest.DocTest([doctest.Example(source, wanted)], space, "calc.total", "calc.py", 3, None)
    with pytest.raises((doctest.DocTestFailure, doctest.UnexpectedException)) as caught:
        doctest.DebugRunner(verbose=False).run(test, clear_globs=False)
    return caught.value


def detail(error: BaseException) -> FailureDetail:
    return read_detail(detail_of(error, lambda file: file == "calc.py"))


@given(wanted=LINES, got=LINES)
def test_an_example_is_told_in_full(wanted: str, got: str) -> None:
    assume(doctest.OutputChecker().check_output(f"{wanted}\n", f"{got}\n", 0) is False)
    error = failure_of("show(1)", f"{wanted}\n", {"show": lambda _: print(got)})
    assert describe(error) == f">>> show(1)\n{unlike(wanted, got)}"
    assert detail(error) == FailureDetail(statement="show(1)", operator="example", left=got, right=wanted)


@example(wanted="1", got="1\n1", before=0, width=190)
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
    assert describe(failure_of("{}[1]", "2\n", {})) == ">>> {}[1]\nraised:   KeyError: 1"
    assert describe(failure_of("print(1)", "", {})) == ">>> print(1)\nexpected: nothing\ngot:      1"
    assert describe(failure_of("None", "1\n", {})) == ">>> None\nexpected: 1\ngot:      nothing"


def test_the_line_of_the_program_that_raised_it_is_told() -> None:
    space: dict[str, object] = {}
    exec(compile("\n\ndef total(x):\n    return {}[x]\n", "calc.py", "exec"), space)  # noqa: S102
    error = failure_of("total(1)", "2\n", space)
    assert describe(error) == ">>> total(1)\nraised:   KeyError: 1\nat calc.py:4: "
    told = FailureDetail(statement="total(1)", operator="example", right="2", error="KeyError: 1", at=4)
    assert detail(error) == told


def test_an_exception_that_only_looks_like_a_failing_example_is_told_as_it_is() -> None:
    error = type("MultipleDoctestFailures", (ValueError,), {"failures": "no", "__module__": "builtins"})("so")
    assert describe(error) == "MultipleDoctestFailures: so"
    assert detail(error) == FailureDetail(error="MultipleDoctestFailures: so")


@given(
    st.dictionaries(
        st.sampled_from(["line", "left", "error", "other"]), st.none() | st.integers() | st.text()
    )
)
def test_whatever_a_runner_tells_is_read(told: dict[str, object]) -> None:
    assert isinstance(read_detail(told), FailureDetail)
