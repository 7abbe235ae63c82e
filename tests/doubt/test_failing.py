"""Failing tests in words, the nearest of several, and the function that is to blame."""

from __future__ import annotations

import sys
import textwrap
import venv
from pathlib import Path
from typing import Any

import pytest

from counterlens.doubt.blaming import culprits
from counterlens.doubt.failing import FailingFunction, failed_test, nearest_failure
from counterlens.doubt.generating import scopes
from counterlens.doubt.marking import Doubt, Mark
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.settling import judge_for, settle
from counterlens.judging.base import FailedCase, FailureDetail, Setting
from counterlens.reports.export.doubts import failure_sentence, mark_sentence
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.doubt.conftest import WordModel

TOTAL = "def total(values):\n    return sum(values)\n"


def scope_in(folder: Path, name: str, text: str, number: int = 0) -> DoubtScope:
    path = folder / name
    path.write_text(text)
    return scopes(Document(text, path))[number]


def marks_in(folder: Path, files: dict[str, str], file: str) -> list[Mark]:
    """The marks of all functions of a file, with the other files beside it."""
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text))
    document = Document((folder / file).read_text(), folder / file)
    return culprits(
        [mark for scope in scopes(document) for mark in settle(WordModel({}), scope, (), best_sandbox())]
    )


LONG = "ab_" * 9 + "key"  # a name is not cut, even if the difference is after it


def failed(statement: str, operator: str = "", left: str = "", right: str = "", **more: Any) -> FailureDetail:
    return FailureDetail(5, statement, operator, left, right, **more)


@pytest.mark.parametrize(
    ("detail", "sentence"),
    [
        (failed("assert total([1]) == 12", "==", "10", "12"), "expected 12, got 10"),
        (failed("assert 12 == total([1])", "==", "12", "10"), "expected 12, got 10"),
        (failed("assert (\n    12 == total(\n[1])), 'why'", "==", "12", "10"), "expected 12, got 10"),
        (failed("assert total(1), 'why'", "true", "None"), "expected a true value, got None"),
        (failed("assert not total(1)", "not", "3"), "expected not 3, got 3"),
        (failed("assert 3 < total(1)", "<", "3", "2"), "expected > 3, got 2"),
        (failed("assert total(1) not in seen", "not in", "1", "[1]"), "expected none of [1], got 1"),
        (failed("assert total(1) is None", "is", "<object>", "None"), "expected None, got <object>"),
        (
            failed("assert total() == x", "==", f"{'word, ' * 20}first", f"{'word, ' * 20}last"),
            "expected …word, word, word, last, got …word, word, word, first",
        ),
        (
            failed("assert total() == x", "==", *(f"{{{'0, ' * 20}'{LONG}': {n}}}" for n in (1, 2))),
            f"expected …{LONG}': 2}}, got …{LONG}': 1}}",
        ),
        (failed("self.assertEqual(12, total(3))", "==", "12", "10"), "expected 12, got 10"),
        (failed("self.assertTrue(total(3))", "is", "None", "True"), "expected True, got None"),
        (failed("with raises(OSError):", "raises", "no exception", "OSError"), "expected OSError, got no exception"),  # noqa: E501
    ],
)  # fmt: skip
def test_a_failed_assertion_is_told_by_its_values(
    detail: FailureDetail, sentence: str, tmp_path: Path
) -> None:
    scope = scope_in(tmp_path, "bill.py", TOTAL)
    file = tmp_path / "test_bill.py"
    test = failed_test(scope, FailedCase("test_bill.py::test_total", "", file, detail=detail))
    assert (failure_sentence(test), test.line) == (f"`test_total`: {sentence}", 5)


@pytest.mark.parametrize(
    ("detail", "message", "said"),
    [
        (
            failed("assert total(1) == b", "==", "[<A at 0x7f04>]", "[<A at 0x7f04>]"),
            "",
            "`assert total(1) == b`",
        ),
        (failed("assert total([1]) == 12"), "AssertionError", "`assert total([1]) == 12`"),
        (
            failed(f"assert {'total(' * 9}some_thing{')' * 9}"),
            "AssertionError",
            f"`assert {'total(' * 8}…`",
        ),
        (
            failed("assert total(1)"),
            "t.py:5: assert total(1)\nAssertionError: not so",
            "AssertionError: not so",
        ),
        (None, "no runner told anything", "no runner told anything"),
    ],
)
def test_where_no_difference_shows_the_statement_or_the_message_does(
    detail: FailureDetail | None, message: str, said: str, tmp_path: Path
) -> None:
    scope = scope_in(tmp_path, "bill.py", TOTAL)
    file = tmp_path / "test_bill.py"
    failure = FailedCase("test_bill.py::test_total", message, file, detail=detail)
    assert failure_sentence(failed_test(scope, failure)) == f"`test_total` fails: {said}"


