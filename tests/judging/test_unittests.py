"""The user's tests, with pytest and without it, in the layouts that projects have."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import Judge, Judgement, Setting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

JudgeOf = Callable[..., Judge]
Project = Callable[[Mapping[str, str]], Path]

SHOP = """
    def total(prices, discount=0):
        return sum(prices) - discount

    class Basket:
        def __init__(self):
            self.prices = []

        def add(self, price):
            self.prices.append(price)
            return self
"""
PYTEST_TESTS = """
    import unittest
    import pytest
    from shop.sums import Basket, total

    @pytest.mark.parametrize(("prices", "expected"), [([], 0), ([1, 2], 3)])
    def test_total(prices, expected):
        assert total(prices) == expected

    def test_discount(basket, tmp_path):
        (tmp_path / "scratch").write_text("a test may write here")
        assert total(basket.prices, 1) == 4

    class TestTotal(unittest.TestCase):
        def setUp(self):
            self.prices = [1, 1]

        def test_method(self):
            self.assertEqual(total(self.prices), 2)

    class TestAdd:
        def test_add(self, basket):
            assert basket.add(1).prices == [2, 3, 1]

    @pytest.mark.parametrize("number", range(3))
    def test_not_chosen(number):
        assert False, "does not mention the function"

    @pytest.mark.skip(reason="not today")
    def test_skipped():
        total([])

    @pytest.mark.xfail
    def test_expected_to_fail():
        assert total([]) == 5
"""
CONFTEST = """
    import pytest

    def pytest_generate_tests(metafunc):
        assert metafunc.function.__name__ != "test_not_chosen", "its parameters would be collected in vain"

    from shop.sums import Basket

    @pytest.fixture
    def basket():
        return Basket().add(2).add(3)
