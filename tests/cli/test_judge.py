"""`counterlens judge`: any program in, one verdict out, exit code 0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from counterlens.cli.judge import judge

RIGHT = "def add(a: int, b: int) -> int:\n    return a + b\n"
TESTS = {
    "plain": "assert add(1, 2) == 3\n",
    "imported": "from program import add\nassert add(1, 2) == 3\n",
    "check": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    "pytest": "import program\ndef test_add():\n    assert program.add(1, 2) == 3\n",
    "unittest": "import unittest\nclass T(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
}


def verdict(folder: Path, program: str | bytes, *options: str, **files: str) -> Any:
    for name, content in files.items():
        (folder / f"{name}.py").write_text(content)
    data = program.encode() if isinstance(program, str) else program
    (folder / "program.py").write_bytes(data)
    named = [str(folder / option) if option.endswith(".py") else option for option in options]
    done = CliRunner().invoke(judge, [str(folder / "program.py"), *named, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("form", TESTS)
def test_tests_in_any_form(tmp_path: Path, form: str) -> None:
    right = verdict(tmp_path, RIGHT, "--tests", "checks.py", checks=TESTS[form])
    assert (right["verdict"], right["attribution"]) == ("passed", "tests")
    assert right["evidence"]["isolation"] == "apart"
    wrong = verdict(tmp_path, RIGHT.replace("+", "-"), "--tests", "checks.py")
    assert (wrong["verdict"], wrong["evidence"]["message"] != "") == ("failed", True)


@pytest.mark.parametrize(
    ("program", "expected", "message"),
    [
        (b"x = '\xff'\n", "invalid", "no text"),
        ("", "failed", "the program defines no function"),
        ("def add(a, b)\n", "invalid", "expected ':'"),
        ("#" * (5 << 20), "refused", "larger than"),
        ("def add(a, b):\n    while True: pass\n", "timed_out", "stopped after"),
        ("import os; os._exit(0)", "failed", "ended before"),
        ("class A:\n    __eq__ = lambda *_: True\ndef add(a, b): return A()\n", "refused", "forge"),
    ],
    ids=["corrupt", "empty", "syntax", "huge", "endless", "exit", "always equal"],
)
def test_any_program_gets_a_verdict(
    tmp_path: Path, program: str | bytes, expected: str, message: str
) -> None:
    found = verdict(tmp_path, program, "--tests", "checks.py", "--timeout", "2", checks=TESTS["check"])
    assert found["verdict"] == expected, found
    assert message in found["evidence"]["message"]


def test_another_program_judges(tmp_path: Path) -> None:
    original = {"original": RIGHT}
    assert verdict(tmp_path, RIGHT, "--against", "original.py", **original)["verdict"] == "passed"
    wrong = verdict(tmp_path, RIGHT.replace("a + b", "a - b"), "--against", "original.py", **original)
    assert (wrong["verdict"], wrong["attribution"]) == ("failed", "differential")


def test_nothing_to_judge_by_is_said(tmp_path: Path) -> None:
    assert verdict(tmp_path, RIGHT)["verdict"] == "refused"
    assert verdict(tmp_path, RIGHT, "--tests", "nothing.py", nothing="x = 1\n")["verdict"] == "refused"