def test_an_exception_is_told_with_the_line_that_raised_it(tmp_path: Path) -> None:
    scope = scope_in(tmp_path, "bill.py", TOTAL)
    file = tmp_path / "test_bill.py"

    def told(name: str, detail: FailureDetail, file: Path | None = file) -> str:
        return failure_sentence(failed_test(scope, FailedCase(name, "", file, detail=detail)))

    raised = failed("total({})", error="KeyError: 'x'", at=2)
    name = "test_bill.py::TestBill::test_total[a]"
    assert told(name, raised) == "`TestBill.test_total[a]`: `total({})` raises KeyError: 'x' at line 2"
    deep = failed("total(9)", error="RecursionError: too deep\nat all")
    assert told("t.py::test_deep", deep) == "`test_deep`: `total(9)` raises RecursionError: too deep"
    stopped = failed_test(scope, FailedCase("test_bill.py::test_total", "stopped", file, endless=True))
    assert failure_sentence(stopped) == "`test_total` does not end"
    example = failed("total(\n)", "example", "10\n", "12\n")
    assert told("total()", example, None) == "`total( )`: expected 12, got 10"
    assert told("bill.py::bill.total", example, scope.document.path) == "`total( )`: expected 12, got 10"
    raising = failed("total([1])", "example", right="12", error="TypeError: no")
    assert told("total([1])", raising, None) == "`total([1])` raises TypeError: no"


COMPARED = """\
    import unittest
    import pytest
    from bill import total

    def check(value, wanted):
        assert value == wanted

    def test_helper():
        check(total([1]), 5)

    def test_caught():
        with pytest.raises(AssertionError):
            assert total([1]) == 2
        assert total([2]) < 1

    def test_raises():
        with pytest.raises((KeyError, OSError)):
            total([])

    def test_truth():
        assert not total([1]), "it is none"

    def test_long():
        assert [total([n]) for n in range(2000)] == []

    class Unshowable:
        def __repr__(self):
            raise ValueError

    def test_unshowable():
        assert Unshowable() == total([1])

    class TestTotal(unittest.TestCase):
        def test_equal(self):
            self.assertEqual([1], [total([3])], "why")

        def test_lists(self):
            with self.subTest(1):
                self.assertListEqual([total([3])], [1])

        def test_raised(self):
            with self.assertRaises(KeyError):
                total([3])

        def test_order(self):
            self.assertGreater(3, total([4]))

        def test_true(self):
            self.assertIsNone(total([4]))
"""
SENTENCES = {
    "test_helper": "expected 5, got 1",
    "test_caught": "expected < 1, got 2",
    "test_raises": "expected KeyError or OSError, got no exception",
    "test_truth": "expected not 1, got 1",
    "test_long": "expected [], got [0, 1, 2, 3, 4, 5, ...]",
    "test_unshowable": "expected <Unshowable>, got 1",
    "TestTotal.test_equal": "expected [1], got [3]",
    "TestTotal.test_lists": "expected [1], got [3]",
    "TestTotal.test_raised": "expected KeyError, got no exception",
    "TestTotal.test_order": "expected < 3, got 4",
    "TestTotal.test_true": "expected None, got 4",
}


@pytest.mark.parametrize("without_pytest", [False, True])
def test_the_runners_tell_what_was_compared(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, *, without_pytest: bool
) -> None:
    tests, python = COMPARED, Path(sys.executable)
    if without_pytest:
        python = tmp_path_factory.mktemp("bare") / "bin/python"
        venv.create(python.parents[1], symlinks=True)
        tests = COMPARED[: COMPARED.index("    import pytest")] + COMPARED[COMPARED.index("    from bill") :]
        tests = tests[: tests.index("    def check")] + tests[tests.index("    class TestTotal") :]
    (tmp_path / "bill.py").write_text(TOTAL)
    (tmp_path / "test_bill.py").write_text(textwrap.dedent(tests))
    scope = scopes(Document(TOTAL, tmp_path / "bill.py"))[0]
    judge = judge_for(scope, Setting(best_sandbox(), python))
    assert judge is not None
    standing = judge.standing(TOTAL)
    assert standing is not None
    told = {test.name: failure_sentence(test) for test in (failed_test(scope, f) for f in standing.failures)}
    expected = {name: f"`{name}`: {sentence}" for name, sentence in SENTENCES.items()}
    assert told == {
        n: said for n, said in expected.items() if n.startswith("TestTotal") or not without_pytest
    }


