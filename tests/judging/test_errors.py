"""What pytest calls an error is refused, what it calls failed is failed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import LIMITS, Judgement, Setting, Verdict
from counterlens.judging.programs import judge_by_itself
from counterlens.judging.projects import interpreter_for
from counterlens.python.judging import test_run
from counterlens.python.judging.layout import layout_of
from counterlens.python.judging.supplied_tests import FileOfTestsJudge
from counterlens.python.judging.unittests import read_cases
from counterlens.sandbox.registry import best_sandbox

Project = Callable[[Mapping[str, str]], Path]

TWICE = """
class Missing(ValueError):
    pass

def twice(x):
    if x is None:
        raise Missing("no number")
    return 2 * x
"""
WRONG = TWICE.replace("2 *", "3 *")
IMPORTS = """
import json, locale, os, shutil, socket, sys, unittest, zoneinfo
from pathlib import Path
import pytest
from twice import Missing, twice
"""
OF_HARNESS = """
def test_fixture(nowhere): assert twice(2) == 4

def test_variable():
    assert twice(2) == 4
    assert twice(2) == int(os.environ["COUNTERLENS_NOWHERE"])

def test_file():
    assert str(twice(2)) == Path(__file__).with_name("golden.txt").read_text()

def test_file_before_error():
    with pytest.raises(Missing): twice(json.loads(open("/nowhere/data.json").read()))

def test_locale():
    locale.setlocale(locale.LC_ALL, "xx_XX.UTF-8")

def test_zone():
    assert twice(2) == zoneinfo.ZoneInfo("Mars/Phobos")

def test_command():
    assert shutil.which("nowhere-to-be-found"), "install it"

def test_says_so():
    if "COUNTERLENS_NOWHERE" not in os.environ: pytest.fail("set it")

class TestService:
    @pytest.fixture(autouse=True)
    def service(self): raise ConnectionError("no service")

    def test_it(self): assert twice(2) == 4

class TestData(unittest.TestCase):
    def setUp(self): self.data = os.environ["COUNTERLENS_NOWHERE"]

    def test_it(self): self.assertEqual(twice(2), 4)
"""
OF_PROGRAM = """
def check(x):
    if x != 4: raise ValueError("wrong")

def test_assert(): assert twice(2) == 4
def test_identity(): assert twice(2) is 4
def test_raises():
    with pytest.raises(Missing): twice(0)
def test_raise():
    if twice(2) != 4: raise RuntimeError("wrong")
def test_check(): check(twice(2))
def test_exit():
    if twice(2) != 4: sys.exit(1)
def test_index(): assert [0, 1, 2, 3, 4][twice(2)]
def test_key(): assert {4: "four"}[twice(2)]
def test_unpack(): a, b = range(twice(2) - 2)
def test_read(tmp_path):
    (tmp_path / "4").touch()
    (tmp_path / str(twice(2))).read_text()
@pytest.fixture
def four():
    assert twice(2) == 4
def test_fixture_that_checks(four): pass
class TestMethods(unittest.TestCase):
    def test_equal(self): self.assertEqual(twice(2), 4)
    def test_raise(self):
        if twice(2) != 4: raise ValueError
