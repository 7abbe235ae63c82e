"""The order in which attribution functions are tried, and what is said of the one that a judge rests on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.judging.base import Evidence, Judge, Judgement, Setting, Verdict
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import JointJudge, find_judge, why_no_judge
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

Project = Callable[[Mapping[str, str]], Path]
FILES = {
    "pyproject.toml": "",
    "numbers_of.py": '''
        def tested(n: int) -> int:
            return _helper(n)

        def _helper(n: int) -> int:
            return n + 1 if n > 0 else 0

        def shown(n: int) -> int:
            """
            >>> shown(1)
            2
            """
            return n + 1

        def bare(n: int) -> int:
            return n - 1 if n > 3 else n

        def reads(path: str) -> str:
            return open(path).read()
    ''',
    "test_numbers_of.py": """
        from numbers_of import tested

        def test_it():
            assert tested(1) == 2
    """,
}


def found(root: Path, name: str, *, fallback: bool = True) -> Judge | None:
    document = Document.read(root / "numbers_of.py")
    function = find_function(document, name)
    return find_judge(document, function, Setting(best_sandbox(), Path(sys.executable)), fallback=fallback)


def test_the_order_in_which_they_are_tried(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = project(FILES)
    judges = {name: found(root, name) for name in ("tested", "_helper", "shown", "bare", "reads")}
    assert {name: judge.attribution if judge else None for name, judge in judges.items()} == {
        "tested": "tests",  # which mention it
        "_helper": "tests",  # which reach it
        "shown": "doctest",
        "bare": "differential",
        "reads": None,
    }
    assert judges["tested"] is not None
    assert judges["tested"].described.startswith("1 test")
    assert judges["bare"] is not None
    assert "inputs (differential execution, " in judges["bare"].described
    assert judges["bare"].described.endswith(" reached)")


def test_without_a_fallback_only_what_somebody_wrote_counts(project: Project) -> None:
    root = project(FILES)
    assert found(root, "bare", fallback=False) is None
    assert found(root, "_helper", fallback=False) is None
    assert found(root, "shown", fallback=False) is not None


def test_why_nothing_judges_is_said_for_each_attribution_function(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    document = Document.read(project(FILES) / "numbers_of.py")
    function = find_function(document, "reads")
    assert find_judge(document, function, Setting(best_sandbox(), Path(sys.executable))) is None
    why = why_no_judge(document, function, Setting(best_sandbox(), Path(sys.executable)))
    assert why.split("; ") == [
        "no test mentions it, and its docstring has no examples",
        "none of the 3 tests that were run reaches it",
        "its behaviour cannot be judged: it opens files",
    ]


def test_tests_that_end_the_process_are_run_once_and_named_as_the_reason(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ending = {**FILES, "test_numbers_of.py": "import os\nos._exit(3)\n"}
    document = Document.read(project(ending) / "numbers_of.py")
    function = find_function(document, "reads")
    said: list[str] = []
    for _ in range(2):
        assert (
            find_judge(
                document,
                function,
                Setting(best_sandbox(), interpreter_for(document.path), report=said.append),
            )
            is None
        )
    assert len(said) == 2  # once with that file, once without it
    assert "numbers_of.py cannot be imported: it ends the process" in why_no_judge(
        document, function, Setting(best_sandbox(), interpreter_for(document.path))
    )


class Says(Judge):
    """A judge of one mind."""

    attribution, tests = "tests", 1

    def __init__(self) -> None:
        self._verdict = Verdict(Judgement.PASSED, Evidence("doctest", 1))

    def judge(self, program: str, *, cancel: object = None) -> Verdict:  # noqa: ARG002
        return self._verdict


def test_several_judges_are_described_one_by_one() -> None:
    shown, given = Says(), Says()
    shown.attribution, shown.tests = "doctest", 2
    given.attribution = "given"
    assert JointJudge([Says(), shown]).described == "1 test and 2 doctests"
    assert given.described == "1 given test"