"""
FILES = {
    "src/shop/__init__.py": "from .sums import total",
    "src/shop/sums.py": SHOP,
    "tests/test_sums.py": PYTEST_TESTS,
    "tests/conftest.py": CONFTEST,
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--no-such-option'\n",
}


def test_pytest_in_a_src_layout(project: Project, judge_of: JudgeOf, python_with_pytest: Path) -> None:
    path = project(FILES) / "src/shop/sums.py"
    text = path.read_text()
    before = {p: p.stat().st_mtime_ns for p in path.parents[2].rglob("*")}
    judge = judge_of(path, "total", python=python_with_pytest)
    assert (judge.attribution, judge.tests) == ("tests", 3)

    verdict = judge.judge(text)
    assert verdict.passed, verdict
    assert verdict.evidence.tests == 4
    assert verdict.evidence.message.startswith("2 tests left out: test_sums.py::test_skipped: ")

    wrong = judge.judge(text.replace("- discount", "+ discount"))
    assert wrong.judgement is Judgement.FAILED
    assert wrong.evidence.failed == "tests/test_sums.py::test_discount"
    assert "test_sums.py:11: assert total(basket.prices, 1) == 4\nassert 6 == 4" in wrong.evidence.message

    assert {p: p.stat().st_mtime_ns for p in path.parents[2].rglob("*")} == before  # it was only read


def test_a_method_is_judged_by_tests_that_reach_it(
    project: Project, judge_of: JudgeOf, python_with_pytest: Path
) -> None:
    path = project(FILES) / "src/shop/sums.py"
    text = path.read_text()
    judge = judge_of(path, "Basket.add", python=python_with_pytest)
    assert judge.tests == 2  # test_add, and test_discount through its fixture
    assert judge.judge(text).passed
    wrong = judge.judge(text.replace("append(price)", "insert(0, price)"))
    assert wrong.judgement is Judgement.FAILED
    assert wrong.evidence.failed == "tests/test_sums.py::TestAdd::test_add"


def test_tests_and_doctest_judge_together(project: Project, judge_of: JudgeOf, bare_python: Path) -> None:
    folder = project(
        {
            "one.py": 'def one():\n    """\n    >>> one()\n    1\n    """\n    return 1\n',
            "test_one.py": "from one import one\ndef test_one():\n    assert one() == 1 or one() == 2\n",
        }
    )
    judge = judge_of(folder / "one.py", "one", python=bare_python)
    text = (folder / "one.py").read_text()
    assert (judge.attribution, judge.tests) == ("tests+doctest", 2)
    verdict = judge.judge(text)
    assert verdict.passed
    assert (verdict.evidence.attribution, verdict.evidence.tests) == ("tests+doctest", 2)
    by_doctest = judge.judge(text.replace("return 1", "return 2"))
    assert (by_doctest.judgement, by_doctest.evidence.failed) == (Judgement.FAILED, "one()")
    by_tests = judge.judge(text.replace("return 1", "return 3"))
    assert by_tests.evidence.failed == "test_one.py::test_one"
    assert by_tests.evidence.attribution == "tests"


UNITTEST_TESTS = """
    import importlib.util, pathlib, unittest
    import sums
    from sums import total as add_up

    class TotalTest(unittest.TestCase):
        def test_alias(self):
            self.assertEqual(add_up([1, 2]), 3)

        def test_module(self):
            with self.subTest("one"):
                self.assertEqual(sums.total([1, 2], 1), 2)

        def test_by_path(self):
            path = pathlib.Path(sums.__file__)
            spec = importlib.util.spec_from_file_location("loaded", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self.assertEqual(module.total([1, 2], 1), sums.total([1, 2], 1))
            self.assertEqual("+ discount" in spec.loader.get_source("loaded"), module.total([], 1) > 0)

    class AsyncTest(unittest.IsolatedAsyncioTestCase):
        async def test_awaited(self):
            self.assertEqual(sums.total([3]), 3)

    class ForgottenTest(unittest.TestCase):
        async def test_never_awaited(self):
            self.assertEqual(sums.total([3]), "nobody sees this")

    def test_plain():
        assert sums.total([]) == 0

    def test_fixture(tmp_path):
        assert sums.total([]) == 0

    async def test_async():
        assert sums.total([]) == 0
"""


def test_without_pytest_unittest_runs_what_it_can(
    project: Project, judge_of: JudgeOf, bare_python: Path
) -> None:
    path = project({"sums.py": SHOP, "sums_test.py": UNITTEST_TESTS}) / "sums.py"
    text = path.read_text()
    judge = judge_of(path, "total", python=bare_python)
    verdict = judge.judge(text)
    assert verdict.passed, verdict
    assert verdict.evidence.tests == 5
    assert verdict.evidence.message == (
        "3 tests left out: sums_test.py::ForgottenTest::test_never_awaited: "
        "it is asynchronous, and unittest does not await it"
    )
    wrong = judge.judge(text.replace("- discount", "+ discount"))
    assert wrong.evidence.failed == "sums_test.py::TotalTest::test_module"
    assert "AssertionError: 4 != 2" in wrong.evidence.message
    broken = judge.judge(text + "\nraise ValueError('at import')")
    assert broken.judgement is Judgement.FAILED
    assert "ValueError: at import" in broken.evidence.message


def test_what_needs_pytest_is_refused_without_it(
    project: Project, judge_of: JudgeOf, bare_python: Path
) -> None:
    path = (
        project({"shop/__init__.py": "", "shop/sums.py": SHOP, "test_sums.py": PYTEST_TESTS}) / "shop/sums.py"
    )
    verdict = judge_of(path, "total", python=bare_python, vetted=False).judge(path.read_text())
    assert verdict.judgement is Judgement.REFUSED
    assert "it needs pytest, which this interpreter does not have" in verdict.evidence.message


def test_asynchronous_tests_are_reported_honestly(project: Project, judge_of: JudgeOf) -> None:
    folder = project(
        {
            "later.py": "async def later():\n    return 1\n",
            "tests/test_later.py": """
                import asyncio, unittest
                import pytest
                from later import later

                def test_run():
                    assert asyncio.run(later()) == 1

                async def test_unmarked():
                    assert await later() == 1

                @pytest.mark.asyncio
                async def test_marked():
                    assert await later() == 1

                class TestForgotten(unittest.TestCase):
                    async def test_never_awaited(self):
                        assert await later() == 3
            """,
        }
    )
    path = folder / "later.py"
    judge = judge_of(path, "later")
    verdict = judge.judge(path.read_text())
    assert verdict.passed, verdict
    assert verdict.evidence.tests == 2
    assert verdict.evidence.message.startswith("2 tests left out: test_later.py::test_unmarked")
    wrong = judge.judge(path.read_text().replace("return 1", "return 2"))
    assert wrong.evidence.failed == "tests/test_later.py::test_run"


def test_relative_imports_in_tests_and_modules(
    project: Project, judge_of: JudgeOf, bare_python: Path
) -> None:
    folder = project(
        {
            "pkg/__init__.py": "",
            "pkg/core.py": "from . import data\n\ndef size():\n    return len(data.ITEMS)\n",
            "pkg/data.py": "ITEMS = [1, 2]",
            "pkg/tests/__init__.py": "",
            "pkg/tests/test_core.py": "from ..core import size\n\ndef test_size():\n    assert size() == 2\n",
        }
    )
    path = folder / "pkg/core.py"
    judge = judge_of(path, "size", python=bare_python)
    assert judge.judge(path.read_text()).passed
    assert not judge.judge(path.read_text().replace("len(data.ITEMS)", "3")).passed


@pytest.mark.parametrize("with_pytest", [True, False])
def test_a_broken_test_file_is_explained(
    project: Project, judge_of: JudgeOf, bare_python: Path, python_with_pytest: Path, with_pytest: bool
) -> None:
    good = "from a import f\ndef test_f(): assert f() == 1\n"
    folder = project({"a.py": "def f(): return 1\n", "test_a.py": f"import nowhere\n{good}"})
    python = python_with_pytest if with_pytest else bare_python
    verdict = judge_of(folder / "a.py", "f", python=python, vetted=False).judge("def f(): return 1\n")
    assert verdict.judgement is Judgement.REFUSED
    assert "it needs nowhere, which this interpreter does not have" in verdict.evidence.message
    project({"test_b.py": good})
    judge = judge_of(folder / "a.py", "f", python=python)
    verdict = judge.judge("def f(): return 1\n")
    assert (verdict.judgement, verdict.evidence.tests) == (Judgement.PASSED, 1), verdict
    for program, reason in {
        "import nowhere\ndef f(): return 1\n": "No module named 'nowhere'",
        "def g(): return 1\n": "cannot import name 'f' from 'a'",
    }.items():
        verdict = judge.judge(program)
        assert verdict.judgement is Judgement.FAILED
        assert reason in verdict.evidence.message


@pytest.mark.parametrize("qualname", ["total", "Basket.add"])
def test_a_forced_failure_is_seen(
    project: Project, judge_of: JudgeOf, bare_python: Path, qualname: str
) -> None:
    tests = """
    from sums import Basket, total
    def test_both(): assert total(Basket().add(3).prices) == 3
    """
    path = project({"sums.py": SHOP, "test_sums.py": tests}) / "sums.py"
    judge = judge_of(path, qualname, python=bare_python)
    text = path.read_text()
    assert judge.judge(text).passed
    for line in ("return sum(prices) - discount", "self.prices.append(price)"):
        verdict = judge.judge(text.replace(line, "raise RuntimeError('forced')"))
        assert verdict.judgement is Judgement.FAILED
        assert "\nRuntimeError: forced\nat sums.py:" in verdict.evidence.message


def test_a_project_has_a_module_that_the_warm_interpreter_has_imported(
    project: Project, judge_of: JudgeOf
) -> None:
    """A plug-in, or pytest as it starts, has imported the library's `cmd`."""
    folder = project(
        {
            "pyproject.toml": "",
            "cmd.py": "STEP = 2\n",
            "steps.py": "from cmd import STEP\n\ndef after(place):\n    return place + STEP\n",
            "test_steps.py": "import cmd\nfrom steps import after\n\n"
            "def test_after():\n    assert after(1) == 1 + cmd.STEP\n",
        }
    )
    judge = judge_of(folder / "steps.py", "after")
    assert judge.judge((folder / "steps.py").read_text()).passed
    assert not judge.judge("def after(place):\n    return place\n").passed


@pytest.mark.parametrize(
    ("file", "judgement"),
    [
        ("calendar.py", Judgement.PASSED),
        ("json/__init__.py", Judgement.PASSED),
        ("random/parts.py", Judgement.PASSED),
        ("types.py", Judgement.PASSED),
        ("code.py", Judgement.PASSED),
        ("test.py", Judgement.PASSED),
        ("pluggy.py", Judgement.PASSED),
        ("sandboxed.py", Judgement.PASSED),
        ("counterlens/text.py", Judgement.PASSED),
        (
            "os.py",
            Judgement.REFUSED,
        ),  # every interpreter has it when it starts, so pytest finds the library's
        # What is built in to the interpreter wins over any file; some have it as a library.
        ("math.py", Judgement.REFUSED if "math" in sys.builtin_module_names else Judgement.PASSED),
        ("inspect.py", Judgement.REFUSED),  # pytest does not work with it
    ],
)
@pytest.mark.parametrize("vetted", [True, False])
def test_the_program_has_the_name_of_a_module_that_was_imported_before(
    project: Project, judge_of: JudgeOf, file: str, judgement: Judgement, vetted: bool
) -> None:
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    folder = project(
        {
            file.partition("/")[0] + "/__init__.py" if "/" in file else "other.py": "",
            file: "def half(x):\n    if x:\n        return x // 2\n    return 0\n",
            "test_half.py": f"from {module} import half\n\ndef test_half():\n    assert half(4) == 2\n",
        }
    )
    path = folder / file
    text = path.read_text()
    if vetted and judgement is Judgement.REFUSED:
        document = Document.read(path)
        function = find_function(document, "half")
        assert (
            find_judge(
                document,
                function,
                Setting(best_sandbox(), interpreter_for(document.path), vetted=True),
                fallback=False,
            )
            is None
        )
        return
    judge = judge_of(path, "half", vetted=vetted)
    assert judge.judge(text).judgement is judgement
    wrong = judge.judge(text.replace("// 2", "// 4")).judgement
    assert wrong is (Judgement.FAILED if judgement is Judgement.PASSED else judgement)


@pytest.mark.parametrize("name", ["calendar", "queue", "code", "json", "logging"])
def test_an_imported_file_has_the_name_of_a_module_that_was_imported_before(
    project: Project, judge_of: JudgeOf, name: str
) -> None:
    text = f"def after(x):\n    from {name} import STEP\n    return x + STEP\n"
    tests = "from steps import after\n\ndef test_after():\n    assert after(1) == 3\n"
    folder = project({f"{name}.py": "STEP = 2\n", "steps.py": text, "test_steps.py": tests})
    verdict = judge_of(folder / "steps.py", "after", vetted=False).judge(text)
    if name in {"json", "logging"}:  # pytest uses the library's
        assert verdict.judgement is Judgement.REFUSED, verdict
        assert f"{name} of the project has the name" in verdict.evidence.message
    else:
        assert verdict.passed, verdict


def test_a_function_has_the_name_of_its_module(
    project: Project, judge_of: JudgeOf, python_with_pytest: Path
) -> None:
    files = {
        "total/__init__.py": "from .total import *",
        "total/total.py": SHOP,
        "tests/test_total.py": "from total import total\n\ndef test_it():\n    assert total([1, 2]) == 3\n",
    }
    path = project(files) / "total/total.py"
    verdict = judge_of(path, "total", python=python_with_pytest).judge(path.read_text())
    assert verdict.passed


def test_tests_derive_a_class_from_one_of_the_program(
    project: Project, judge_of: JudgeOf, python_with_pytest: Path
) -> None:
    tests = """
        from shop.sums import Basket

        class Box(Basket):
            pass

        def test_box():
            assert Box().add(1).prices == [1]
    """
    files = {
        "pyproject.toml": "",
        "src/shop/__init__.py": "",
        "src/shop/sums.py": SHOP,
        "tests/test_box.py": tests,
    }
    path = project(files) / "src/shop/sums.py"
    text = path.read_text()
    judge = judge_of(path, "Basket.add", python=python_with_pytest)
    for program in (text, text.replace("append(price)", "extend([price])")):
        verdict = judge.judge(program)
        assert verdict.passed
        assert not verdict.evidence.message
