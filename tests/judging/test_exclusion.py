"""Tests that a repository's settings exclude: they are not run, never judge, and are named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.evaluation.settings import RunOptions, RunSettings
from counterlens.evaluation.settings_file import read
from counterlens.judging.base import Judge, Setting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge, why_no_judge
from counterlens.probes.options import specs
from counterlens.python.judging.baseline import baseline_of
from counterlens.python.judging.layout import layout_of
from counterlens.python.judging.sandboxed.recorder.exclusion import REASON, is_excluded
from counterlens.python.judging.suite import Suite, digest_of
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

LIMITS = Limits(seconds=30.0, output_bytes=1 << 20)
FILES = {
    "pyproject.toml": "",
    "sums.py": """
        def double(n):
            return n + n
    """,
    "tests/test_sums.py": """
        import pytest
        from sums import double

        @pytest.mark.parametrize("n", [1, 2])
        def test_double(n):
            assert double(n) == 2 * n

        class TestWrong:
            def test_triple(self):
                assert double(1) == 3
    """,
    "tests/network/test_far.py": """
        from sums import double

        raise SystemExit("it would end the process")

        def test_far():
            assert double(2) == 5
    """,
}
WRONG, FAR = "tests/test_sums.py::TestWrong", "tests/network/*"


@pytest.mark.parametrize(
    ("pattern", "excluded"),
    [
        ("tests/network", {"far"}),
        ("tests/network/", {"far"}),
        ("tests/network/*", {"far"}),
        ("tests/*", {"far", "one", "two", "method"}),
        ("*/test_sums.py", {"one", "two", "method"}),
        ("tests/test_sums.py::test_double", {"one", "two"}),
        ("tests/test_sums.py::test_double[1]", {"one"}),
        ("tests/test_sums.py::TestWrong", {"method"}),
        ("tests/test_sums.py::*triple", {"method"}),
        ("tests/test_sums.py::TestWron", set()),
        ("test", set()),
        ("network/*", set()),
    ],
)
def test_a_pattern_is_a_file_a_folder_or_a_glob_and_a_test_behind_it(
    pattern: str, excluded: set[str]
) -> None:
    names = {
        "far": ("tests/network/test_far.py", "test_far"),
        "one": ("tests/test_sums.py", "test_double[1]"),
        "two": ("tests/test_sums.py", "test_double[2]"),
        "method": ("tests/test_sums.py", "TestWrong::test_triple"),
    }
    assert {name for name, test in names.items() if is_excluded([pattern], *test)} == excluded


def judge(folder: Path, *excluded: str, surveyed: bool) -> Judge | None:
    document = Document.read(folder / "sums.py")
    return find_judge(
        document,
        find_function(document, "double"),
        Setting(
            best_sandbox(),
            Path(sys.executable),
            LIMITS,
            vetted=surveyed,
            surveyed=surveyed,
            excluded=tuple(excluded),
        ),
        fallback=False,
    )


def test_excluded_tests_are_not_run_and_are_named(
    project: Callable[[Mapping[str, str]], Path], tmp_path: Path
) -> None:
    folder = project(FILES)
    setting = Setting(best_sandbox(), Path(sys.executable), LIMITS, excluded=(WRONG, FAR))
    baseline = baseline_of(layout_of(folder / "sums.py"), setting, tmp_path / "kept")
    assert baseline is not None
    outcomes = {test.item: (test.outcome, test.reason) for test in baseline.tests}
    assert outcomes == {
        "test_double[1]": ("passed", ""),
        "test_double[2]": ("passed", ""),
        "TestWrong::test_triple": ("excluded", REASON),
    }
    assert baseline.broken == {str(folder / "tests/network/test_far.py"): REASON}  # and not imported
    assert not baseline.partial
    found = judge(folder, WRONG, FAR, surveyed=True)
    assert found is not None
    verdict = found.judge((folder / "sums.py").read_text())
    assert verdict.passed
    assert REASON in verdict.evidence.message
    assert "TestWrong::test_triple" in verdict.evidence.message


def test_tests_that_mention_a_function_and_are_excluded_do_not_judge_it(
    project: Callable[[Mapping[str, str]], Path],
) -> None:
    folder = project({name: text for name, text in FILES.items() if "network" not in name})
    source = (folder / "sums.py").read_text()
    strict, kind = judge(folder, surveyed=False), judge(folder, WRONG, surveyed=False)
    assert strict is not None
    assert kind is not None
    assert not strict.judge(source).passed
    assert kind.judge(source).passed
    assert judge(folder, "tests", surveyed=False) is None
    document = Document(source, path=folder / "sums.py")
    function = find_function(document, "double")
    reason = why_no_judge(
        document,
        function,
        Setting(best_sandbox(), interpreter_for(document.path), excluded=("tests",)),
        fallback=False,
    )
    assert reason == "the settings exclude every test that mentions it"


def test_a_baseline_is_of_what_is_excluded(project: Callable[[Mapping[str, str]], Path]) -> None:
    folder, python = project(FILES), Path(sys.executable)
    digests = [digest_of(Suite(folder, excluded), python) for excluded in ((), (FAR,), (WRONG,), ())]
    assert len(set(digests)) == 3
    assert digests[0] == digests[-1]


def test_a_settings_file_names_them_and_a_run_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "counterlens.toml"
    path.write_text(f'excluded-tests = ["{WRONG}", "{FAR}"]\n')
    file = read(path)
    assert file is not None
    assert file.given == {"excluded_tests": (WRONG, FAR)}
    assert "excluded_tests" not in specs(RunOptions)
    settings = RunSettings.of(["completion"], "repo:.", file.given)
    assert settings.options["completion"]["excluded_tests"] == [WRONG, FAR]
    other = RunSettings.of(["completion"], "repo:.")
    assert any("excluded_tests" in one for one in settings.differences(other))
