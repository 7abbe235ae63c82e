"""What the harness does is not what the program did."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import LIMITS, Judgement, Setting, Verdict
from counterlens.judging.programs import judge_by_itself
from counterlens.judging.projects import interpreter_for
from counterlens.python.judging import test_run
from counterlens.python.judging.harness import StandInTrial, stand_in_for
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

def test_network():
    assert twice(len(socket.create_connection(("example.org", 80)))) == 4

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


def failures(folder: Path, program: str) -> tuple[set[str], set[str]]:
    """The failing tests of a program, and those of them that a stand-in fails, too."""
    path, tests = folder / "twice.py", folder / "test_twice.py"
    place, at = layout_of(path), layout_of(tests)
    names = [
        line.split()[1].partition("(")[0] for line in tests.read_text().splitlines() if "def test" in line
    ]
    cases = [[owner, name] for name in names for owner in ("", "TestService", "TestData", "TestMethods")]
    file = {"path": str(tests), "module": at.module, "root": str(at.root), "cases": cases}
    setting = Setting(best_sandbox(), interpreter_for(path), LIMITS)
    run = test_run.TestRun("tests", setting, place, {"files": [file]}, folder=place.project)
    trial = StandInTrial(run, program, read_cases, None)
    shown = [names.keys() for names in (trial.failures_of(program), trial.independent_failures())]
    return {name.rpartition("::")[2] for name in shown[0]}, {name.rpartition("::")[2] for name in shown[1]}


def test_what_fails_whatever_the_program_does_says_nothing_about_it(project: Project) -> None:
    folder = project({"twice.py": TWICE, "test_twice.py": IMPORTS + OF_HARNESS})
    for verdict in verdicts(folder):
        assert verdict.judgement is Judgement.REFUSED, verdict
        assert "it fails in the same way whatever the program does" in verdict.evidence.message
        assert "--excluded-tests" in verdict.evidence.message
    failing, independent = failures(folder, TWICE)
    assert failing == independent
    assert len(failing) == 10  # the name `test_it` stands for two


def test_what_the_program_does_is_its_failure(project: Project) -> None:
    folder = project({"twice.py": WRONG, "test_twice.py": IMPORTS + OF_PROGRAM})
    failing, independent = failures(folder, WRONG)
    assert len(failing) == OF_PROGRAM.count("def test") - 1  # two of the names are `test_raise`
    assert not independent


def test_other_tests_decide_beside_those_of_the_harness(project: Project) -> None:
    tests = IMPORTS + OF_HARNESS + "\ndef test_right(): assert twice(2) == 4\n"
    folder = project({"twice.py": TWICE, "test_twice.py": tests})
    for verdict in verdicts(folder):
        assert verdict.passed, verdict
        assert verdict.evidence.tests == 1
        assert "tests left out: " in verdict.evidence.message
    for verdict in verdicts(folder, WRONG):
        assert verdict.judgement is Judgement.FAILED
        assert "assert 6 == 4" in verdict.evidence.message


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


def test_scripts_and_examples_of_the_harness_are_refused(project: Project) -> None:
    script = "import os\nassert twice(2) == 4\nassert twice(1) == int(os.environ['COUNTERLENS_NOWHERE'])\n"
    example = TWICE.replace(
        "    if", '    """\n    >>> twice(int(open("/nowhere/x").read()))\n    4\n    """\n    if'
    )
    own, by_file = verdicts(project({"twice.py": example, "test_twice.py": script}), example)
    assert own.judgement is by_file.judgement is Judgement.REFUSED
    assert "/nowhere/x" in own.evidence.message
    assert "COUNTERLENS_NOWHERE" in by_file.evidence.message
    wrong = WRONG.replace("    if", '    """\n    >>> twice(2) is None\n    True\n    """\n    if')
    own, by_file = verdicts(project({"twice.py": wrong, "test_twice.py": script}), wrong)
    assert own.judgement is by_file.judgement is Judgement.FAILED


@pytest.mark.parametrize("tests", ["assert twice(2) == 4\n", "def check(twice):\n    assert twice(2) == 4\n"])
def test_what_a_program_lacks_is_its_failure(project: Project, tests: str) -> None:
    for given in (tests, f"from twice import *\n\ndef test_it():\n    {tests.splitlines()[-1].strip()}\n"):
        verdict = verdicts(project({"twice.py": "", "test_twice.py": given}), "")[1]
        assert verdict.judgement is Judgement.FAILED, verdict


def test_a_stand_in_has_the_names_of_its_program() -> None:
    text = """
        import os
        A, (B, *C) = 1, (2, 3)
        class D:
            E = 1
        def f(g):
            h = 1
        if A:
            i = [j for j in C]
    """
    names = stand_in_for(textwrap.dedent(text), True, 1).rpartition("for _name in ")[2]
    assert names.startswith("['A', 'B', 'C', 'D', 'f', 'i']:")


def test_no_stand_in_is_tried_after_a_program_has_passed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cheats fail by themselves then: twenty of them cost no trials."""
    tried: list[str] = []
    failures_of = StandInTrial.failures_of
    monkeypatch.setattr(
        StandInTrial, "failures_of", lambda self, program: tried.append(program) or failures_of(self, program)
    )
    example = '    """\n    >>> twice(2)\n    4...\n    """\n    if'
    program, wrong = (text.replace("    if", example) for text in (TWICE, WRONG))
    settings = "[pytest]\ndoctest_optionflags = ELLIPSIS\n"
    path = project({"twice.py": program, "pytest.ini": settings}) / "twice.py"
    setting = Setting(best_sandbox(), interpreter_for(path), LIMITS)
    verdict = judge_by_itself(program, path, setting)
    assert verdict.passed
    assert verdict.evidence.cheats is not None
    assert (verdict.evidence.cheats.tried > 9, tried) == (True, [])
    assert judge_by_itself(wrong, path, setting).judgement is Judgement.FAILED
    assert tried
