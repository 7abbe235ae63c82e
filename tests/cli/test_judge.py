"""`counterlens judge`: any program in, one verdict out, and an exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from counterlens.cli import options
from counterlens.cli.judge import judge
from counterlens.errors import SandboxError
from counterlens.sandbox.registry import choose

RIGHT = "def add(a: int, b: int) -> int:\n    return a + b\n"
TESTS = {
    "plain": "assert add(1, 2) == 3\n",
    "imported": "from program import add\nassert add(1, 2) == 3\n",
    "check": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    "pytest": "import program\ndef test_add():\n    assert program.add(1, 2) == 3\n",
    "examples": '"""\n>>> add(1, 2)\n3\n"""\n',
    "imported, examples": "import program\ndef test_add():\n"
    '    """\n    >>> program.add(1, 2)\n    3\n    """\n',
    "fixtures": "import pytest\n@pytest.fixture\ndef three():\n    return 3\n"
    "def test_add(three):\n    assert add(1, 2) == three\n",
    "parameters": "import pytest\n@pytest.mark.parametrize('a, b', [(1, 2), (2, 1)])\n"
    "def test_add(a, b):\n    assert add(a, b) == 3\n",
    "unittest": "import unittest\nclass T(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
}


def verdict(folder: Path, program: str | bytes, *given: str, **files: str) -> Any:
    for name, content in files.items():
        (folder / f"{name}.py").write_text(content)
    data = program.encode() if isinstance(program, str) else program
    (folder / "program.py").write_bytes(data)
    named = [str(folder / option) if option.endswith(".py") else option for option in given]
    done = CliRunner().invoke(judge, [str(folder / "program.py"), *named, "--json"])
    judged = json.loads(done.stdout)
    assert done.exit_code == int(judged["verdict"] != "passed"), done.output
    return judged


@pytest.mark.parametrize("form", TESTS)
def test_tests_in_any_form(tmp_path: Path, form: str) -> None:
    right = verdict(tmp_path, RIGHT, "--tests", "checks.py", "--timeout", "60", checks=TESTS[form])
    assert (right["verdict"], right["attribution"]) == ("passed", "tests")
    assert right["cheats"]["tried"] > 8
    wrong = verdict(tmp_path, RIGHT.replace("+", "-"), "--tests", "checks.py", "--timeout", "60")
    assert (wrong["verdict"], wrong["evidence"]["message"] != "") == ("failed", True)


@pytest.mark.parametrize("first", ["", "import program\nfrom program import add\n"])
def test_a_failing_example_of_the_tests_is_told_by_what_it_expected_and_got(
    tmp_path: Path, first: str
) -> None:
    words = "".join(f"{number} word\n" for number in range(9))
    examples = ">>> add(0, 0)\n    0\n    >>> add(1, 2)\n    3\n"
    tests = f'{first}def test_add():\n    """Adds.\n\n{words}\n    {examples}    """\n'
    failed = verdict(
        tmp_path, RIGHT.replace("+", "-"), "--tests", "checks.py", "--timeout", "60", checks=tests
    )
    assert failed["verdict"] == "failed"
    assert failed["evidence"]["message"] == ">>> add(1, 2)\nexpected: 3\ngot:      -1"


@pytest.mark.parametrize(
    ("program", "expected", "message"),
    [
        (b"x = '\xff'\n", "invalid", "not text"),
        ("", "failed", "the program defines no function"),
        ("def add(a, b)\n", "invalid", "expected ':'"),
        ("#" * (5 << 20), "refused", "larger than"),
        ("def add(a, b):\n    while True: pass\n", "timed_out", "stopped after"),
        ("import os; os._exit(0)", "failed", "ended before"),
        ("def add(a, b): raise ValueError('\\ud800 \\x1b[2J')\n", "failed", "\\ud800 \\x1b[2J"),
        ("import sys\ndef add(a, b): sys.exit(0)\n", "failed", "SystemExit: 0"),
    ],
    ids=["corrupt", "empty", "syntax", "huge", "endless", "exit", "no text", "early end"],
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


def test_without_options_only_what_somebody_wrote_judges(tmp_path: Path) -> None:
    found = verdict(tmp_path, RIGHT, test_other="def test_it():\n    assert True\n")
    assert (found["verdict"], found["attribution"]) == ("refused", "none")
    documented = RIGHT.replace("int:\n", 'int:\n    """\n    >>> add(1, 2)\n    3\n    """\n', 1)
    found = verdict(tmp_path, documented)
    assert (found["verdict"], found["attribution"]) == ("passed", "doctest")
    assert (found["comparison"], found["contested"], found["cheats"]["passing"]) == (
        None,
        False,
        ["return 3"],
    )


@pytest.mark.usefixtures("every_cheat")
def test_the_original_contests_what_passes_the_tests(tmp_path: Path) -> None:
    files = {"original": RIGHT, "checks": TESTS["imported"]}
    given = ("--tests", "checks.py", "--against", "original.py")
    right = verdict(tmp_path, RIGHT.replace("a + b", "b + a"), *given, **files)
    assert (right["verdict"], right["contested"], right["comparison"]["agreement"]) == (
        "passed",
        False,
        "agrees",
    )
    assert right["cheats"]["passing"] == ["return 3"]
    wrong = verdict(tmp_path, RIGHT.replace("a + b", "a + b if a < 9 else 0"), *given, **files)
    assert (wrong["verdict"], wrong["contested"], wrong["comparison"]["agreement"]) == (
        "passed",
        True,
        "differs",
    )
    assert wrong["comparison"]["call"].startswith("add(9, ")
    program = str(tmp_path / "program.py")
    shown = CliRunner().invoke(
        judge, [program, *(str(tmp_path / each) if "." in each else each for each in given)]
    )
    assert shown.output.startswith("passed, contested")
    assert "this one: returned 0" in shown.output
    alone = CliRunner().invoke(judge, [program, "--tests", str(tmp_path / "checks.py")])
    assert "nothing but its own tests vouches for it" in alone.output


def test_excluded_tests_do_not_judge(tmp_path: Path) -> None:
    wrong = {"test_wrong": "from program import add\n\ndef test_add():\n    assert add(1, 2) == 4\n"}
    assert verdict(tmp_path, RIGHT, **wrong)["verdict"] == "failed"
    assert verdict(tmp_path, RIGHT, "--excluded-tests", "test_wrong*", **wrong)["verdict"] == "refused"
    program = str(tmp_path / "program.py")
    refused = CliRunner().invoke(judge, [program, "--against", program, "--excluded-tests", "test_wrong*"])
    assert refused.exit_code == 2
    assert "own tests" in refused.output


def test_a_weak_sandbox_is_used_only_where_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weak = choose()._replace(name="process", reason="does not isolate reads", guarantees=(("reads", False),))
    monkeypatch.setattr(options, "choose", lambda: weak)
    (tmp_path / "program.py").write_text(RIGHT)
    (tmp_path / "checks.py").write_text(TESTS["plain"])
    command = [str(tmp_path / "program.py"), "--tests", str(tmp_path / "checks.py")]
    refused = CliRunner().invoke(judge, command)
    assert isinstance(refused.exception, SandboxError)
    assert "does not isolate reads" in str(refused.exception)
    allowed = CliRunner().invoke(judge, [*command, "--allow-weaker-sandbox"])
    assert (allowed.exit_code, "weak" in allowed.stderr) == (0, True)