def test_the_nearest_failing_test_is_named(tmp_path: Path) -> None:
    scope = scope_in(tmp_path, "bill.py", TOTAL)
    (tmp_path / "test_bill.py").write_text(
        "def test_other(): ...\ndef test_sum():\n    assert total([1]) == 1\n"
    )
    (tmp_path / "test_far.py").write_text("def test_total():\n    assert invoice() == 1\n")

    def failure(name: str) -> FailedCase:
        return FailedCase(name, "", tmp_path / name.partition("::")[0])

    far, near, direct = map(
        failure, ("test_far.py::test_total", "test_bill.py::test_other", "test_bill.py::test_sum")
    )
    nearest = nearest_failure(scope, [far, near, direct])
    assert nearest is not None
    assert nearest.name == "test_sum"
    assert nearest.near
    alone = nearest_failure(scope, [far])
    assert alone is not None
    assert not alone.near
    assert nearest_failure(scope, []) is None


BILL = """\
    TABLE = {}

    def clean(name):
        name.strip()
        TABLE[name]
        return TABLE

    def label(name):
        return clean(name) + "!"

    def size(name):
        return len(name)
"""
TESTS = """\
    import bill
    from bill import clean, label, size

    def test_size():
        assert size("ab") == 2

    def test_label():
        assert label("x ") == "x!"

    def test_clean():
        assert clean("x ") == "x"
"""


def test_a_function_whose_tests_fail_is_marked_without_a_fix_and_its_callers_are_not(tmp_path: Path) -> None:
    (mark,) = marks_in(tmp_path, {"bill.py": BILL, "test_bill.py": TESTS}, "bill.py")
    assert isinstance(mark, FailingFunction)
    assert mark.scope.function.name == "clean"
    assert mark_sentence(mark) == (
        """`test_clean`: `assert clean("x ") == "x"` raises KeyError: 'x ' at line 5"""
    )
    assert mark.failed.file == tmp_path / "test_bill.py"
    assert mark.failed.line == 11
    assert mark.scope.document.text[slice(*mark.place)] == "clean"


def test_unittest_cases_are_told_too_and_a_function_without_tests_by_those_of_its_callers(
    tmp_path: Path,
) -> None:
    files = {
        "bill.py": """\
            def _round(value):
                return [value][1:]

            def price(value):
                return _round(value)
        """,
        "test_bill.py": """\
            import unittest
            import bill

            class TestPrice(unittest.TestCase):
                def test_price(self):
                    self.assertEqual(bill.price(2), 3)
        """,
    }
    (mark,) = marks_in(tmp_path, files, "bill.py")
    assert isinstance(mark, FailingFunction)
    assert mark.scope.function.name == "_round"
    assert mark_sentence(mark) == "`TestPrice.test_price`: expected 3, got []"


def test_a_bug_is_not_blamed_on_a_function_that_a_failing_test_only_mentions(tmp_path: Path) -> None:
    files = {
        "bill.py": """\
            def rate():
                return 2

            def price(value):
                return {value: rate() + rate()}
        """,
        "test_bill.py": """\
            from bill import price, rate

            def test_rate():
                assert rate() == 2

            def test_price():
                assert price(3) == 3 * rate()

            def test_price_again():
                assert price(4) == 8
        """,
    }
    marks = marks_in(tmp_path, files, "bill.py")
    assert [mark.scope.function.name for mark in marks] == ["price"]
    assert not any(isinstance(mark, Doubt) for mark in marks)


def test_a_function_that_never_calls_the_one_that_raised_is_not_marked(tmp_path: Path) -> None:
    files = {
        "bill.py": """\
            def _half(value):
                return value // 2

            def price(value):
                return _half(value) + tax(value)

            def tax(value):
                return missing
        """,
        "test_bill.py": """\
            from bill import price

            def test_price():
                assert price(4) == 3
        """,
    }
    marks = marks_in(tmp_path, files, "bill.py")
    assert [mark.scope.function.name for mark in marks] == ["tax"]


LONG = """\
    def total(values):
        \"\"\"Add numbers.

        Some words
        about it,
        so many
        that the report
        of an example
        is long.

        >>> total([1])
        1
        >>> total([1, 2])
        3
        \"\"\"
        return values[0]
"""
BY_UNITTEST = """\
    import doctest, unittest
    import bill

    class TestBill(unittest.TestCase):
        def test_total(self):
            doctest.DebugRunner().run(doctest.DocTestFinder().find(bill.total, globs=vars(bill))[0])
"""


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pytest.ini": "[pytest]\naddopts = --doctest-modules\n"},
        {"test_bill.py": BY_UNITTEST},
    ],
    ids=["by itself", "pytest", "unittest"],
)
def test_a_failing_example_is_told_by_what_it_expected_and_got(files: dict[str, str], tmp_path: Path) -> None:
    (mark,) = marks_in(tmp_path, {"bill.py": LONG, **files}, "bill.py")
    assert isinstance(mark, FailingFunction)
    assert mark_sentence(mark).startswith("`total([1, 2])`: expected 3, got 1")
    assert mark.failed.line == 13
