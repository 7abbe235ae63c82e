"""Tests found by running them: in the layouts that projects have, through code that mentions nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event

import pytest

from counterlens.attribution.base import Judge, Setting
from counterlens.attribution.coverage_tests import SECONDS, body_lines, find, map_of
from counterlens.attribution.discovery import files_with_tests
from counterlens.attribution.layout import layout_of
from counterlens.errors import Cancelled
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

Project = Callable[[Mapping[str, str]], Path]
FILES = {
    "pyproject.toml": "",
    "src/shop/__init__.py": "",
    "src/shop/rates.py": '''
        """Rates.

        >>> of("b")
        2
        """
        TABLE = {"a": 1, "b": 2}

        def _rate(kind):
            """The rate of a kind."""
            return TABLE.get(kind, 0)

        def _unused():
            return 1

        def of(kind):
            return _rate(kind)
    ''',
    "src/shop/sums.py": """
        from .rates import _rate

        class Basket:
            def __init__(self):
                self.kinds = []

            def total(self):
                return sum(_rate(kind) for kind in self.kinds)
    """,
    "tests/conftest.py": """
        import pytest
        from shop.sums import Basket

        @pytest.fixture
        def basket():
            return Basket()
    """,
    "tests/test_shop.py": """
        import unittest
        import pytest

        @pytest.mark.parametrize(("kinds", "total"), [([], 0), (["a"], 1), (["a", "b"], 3)])
        def test_total(basket, kinds, total):
            basket.kinds = kinds
            assert basket.total() == total

        class TestBasket(unittest.TestCase):
            def test_unknown(self):
                from shop.sums import Basket
                basket = Basket()
                basket.kinds = ["?"]
                self.assertEqual(basket.total(), 0)

        def test_nothing():
            assert True
    """,
}


@pytest.fixture
def setting(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Setting:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    return Setting(best_sandbox(), Path(sys.executable), Limits(seconds=30.0, output_bytes=1 << 20))


def found(path: Path, qualname: str, setting: Setting) -> Judge | None:
    document = Document.read(path)
    return find(document, find_function(document, qualname), setting)


def test_pytest_and_unittest_cases_that_reach_a_function_through_others(
    project: Project, setting: Setting
) -> None:
    path = project(FILES) / "src/shop/rates.py"
    judge = found(path, "_rate", setting)
    assert judge is not None
    assert judge.tests == 2
    text = path.read_text()
    verdict = judge.judge(text)
    assert verdict.passed, verdict
    assert verdict.evidence.tests == 4  # three of them are one with parameters
    failed = judge.judge(text.replace("kind, 0", "kind, 5"))
    assert not failed.passed
    assert "test_unknown" in (failed.evidence.failed or "")


def test_doctests_of_the_module(project: Project, setting: Setting) -> None:
    path = project(FILES) / "src/shop/rates.py"
    judge = found(path, "of", setting)
    assert judge is not None
    assert judge.attribution == "doctest"
    assert judge.judge(path.read_text()).passed
    assert not judge.judge(path.read_text().replace("return _rate(kind)", "return 7")).passed


def test_what_no_test_reaches(project: Project, setting: Setting) -> None:
    assert found(project(FILES) / "src/shop/rates.py", "_unused", setting) is None


def test_an_interpreter_without_pytest_and_coverage(
    project: Project, setting: Setting, bare_python: Path
) -> None:
    root = project({**FILES, "tests/test_more.py": """
        from shop.sums import Basket

        def test_plain():
            basket = Basket()
            basket.kinds = ["b"]
            assert basket.total() == 2
    """})  # fmt: skip
    bare = Setting(setting.sandbox, bare_python, setting.limits)
    judge = found(root / "src/shop/rates.py", "_rate", bare)
    assert judge is not None
    assert judge.tests == 1  # the other file needs pytest


def test_the_map_is_made_once_for_the_same_content(project: Project, setting: Setting) -> None:
    path = project(FILES) / "src/shop/rates.py"
    place = layout_of(path, path.read_text())
    said: list[str] = []
    telling = Setting(setting.sandbox, setting.python, setting.limits, report=said.append)
    first = map_of(place, files_with_tests(place), telling)
    assert first.why is None
    assert map_of(place, files_with_tests(place), telling) == first
    assert len(said) == 1
    (path.parent / "sums.py").write_text("from .rates import _rate\n")
    assert map_of(place, files_with_tests(place), telling) != first
    assert len(said) == 2


def test_a_suite_that_ends_the_process_says_why_there_is_no_map(project: Project, setting: Setting) -> None:
    path = project({**FILES, "tests/test_shop.py": "import os\nos._exit(3)\n"}) / "src/shop/rates.py"
    place = layout_of(path, path.read_text())
    assert "ended the process" in (map_of(place, files_with_tests(place), setting).why or "")


def test_it_can_be_cancelled(project: Project, setting: Setting) -> None:
    path = project({**FILES, "tests/test_slow.py": "import time\ntime.sleep(60)\n"}) / "src/shop/rates.py"
    cancel = Event()
    cancel.set()
    with pytest.raises(Cancelled):
        found(path, "_rate", Setting(setting.sandbox, setting.python, setting.limits, cancel))
    assert SECONDS > 0


def test_the_lines_that_run_when_a_function_is_called() -> None:
    text = 'class A:\n    def f(self):\n        """Doc\n        string."""\n        return 1\n'
    assert body_lines(text, "A.f") == range(5, 6)
    assert body_lines(text, "A.g") is None
    assert body_lines("def f(:", "f") is None
