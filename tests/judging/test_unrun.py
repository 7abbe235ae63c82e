"""A program that no test runs is never passed, and a candidate is in the place that its tests import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.doubt.generating import scopes
from counterlens.judging.base import Judgement, Setting, Verdict
from counterlens.judging.programs import judge_by_file, judge_by_itself
from counterlens.judging.registry import find_judge, why_no_judge
from counterlens.sandbox.registry import best_sandbox
from counterlens.survivors import Search
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.judging.conftest import write_project

Project = Callable[[Mapping[str, str]], Path]

RIGHT = 'def label(code):\n    return "ok" if code < 400 else "bad"\n'
WRONG = "def label(code):\n    return 1\n"
TESTS = """
    from codes import label

    def test_label():
        assert label(3) == "ok"
        assert label(400) == "bad"
"""


@pytest.fixture
def setting() -> Setting:
    return Setting(best_sandbox(), Path(sys.executable))


def judged(folder: Path, candidate: str, tests: str, against: str | None, setting: Setting) -> Verdict:
    path = folder / candidate
    other = folder / against if against else None
    return judge_by_file(path.read_text(), path, folder / tests, setting, against=other)


@pytest.mark.parametrize("against", [None, "codes.py"])
@pytest.mark.parametrize("candidate", ["attempts/codes.py", "attempts/attempt_1.py", "../elsewhere/codes.py"])
def test_a_candidate_takes_the_place_of_the_module_that_its_tests_import(
    project: Project, setting: Setting, candidate: str, against: str | None
) -> None:
    folder = project({"home/codes.py": RIGHT, "home/test_codes.py": TESTS}) / "home"
    for text, judgement in ((WRONG, Judgement.FAILED), (RIGHT, Judgement.PASSED)):
        write_project(folder, {candidate: text})
        verdict = judged(folder, candidate, "test_codes.py", against, setting)
        assert verdict.judgement is judgement, verdict
        assert not verdict.contested


def test_a_re_export_is_not_replaced(project: Project, setting: Setting) -> None:
    files = {
        "pkg/__init__.py": "from pkg.codes import label\n",
        "pkg/codes.py": RIGHT,
        "pkg/other/codes.py": "def label(code):\n    return 2\n",
        "pkg/other/__init__.py": "",
        "test_codes.py": "from pkg import label\nimport pkg.other.codes\n"
        "def test_label(): assert label(3) == 'ok'\n",
    }
    folder = project(files)
    assert judged(folder, "pkg/codes.py", "test_codes.py", None, setting).passed
    (folder / "pkg/codes.py").write_text(WRONG)
    verdict = judged(folder, "pkg/codes.py", "test_codes.py", None, setting)
    assert verdict.judgement is Judgement.FAILED, verdict


@pytest.mark.parametrize("candidate", [RIGHT, WRONG, ""])
def test_what_no_test_runs_is_refused(project: Project, setting: Setting, candidate: str) -> None:
    for tests in (
        "def label(code): return 'ok'\ndef test_label(): assert label(3) == 'ok'\n",
        "import cand\ndef test_label(): assert cand.__name__ == 'cand'\n",
    ):
        folder = project({"cand.py": candidate, "test_it.py": tests})
        verdict = judged(folder, "cand.py", "test_it.py", None, setting)
        assert verdict.judgement is Judgement.REFUSED, verdict
        assert "no test runs" in verdict.evidence.message


def test_a_program_without_functions_is_run_by_tests_that_use_its_names(
    project: Project, setting: Setting
) -> None:
    folder = project(
        {"cand.py": "X = 1\n", "test_it.py": "from cand import X\ndef test_x(): assert X == 1\n"}
    )
    assert judged(folder, "cand.py", "test_it.py", None, setting).passed


def test_functions_that_no_test_runs_are_named(project: Project, setting: Setting) -> None:
    files = {"codes.py": RIGHT + "\ndef more():\n    return 2\n", "test_codes.py": TESTS}
    verdict = judged(project(files), "codes.py", "test_codes.py", None, setting)
    assert verdict.passed
    assert "no test runs more" in verdict.evidence.message


def test_no_front_end_uses_tests_that_do_not_run_the_function(project: Project, setting: Setting) -> None:
    tests = "from codes import label\n\ndef test_label():\n    assert label or label(3)\n"
    path = project({"codes.py": RIGHT, "test_codes.py": tests}) / "codes.py"
    document = Document.read(path)
    function = find_function(document, "label")
    for vetted in (True, False):
        chosen = Setting(setting.sandbox, setting.python, vetted=vetted)
        assert find_judge(document, function, chosen, fallback=False) is None
        assert "no test runs it" in why_no_judge(document, function, chosen, fallback=False)
    survival = Search(setting).survival(scopes(document)[0])
    assert (survival.mutants, bool(survival.reason)) == (0, True)
    verdict = judge_by_itself(RIGHT, path, setting)
    assert verdict.judgement is Judgement.REFUSED, verdict
    assert "no test runs" in verdict.evidence.message
