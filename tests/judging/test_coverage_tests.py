"""Tests found by running them: in the layouts that projects have, through code that mentions nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from counterlens.errors import Cancelled
from counterlens.evaluation.manifest import differences
from counterlens.judging.base import HoleReach, Judge, Setting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.python.judging.baseline import Baseline, BaselineTest, baseline_of, read, write
from counterlens.python.judging.cheats import body_lines
from counterlens.python.judging.coverage_tests import MOST, find, find_cases, nearest
from counterlens.python.judging.layout import layout_of
from counterlens.python.judging.suite import circumstances
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.judging.conftest import write_project

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


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of baselines."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of `FILES`, for tests that change nothing in it: its tests run once."""
    return write_project(tmp_path_factory.mktemp("shop"), FILES)


@pytest.fixture
def setting(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return Setting(best_sandbox(), Path(sys.executable), Limits(seconds=30.0, output_bytes=1 << 20))


def found(path: Path, qualname: str, setting: Setting) -> Judge | None:
    document = Document.read(path)
    return find(document, find_function(document, qualname), setting)


def test_pytest_and_unittest_cases_that_reach_a_function_through_others(shop: Path, setting: Setting) -> None:
    path = shop / "src/shop/rates.py"
    judge = found(path, "_rate", setting)
    assert judge is not None
    assert judge.tests == 3  # one of the parameters does not reach it
    text = path.read_text()
    verdict = judge.judge(text)
    assert verdict.passed, verdict
    assert verdict.evidence.tests == 3
    failed = judge.judge(text.replace("kind, 0", "kind, 5"))
    assert not failed.passed
    assert "test_unknown" in (failed.evidence.failed or "")


def test_a_failed_assertion_shows_its_values(shop: Path, setting: Setting) -> None:
    path = shop / "src/shop/sums.py"
    judge = found(path, "Basket.total", setting)
    assert judge is not None
    failed = judge.judge(path.read_text().replace("return sum(", "return 7 + sum("))
    assert "assert 7 == 0" in str(failed.evidence), failed


def test_doctests_of_the_module(shop: Path, setting: Setting) -> None:
    path = shop / "src/shop/rates.py"
    judge = found(path, "of", setting)
    assert judge is not None
    assert judge.attribution == "doctest"
    assert judge.judge(path.read_text()).passed
    assert not judge.judge(path.read_text().replace("return _rate(kind)", "return 7")).passed


def test_what_no_test_reaches(shop: Path, setting: Setting) -> None:
    assert found(shop / "src/shop/rates.py", "_unused", setting) is None


def test_an_interpreter_without_pytest(project: Project, setting: Setting, bare_python: Path) -> None:
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


def test_the_suite_runs_once_for_the_same_content(project: Project, setting: Setting, tmp_path: Path) -> None:
    folder = project(FILES)
    said: list[str] = []
    telling = replace(setting, report=said.append)
    kept = tmp_path / "kept"
    found = [
        baseline_of(layout_of(folder / name), telling, kept)
        for name in ("src/shop/rates.py", "src/shop/sums.py", "tests/test_shop.py")  # it makes no difference
    ]
    assert found[0] is not None
    assert found[0] == found[1] == found[2]
    assert said == [f"running the tests of {folder.name} once, at most 300 s"]
    assert [(test.item, test.outcome) for test in found[0].tests if test.kind == "case"] == [
        ("test_total[kinds0-0]", "passed"),
        ("test_total[kinds1-1]", "passed"),
        ("test_total[kinds2-3]", "passed"),
        ("TestBasket::test_unknown", "passed"),
        ("test_nothing", "passed"),
    ]
    assert not found[0].partial
    assert read(next(kept.glob("*.json"))) == found[0]
    (folder / "tests/test_shop.py").write_text("def test_one():\n    assert 1\n\n")
    other = baseline_of(layout_of(folder / "src/shop/rates.py"), telling, kept)
    assert other is not None
    assert [test.item for test in other.tests if test.kind == "case"] == ["test_one"]


def test_what_ends_the_process_is_named_and_costs_no_other_test(project: Project, setting: Setting) -> None:
    folder = project({
        **FILES,
        "tests/test_ending.py": """
            import os

            def test_ends():
                os._exit(3)

            def test_two():
                assert 1
        """,
        "tests/test_broken.py": "import os\nos._exit(3)\n",
    })  # fmt: skip
    found = baseline_of(layout_of(folder / "src/shop/rates.py"), setting)
    assert found is not None
    outcomes = {test.item: (test.outcome, test.reason) for test in found.tests}
    assert outcomes["test_ends"] == ("ended", "it ends the process")
    assert outcomes["test_two"] == outcomes["test_nothing"] == ("passed", "")
    assert found.broken == {str(folder / "tests/test_broken.py"): "it ends the process"}
    assert not found.partial
    assert found_judge(folder, "_rate", setting).tests == 3


def found_judge(folder: Path, qualname: str, setting: Setting) -> Judge:
    document = Document.read(folder / "src/shop/rates.py")
    judge = find_cases(document, find_function(document, qualname), setting)
    assert judge is not None
    return judge


def test_without_time_names_decide_and_with_more_time_it_goes_on(
    project: Project, setting: Setting, tmp_path: Path
) -> None:
    tests = "import time\nfrom shop.rates import of\n" + "".join(
        f"def test_{name}():\n    time.sleep(0.4)\n    assert of('a') == 1\n" for name in "abc"
    )
    place = layout_of(project({**FILES, "tests/test_shop.py": tests}) / "src/shop/rates.py")
    assert baseline_of(place, replace(setting, map_timeout=0)) is None
    short = baseline_of(place, replace(setting, map_timeout=0.05), tmp_path / "kept")
    assert short is not None
    assert short.partial
    known = len(short.tests)
    assert 0 < known < 4
    whole = baseline_of(place, setting, tmp_path / "kept")
    assert whole is not None
    assert not whole.partial
    assert len(whole.tests) == 4  # one of them is the module's docstring


def test_the_nearest_tests_judge_a_function_and_all_its_lines_are_run() -> None:
    many = [
        BaselineTest("case", "t.py", "", "test_many", f"test_many[{n}]", "passed", 0.0) for n in range(500)
    ]
    named = BaselineTest("case", "t.py", "", "test_it", "test_it", "passed", 0.0)
    slow = BaselineTest("case", "t.py", "", "test_slow", "test_slow", "passed", 9.0)
    lines = {"f.py": {1: [*range(502)], 2: [501]}, "g.py": {n: [*range(500)] for n in range(50)}}
    baseline = Baseline([*many, named, slow], lines)
    names = {("t.py", "", "test_it")}
    chosen = nearest(baseline, range(502), Path("f.py"), range(1, 3), names, longest=1.0)
    assert len(chosen) == MOST
    assert {500, 501} < set(chosen)  # one is near, and the other alone runs line 2
    assert chosen[:3] == [0, 1, 2]
    assert 501 not in nearest(baseline, range(502), Path("f.py"), range(1, 2), names, longest=1.0)


def test_it_is_said_how_many_tests_of_how_many_judge(project: Project, setting: Setting) -> None:
    tests = """
        import pytest
        from shop.rates import of

        @pytest.mark.parametrize("number", range(60))
        def test_many(number):
            assert of("b") == 2

        def test_wrong():
            assert of("b") == 3
    """
    document = Document.read(project({**FILES, "tests/test_shop.py": tests}) / "src/shop/rates.py")
    function = find_function(document, "_rate")
    judge = find_judge(document, function, replace(setting, vetted=True, surveyed=True))
    assert judge is not None
    assert judge.described == "40 of 61 tests that reach it"
    verdict = judge.judge(document.text)
    assert (verdict.judgement, verdict.evidence.tests) == ("passed", 40), verdict
    assert "1 test left out: test_shop.py::test_wrong" in verdict.evidence.message


def test_what_verdicts_rest_on_beside_the_code_is_told(project: Project) -> None:
    folder = project(FILES)
    files = [folder / "src/shop/rates.py", folder / "src/shop/sums.py"]
    before = circumstances(files)
    assert before == circumstances(files[1:])
    assert before["installed"][folder.name]["pytest"] == pytest.__version__
    assert before["interpreter"][folder.name] == f"python 3.{sys.version_info.minor}"
    (folder / "src/shop/sums.py").write_text("")
    assert differences(before, circumstances(files)) == []
    for name in ("tests/conftest.py", "tests/test_new.py", "pyproject.toml"):
        (folder / name).write_text("# changed\n")
        after = circumstances(files)
        (changed,) = differences(before, after)
        assert changed.startswith(f"tests.{folder.name}: ")
        before = after


def test_a_baseline_is_kept_as_it_is(tmp_path: Path) -> None:
    test = BaselineTest("case", "t.py", "TestIt", "test_it", "TestIt::test_it", "failed", 0.5, "no")
    found = Baseline([test] * 8, {"f.py": {3: [0, 1, 2, 7], 5: [4]}}, {"b.py": "no"}, False, None, 2.5, 9)
    write(found, tmp_path / "kept" / "one.json")
    assert read(tmp_path / "kept" / "one.json") == found
    assert read(tmp_path / "kept" / "none.json") is None


def test_it_can_be_cancelled(project: Project, setting: Setting) -> None:
    path = project({**FILES, "tests/test_slow.py": "import time\ntime.sleep(60)\n"}) / "src/shop/rates.py"
    cancel = Event()
    cancel.set()
    with pytest.raises(Cancelled):
        found(path, "_rate", Setting(setting.sandbox, setting.python, setting.limits, cancel))


def test_the_lines_that_run_when_a_function_is_called() -> None:
    text = 'class A:\n    def f(self):\n        """Doc\n        string."""\n        return 1\n'
    assert body_lines(text, "A.f") == range(5, 6)
    assert body_lines(text, "A.g") is None
    assert body_lines("def f(:", "f") is None


def test_how_many_tests_reach_into_a_hole(project: Project, setting: Setting) -> None:
    path = project(FILES) / "src/shop/sums.py"
    path.write_text(
        "from .rates import _rate\n\n"
        "class Basket:\n"
        "    def __init__(self):\n"
        "        self.kinds = []\n\n"
        "    def total(self):\n"
        "        if len(self.kinds) > 1:\n"
        "            return sum(_rate(kind) for kind in self.kinds)\n"
        "        if len(self.kinds) > 9:\n"
        "            return 9\n"
        "        return _rate(*self.kinds) if self.kinds else 0\n"
    )
    judge = found(path, "Basket.total", setting)
    assert judge is not None
    assert judge.reach(range(8, 13)) == HoleReach(tests=4, lines=4, of=5)
    assert judge.reach(range(9, 10)) == HoleReach(tests=1, lines=1, of=1)
    assert judge.reach(range(10, 13)) == HoleReach(tests=3, lines=2, of=3)
    assert judge.reach(range(11, 12)) == HoleReach(tests=0, lines=0, of=1)
    document = Document.read(path)
    vetted = find_judge(
        document,
        find_function(document, "Basket.total"),
        Setting(setting.sandbox, interpreter_for(document.path), vetted=True, surveyed=True),
    )
    assert vetted is not None
    assert vetted.reach(range(10, 13)) == HoleReach(tests=3, lines=2, of=3)