"""


def verdicts(folder: Path, program: str = TWICE) -> list[Verdict]:
    """The verdicts on a program by the tests beside it, and by their file."""
    path = folder / "twice.py"
    setting = Setting(best_sandbox(), interpreter_for(path), LIMITS)
    return [
        judge_by_itself(program, path, setting, function="twice" if program else None),
        FileOfTestsJudge(path, folder / "test_twice.py", setting).judge(program),
    ]


def outcomes(folder: Path) -> dict[str, str]:
    """The outcome of each test by our runner."""
    path, tests = folder / "twice.py", folder / "test_twice.py"
    place, at = layout_of(path), layout_of(tests)
    file = {"path": str(tests), "module": at.module, "root": str(at.root)}
    setting = Setting(best_sandbox(), interpreter_for(path), LIMITS)
    task = {"files": [file], "every": True}
    heard: dict[str, str] = {}

    def read(report: dict[str, object]) -> object:
        heard.update({str(name): str(outcome) for name, outcome, _ in report["results"]})  # type: ignore[attr-defined]
        return read_cases(report)

    test_run.TestRun("tests", setting, place, task, folder=place.project).run(path.read_text(), read, None)  # type: ignore[arg-type]
    return heard


def outcomes_of_pytest(folder: Path) -> dict[str, str]:
    """The same by pytest itself, outside of the sandbox."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "test_twice.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = re.findall(r"^(PASSED|FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    words = {"PASSED": "passed", "FAILED": "failed", "ERROR": "unsupported"}
    return {name: words[word] for word, name in lines}


@pytest.mark.parametrize("program", [TWICE, WRONG])
def test_each_outcome_is_the_one_of_pytest(project: Project, program: str) -> None:
    tests = IMPORTS + OF_HARNESS + OF_PROGRAM
    folder = project({"twice.py": program, "test_twice.py": tests, "pyproject.toml": ""})
    wanted = outcomes_of_pytest(folder)
    assert {"failed", "unsupported"} <= {*wanted.values()}
    assert outcomes(folder) == wanted


def test_an_error_alone_is_refused_and_other_tests_decide(project: Project) -> None:
    tests = IMPORTS + "def test_fixture(nowhere): assert twice(2) == 4\n"
    for verdict in verdicts(project({"twice.py": TWICE, "test_twice.py": tests})):
        assert verdict.judgement is Judgement.REFUSED, verdict
        assert "fixture 'nowhere' not found" in verdict.evidence.message
        assert "--excluded-tests" in verdict.evidence.message
    folder = project({"twice.py": TWICE, "test_twice.py": tests + "def test_it(): assert twice(2) == 4\n"})
    for verdict in verdicts(folder):
        assert (verdict.passed, verdict.evidence.tests) == (True, 1), verdict
        assert "1 of 2 cannot be run" in verdict.evidence.message
    for verdict in verdicts(folder, WRONG):
        assert verdict.judgement is Judgement.FAILED
        assert "assert 6 == 4" in verdict.evidence.message


def test_a_program_that_raises_in_a_fixture_fails(project: Project) -> None:
    tests = IMPORTS + "@pytest.fixture\ndef four(): return twice(2)\ndef test_it(four): assert four == 4\n"
    folder = project({"twice.py": TWICE, "test_twice.py": tests})
    for verdict in verdicts(folder, "class Missing(Exception): pass\ndef twice(x):\n    raise Missing\n"):
        assert verdict.judgement is Judgement.FAILED, verdict


@pytest.mark.parametrize(
    "read",
    [
        "os.environ.get('COUNTERLENS_FACTOR', '5')",
        "(os.getenv('COUNTERLENS_FACTOR') or 5)",
        "(2 if 'COUNTERLENS_FACTOR' in os.environ else 5)",
    ],
)
@pytest.mark.parametrize("by_program", [True, False])
def test_a_variable_that_the_sandbox_removes_is_named(
    project: Project, monkeypatch: pytest.MonkeyPatch, read: str, by_program: bool
) -> None:
    monkeypatch.setenv("COUNTERLENS_FACTOR", "2")
    program = f"import os\n\ndef twice(x):\n    return int({read if by_program else 2}) * x\n"
    wanted = 4 if by_program else f"2 * int({read})"
    tests = f"import os\nfrom twice import twice\n\ndef test_twice():\n    assert twice(2) == {wanted}\n"
    for verdict in verdicts(project({"twice.py": program, "test_twice.py": tests}), program):
        assert verdict.judgement is Judgement.REFUSED, verdict
        assert "COUNTERLENS_FACTOR" in verdict.evidence.message


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"conftest.py": "raise RuntimeError('no database')\n"}, "no database"),
        ({"conftest.py": "pytest_plugins = ['nowhere']\n"}, "No module named 'nowhere'"),
        ({"conftest.py": "def pytest_configure(config): raise RuntimeError('no database')\n"}, "no database"),
        ({"pytest.ini": "[pytest]\nrequired_plugins = pytest-nowhere\n"}, "pytest-nowhere"),
        ({"test_twice.py": "DATA = open('/nowhere/data').read()\n"}, "/nowhere/data"),
        (
            {
                "test_twice.py": "import pytest\n@pytest.mark.nowhere\n",
                "pytest.ini": "[pytest]\nstrict = 1\naddopts = --strict-markers\n",
            },
            "nowhere",
        ),
    ],
)
def test_what_keeps_pytest_from_starting_is_the_reason(
    project: Project, files: Mapping[str, str], reason: str
) -> None:
    tests = "from twice import twice\n\ndef test_twice():\n    assert twice(2) == 4\n"
    tests = (
        files.get("test_twice.py", "") + tests
        if "@" not in files.get("test_twice.py", "")
        else ("from twice import twice\n" + files["test_twice.py"] + tests.partition("\n\n")[2])
    )
    folder = project({"twice.py": TWICE, **files, "test_twice.py": tests})
    for verdict in verdicts(folder):
        assert verdict.judgement is Judgement.REFUSED, verdict
        assert reason in verdict.evidence.message


@pytest.mark.parametrize("tests", ["assert twice(2) == 4\n", "def check(twice):\n    assert twice(2) == 4\n"])
def test_what_a_program_lacks_is_its_failure(project: Project, tests: str) -> None:
    for given in (tests, f"from twice import *\n\ndef test_it():\n    {tests.splitlines()[-1].strip()}\n"):
        verdict = verdicts(project({"twice.py": "", "test_twice.py": given}), "")[1]
        assert verdict.judgement is Judgement.FAILED, verdict
