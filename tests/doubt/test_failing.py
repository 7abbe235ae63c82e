"""Failing tests in words, the nearest of several, and the function that is to blame."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from counterlens.doubt.blaming import culprits
from counterlens.doubt.failing import FailingFunction, failed_test, nearest_failure
from counterlens.doubt.generating import scopes
from counterlens.doubt.marking import Doubt, Mark
from counterlens.doubt.scope import DoubtScope
from counterlens.doubt.settling import settle
from counterlens.judging.base import FailedCase
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


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("assert total([1]) == 12\nassert 10 == 12\n +  where 10 = total([1])", "expected 12, got 10"),
        ("assert 12 == total([1])\nassert 12 == 10", "expected 12, got 10"),
        (
            "assert total(\n        [1]) == 'a'\nAssertionError: assert 'b' == 'a'\n  - a",
            "expected 'a', got 'b'",
        ),
        ("assert total(1), 'why'\nAssertionError: why\nassert None", "expected a true value, got None"),
        ("assert not total(1)\nassert not 3", "expected not 3, got 3"),
        ("assert 3 < total(1)\nassert 3 < 2", "expected > 3, got 2"),
        ("assert total(1) is None\nassert <object at 0x1> is None", "expected None, got <object at 0x1>"),
        (
            f"assert total(1) == {'word, ' * 20}last\nassert ({'word, ' * 20}first) == ({'word, ' * 20}last)",
            "expected …word, word, word, last), got …word, word, word, first)",
        ),
        ("self.assertEqual(12, total(3))\nAssertionError: 12 != 10", "expected 12, got 10"),
        (
            "self.assertEqual(total(3), [1])\nAssertionError: Lists differ: [2] != [1]\n\nFirst",
            "expected [1], got [2]",
        ),
        ("self.assertTrue(total(3))\nAssertionError: None is not true", "expected True, got None"),
        (
            "with pytest.raises(OSError):\nFailed: DID NOT RAISE <class 'OSError'>",
            "expected OSError, got no exception",
        ),
        (
            "with self.assertRaises(KeyError):\nAssertionError: KeyError not raised",
            "expected KeyError, got no exception",
        ),
    ],
)
def test_a_failed_assertion_is_told_by_its_values(message: str, sentence: str, tmp_path: Path) -> None:
    scope = scope_in(tmp_path, "bill.py", TOTAL)
    failure = FailedCase("test_bill.py::test_total", f"test_bill.py:5: {message}", tmp_path / "test_bill.py")
    test = failed_test(scope, failure)
    assert (failure_sentence(test), test.line) == (f"`test_total`: {sentence}", 5)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("assert total(1) == [A()]\nassert [<A at 0x7f04>] == [<A at 0x7f81>]", "`assert total(1) == [A()]`"),
        ("assert total(1) == b\nassert [<A.b...f8>] == [<A.b...f8>]", "`assert total(1) == b`"),
        ("assert total([1]) == 12\nAssertionError", "`assert total([1]) == 12`"),
        (f"assert {'total(' * 9}some_thing{')' * 9}\nAssertionError", f"`assert {'total(' * 8}…`"),
        ("assert total(1)\nAssertionError: it is not so", "AssertionError: it is not so"),
    ],
)
def test_where_no_difference_shows_the_statement_or_the_message_does(
    message: str, said: str, tmp_path: Path
) -> None:
    scope = scope_in(tmp_path, "bill.py", TOTAL)
    failure = FailedCase("test_bill.py::test_total", f"test_bill.py:5: {message}", tmp_path / "test_bill.py")
    assert failure_sentence(failed_test(scope, failure)) == f"`test_total` fails: {said}"


def test_an_exception_is_told_with_the_line_that_raised_it(tmp_path: Path) -> None:
    scope = scope_in(tmp_path, "bill.py", TOTAL)
    message = "test_bill.py:5: total({})\nKeyError: 'x'\nat bill.py:2: return sum(values)"
    file = tmp_path / "test_bill.py"
    test = failed_test(scope, FailedCase("test_bill.py::TestBill::test_total[a]", message, file))
    assert failure_sentence(test) == ("`TestBill.test_total[a]`: `total({})` raises KeyError: 'x' at line 2")
    deep = FailedCase("test_bill.py::test_deep", "test_bill.py:7: total(9)\nRecursionError: too deep", file)
    assert (
        failure_sentence(failed_test(scope, deep))
        == "`test_deep`: `total(9)` raises RecursionError: too deep"
    )
    endless = failed_test(scope, FailedCase("test_bill.py::test_total", "stopped", file, endless=True))
    assert failure_sentence(endless) == "`test_total` does not end"
    example = failed_test(scope, FailedCase("total([1])", "expected: 12\ngot:      10"))
    assert failure_sentence(example) == "`total([1])`: expected 12, got 10"
    item = FailedCase(
        "bill.py::bill.total", ">>> total(\n... )\nexpected: 12\ngot:      10", scope.document.path
    )
    assert failure_sentence(failed_test(scope, item)) == "`total( ... )`: expected 12, got 10"
    raised = failed_test(scope, FailedCase("total([1])", "raised:   TypeError: no"))
    assert failure_sentence(raised) == "`total([1])` raises TypeError: no"


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
