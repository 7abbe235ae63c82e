"""Program and tests are in one process: the verdict is what a plain run of the tests says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import LIMITS, Judgement, OriginalSays, Setting, Verdict
from counterlens.judging.programs import judge_by_file
from counterlens.python.judging.supplied_tests import FileOfTestsJudge
from counterlens.sandbox.registry import best_sandbox
from tests.judging.demanding import DEMANDING

Project = Callable[[Mapping[str, str]], Path]


def judged(folder: Path, program: str, python: Path) -> Verdict:
    setting = Setting(best_sandbox(), python, LIMITS)
    return FileOfTestsJudge(folder / "program.py", folder / "test_program.py", setting).judge(program)


@pytest.mark.parametrize("name", DEMANDING)
def test_a_right_program_passes_and_a_wrong_one_fails(project: Project, name: str) -> None:
    program, right, wrong, tests = DEMANDING[name]
    assert program.count(right) == 1
    folder = project({"program.py": program, "test_program.py": tests})
    verdict = judged(folder, program, Path(sys.executable))
    assert verdict.passed, verdict
    verdict = judged(folder, program.replace(right, wrong), Path(sys.executable))
    assert verdict.judgement is Judgement.FAILED, verdict


def test_pytest_itself_says_the_same(tmp_path: Path) -> None:
    """All of them in one run of pytest, outside of the sandbox; no program among them is hostile."""
    wanted = {}
    for number, (program, right, wrong, tests) in enumerate(DEMANDING.values()):
        for kind, text in (("right", program), ("wrong", program.replace(right, wrong))):
            name = f"program_{kind}_{number}"
            own = tests.replace(", program\n", "\nimport program\n")
            own = own.replace("import program\n", f"import {name} as program\n")
            lent = f"from {name} import f\n" if "import program" not in tests else ""
            (tmp_path / f"{name}.py").write_text(text)
            (tmp_path / f"test_{kind}_{number}.py").write_text(lent + own)
            wanted[f"test_{kind}_{number}.py"] = kind == "right"
    command = [sys.executable, "-B", "-m", "pytest", "-q", "--tb=short", "-rf", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, "."], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    failed = {
        line.split()[1].partition("::")[0] for line in done.stdout.splitlines() if line[:7] == "FAILED "
    }
    assert failed == {name for name, passes in wanted.items() if not passes}, done.stdout


FORMS = {
    "def test_it(): assert f(3) == 6\nclass TestMore:\n"
    "    def test_more(self): assert f(1) == 2\n": Judgement.PASSED,
    "import unittest\nclass T(unittest.TestCase):\n"
    "    def test_it(self): self.assertEqual(f(3), 6)\n": Judgement.PASSED,
    "from program import f\nclass Base:\n"
    "    def test_it(self): assert f(self.x) == 6\nclass TestIt(Base): x = 3\n": Judgement.PASSED,
    "def check(candidate): assert candidate(3) == 6\ndef test_it(): assert f(1) == 2\n": Judgement.PASSED,
    "def check(candidate): assert candidate(3) == 5\ndef test_it(): assert f(1) == 2\n": Judgement.FAILED,
    "def check(x): assert f(x) == 2 * x\ndef test_it(): check(3)\n": Judgement.PASSED,
    "def helper(): assert f(3) == 5\n": Judgement.REFUSED,
    "def helper(): assert f(3) == 5\ndef other(): helper()\n": Judgement.REFUSED,
    "if __name__ == '__main__': assert f(3) == 5\n": Judgement.REFUSED,
    "def test_it(fixture): assert f(3) == 5\n": Judgement.REFUSED,
}


@pytest.mark.parametrize("tests", FORMS)
@pytest.mark.parametrize("bare", [False, True])
def test_the_runner_decides_what_a_case_is(
    project: Project, bare_python: Path, tests: str, bare: bool
) -> None:
    program = "def test_program(): assert False\ndef f(x): return 2 * x\n"
    folder = project({"program.py": program, "test_program.py": tests})
    verdict = judged(folder, program, bare_python if bare else Path(sys.executable))
    assert verdict.judgement is FORMS[tests], verdict


@pytest.mark.parametrize(
    "program",
    [
        "import os\nos._exit(0)\n",
        "import os\ndef f(x): os._exit(0)\n",
        "import sys\ndef f(x): sys.exit(0)\n",
        "import pytest\ndef f(x): pytest.skip('no')\n",
        "import unittest\ndef f(x): raise unittest.SkipTest('no')\n",
        "import builtins\nbuiltins.sorted = lambda *_: 6\ndef f(x): return sorted(x)\n",
        "import _pytest.runner as r\nr.call_and_report = lambda *_, **__: None\ndef f(x): return 5\n",
        "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\ndef f(x): return 5\n",
    ],
)
@pytest.mark.parametrize(
    "tests",
    [
        "assert f(3) == 6\n",
        "from program import f\ndef test_it(): assert f(3) == 6\n",
        "import unittest\nfrom program import f\nclass T(unittest.TestCase):\n"
        "    def test_it(self): self.assertEqual(f(3), 6)\n",
    ],
)
def test_an_early_end_a_skip_and_a_replaced_runner_are_failures(
    project: Project, program: str, tests: str
) -> None:
    folder = project({"program.py": program, "test_program.py": tests})
    verdict = judged(folder, program, Path(sys.executable))
    assert verdict.judgement is Judgement.FAILED, verdict


COMPARED = [
    "a decorator",
    "a coroutine",
    "an asynchronous generator",
    "functions on a dataclass",
    "a variable that is set",
    "arrays of numpy",
    "a key for sorting",
    "tries that wait",
    "threads inside",
    "tasks that are gathered",
    "an asynchronous context",
    "a seed of the tests",
    "a pool of threads",
    "a view of bytes",
    "a weak reference",
    "the cause of an error",
]


@pytest.mark.parametrize("name", COMPARED)
def test_a_demanding_program_agrees_with_itself(project: Project, name: str) -> None:
    program, _, _, tests = DEMANDING[name]
    folder = project({"program.py": program, "test_program.py": tests, "before/program.py": program})
    place, setting = folder / "program.py", Setting(best_sandbox(), Path(sys.executable), LIMITS)
    before = folder / "before/program.py"
    verdict = judge_by_file(program, place, folder / "test_program.py", setting, against=before)
    assert verdict.evidence.comparison is not None
    assert verdict.evidence.comparison.agreement is OriginalSays.AGREES, verdict
