"""Tests that cannot be used are left out; what the harness does is never the program's doing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import LIMITS, Judge, Judgement, Setting
from counterlens.judging.programs import judge_by_itself
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge, why_no_judge
from counterlens.python.judging.supplied_tests import FileOfTestsJudge
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

Project = Callable[[Mapping[str, str]], Path]
JudgeOf = Callable[..., Judge]
DOUBLE = "def double(x):\n    return 2 * x\n"
TESTS = """
    import os
    import pytest
    from double import double

    def test_right():
        assert double(2) == 4

    @pytest.mark.parametrize("x", [1, 2])
    def test_of_two(x):
        assert double(x) == 2

    def test_that_starts_a_program():
        assert double(1) == 2
        os.execv("/bin/false", ["false"])

    def test_that_writes():
        assert double(1) == 2
        open("/usr/counterlens", "w")
"""


def test_unusable_tests_veto_nothing(project: Project, judge_of: JudgeOf) -> None:
    folder = project(
        {"double.py": DOUBLE, "test_double.py": TESTS, "test_other.py": "import double, nowhere\n"}
    )
    judge = judge_of(folder / "double.py", "double")
    first = judge.judge(DOUBLE)
    assert (first.judgement, first.evidence.tests) == (Judgement.PASSED, 2), first
    assert "3 tests left out" in first.evidence.message
    again = judge.judge(DOUBLE)  # really run again
    assert (again.judgement, again.evidence.tests) == (Judgement.PASSED, 2), again
    wrong = judge.judge(DOUBLE.replace("2 *", "3 *"))
    assert (wrong.judgement, wrong.evidence.failed) == (Judgement.FAILED, "test_double.py::test_right")


def test_a_program_may_not_plead_what_its_original_does_not_do(project: Project, judge_of: JudgeOf) -> None:
    judge = judge_of(project({"double.py": DOUBLE, "test_double.py": TESTS}) / "double.py", "double")
    for trick in (
        "raise PermissionError(13, 'no')",
        "import unittest; raise unittest.SkipTest('no')",
        "raise UserWarning('no')",
        "raise KeyboardInterrupt",
        "import sys; sys.exit(4)",
    ):
        assert judge.judge(f"def double(x):\n    {trick}\n").judgement is Judgement.FAILED, trick


def test_what_has_no_usable_test_says_why(project: Project) -> None:
    tests = "import nowhere_to_be_found, double\ndef test_double():\n    assert double.double(2) == 4\n"
    folder = project({"double.py": DOUBLE, "test_double.py": tests})
    document = Document.read(folder / "double.py")
    function = find_function(document, "double")
    assert (
        find_judge(
            document,
            function,
            Setting(best_sandbox(), interpreter_for(document.path), vetted=True),
            fallback=False,
        )
        is None
    )
    reason = why_no_judge(
        document, function, Setting(best_sandbox(), interpreter_for(document.path)), fallback=False
    )
    assert "its 1 test cannot be used" in reason
    assert "nowhere_to_be_found" in reason


def test_a_function_that_fails_every_test_is_told_so(project: Project) -> None:
    tests = "from double import double\ndef test_double():\n    assert double(2) == 5\n"
    folder = project({"double.py": DOUBLE, "test_double.py": tests})
    document = Document.read(folder / "double.py")
    judge = find_judge(
        document,
        find_function(document, "double"),
        Setting(best_sandbox(), interpreter_for(document.path), vetted=True),
    )
    assert judge is not None
    verdict = judge.judge(document.text)
    assert verdict.judgement is Judgement.FAILED
    assert verdict.evidence.failed
    assert "test_double" in verdict.evidence.failed


def test_examples_that_do_not_hold_are_left_out(project: Project, judge_of: JudgeOf) -> None:
    text = 'def one():\n    """\n    >>> one()\n    1\n    >>> one() + nobody\n    2\n    """\n    return 1\n'
    judge = judge_of(project({"one.py": text}) / "one.py", "one")
    assert (judge.attribution, judge.tests) == ("doctest", 1)
    assert judge.judge(text).passed
    assert judge.judge(text.replace("return 1", "return 3")).judgement is Judgement.FAILED


def test_warnings_made_errors_are_those_of_tests_only(project: Project, judge_of: JudgeOf) -> None:
    # The interpreter has plug-ins that the project does not know, and that warn of it while they are set up.
    settings = "[tool.pytest.ini_options]\nfilterwarnings = ['error']\naddopts = '--cov=double -x -n 2'\n"
    tests = """
        import warnings
        from double import double

        def test_double(tmp_path):
            assert double(2) == 4

        def test_that_warns():
            double(1)
            warnings.warn("old")
    """
    folder = project({"double.py": DOUBLE, "test_double.py": tests, "pyproject.toml": settings})
    judge = judge_of(folder / "double.py", "double")
    verdict = judge.judge(DOUBLE)
    assert (verdict.judgement, verdict.evidence.tests) == (Judgement.PASSED, 1), verdict
    assert "test_that_warns" in verdict.evidence.message
    assert judge.judge(DOUBLE.replace("2 *", "3 *")).judgement is Judgement.FAILED


def test_a_folder_that_cannot_be_collected_is_the_reason(project: Project) -> None:
    # With `norecursedirs` of the project, pytest warns of Hypothesis's folder, here as an error.
    settings = "[tool.pytest.ini_options]\nfilterwarnings = ['error']\nnorecursedirs = ['.git']\n"
    tests = "from double import double\n\ndef test_double(tmp_path):\n    assert double(2) == 4\n"
    files = {"double.py": DOUBLE, "test_double.py": tests, "pyproject.toml": settings}
    path = project({**files, ".hypothesis/unicode_data/empty": ""}) / "double.py"
    verdict = judge_by_itself(DOUBLE, path, Setting(best_sandbox(), interpreter_for(path), LIMITS))
    assert verdict.judgement is Judgement.REFUSED
    assert "Skipping collection of '.hypothesis'" in verdict.evidence.message


def test_what_stops_pytest_itself_is_the_reason(project: Project) -> None:
    tests = "from double import double\n\ndef test_double(tmp_path):\n    assert double(2) == 4\n"
    settings = "def pytest_configure(config):\n    raise UserWarning('no scope is set')\n"
    path = project({"double.py": DOUBLE, "test_double.py": tests, "conftest.py": settings}) / "double.py"
    verdict = judge_by_itself(DOUBLE, path, Setting(best_sandbox(), interpreter_for(path), LIMITS))
    assert verdict.judgement is Judgement.REFUSED
    assert "pytest could not start: UserWarning: no scope is set" in verdict.evidence.message


@pytest.mark.parametrize(
    ("tests", "options", "reason"),
    [
        (
            "import warnings\n\ndef test_it():\n    warnings.warn('old')\n",
            'filterwarnings = ["error"]',
            "a warning is turned into an error",
        ),
        (
            "import pytest\n\ndef test_it():\n    pass\n",
            'required_plugins = ["pytest-nowhere"]',
            "exit code 4",
        ),
        (
            "\ndef test_it():\n    open('/usr/counterlens', 'w')\n",
            "",
            "Read",
        ),
        ("\ndef test_it():\n    import nowhere_to_be_found\n", "", "nowhere_to_be_found"),
    ],
)
def test_the_harness_is_not_the_program(project: Project, tests: str, options: str, reason: str) -> None:
    ours = "from double import double\n"
    folder = project(
        {
            "double.py": DOUBLE,
            "test_double.py": ours + tests.replace("def test_it():", "def test_it(tmp_path):\n    double(1)"),
            "pyproject.toml": f"[tool.pytest.ini_options]\n{options}\n",
        }
    )
    path = folder / "double.py"
    setting = Setting(best_sandbox(), interpreter_for(path), LIMITS)
    for verdict in (
        judge_by_itself(DOUBLE, path, setting),
        FileOfTestsJudge(path, folder / "test_double.py", setting).judge(DOUBLE),
    ):
        assert verdict.judgement is Judgement.REFUSED, verdict
        assert reason in verdict.evidence.message


@pytest.mark.parametrize(
    ("program", "judgement"),
    [
        ("import nowhere_to_be_found\n" + DOUBLE, Judgement.REFUSED),
        ("def double(x):\n    import nowhere_to_be_found\n", Judgement.REFUSED),
        ("import double.nowhere\n" + DOUBLE, Judgement.FAILED),
        ("def double(x):\n    raise ModuleNotFoundError(\"No module named 'json'\")\n", Judgement.FAILED),
    ],
)
def test_a_module_that_is_not_installed_is_not_the_program(
    project: Project, judge_of: JudgeOf, program: str, judgement: Judgement
) -> None:
    tests = "from double import double\n\ndef test_double():\n    assert double(2) == 4\n"
    path = project({"double.py": DOUBLE, "test_double.py": tests}) / "double.py"
    setting = Setting(best_sandbox(), interpreter_for(path), LIMITS)
    assert (
        FileOfTestsJudge(path, path.with_name("test_double.py"), setting).judge(program).judgement
        is judgement
    )
    # The original does without it, so a program that does not is wrong.
    assert judge_of(path, "double").judge(program).judgement is Judgement.FAILED
