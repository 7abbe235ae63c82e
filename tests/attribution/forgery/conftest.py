"""One folder for all programs, so that they share waiting interpreters."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from counterlens.attribution.base import Setting, Verdict
from counterlens.attribution.file_of_tests import judge_by_tests
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox

Judged = Callable[[str, str], Verdict]
LIMITS = Limits(seconds=30.0, output_bytes=1 << 20)


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory, bare_python: Path) -> Judged:
    """Judges a program by tests."""
    return _judge_in(tmp_path_factory.mktemp("judged"), bare_python)


@pytest.fixture(scope="session")
def judged_by_pytest(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Judges a program by tests, with pytest and hypothesis installed."""
    return _judge_in(tmp_path_factory.mktemp("judged"), Path(sys.executable))


def _judge_in(folder: Path, python: Path) -> Judged:
    path, numbers = folder / "program.py", itertools.count()
    path.write_text("")
    setting = Setting(best_sandbox(), python, LIMITS)

    def judge(program: str, tests: str) -> Verdict:
        beside = folder / f"test_{next(numbers)}.py"
        beside.write_text(tests)
        return judge_by_tests(program, path, beside, setting)

    return judge


def side_by_side(judge: Judged, asked: Iterable[tuple[str, str, str]]) -> dict[str, Verdict]:
    """The verdicts by name; each item of `asked` is a name, a program and its tests."""
    with ThreadPoolExecutor(2) as pool:
        coming = {name: pool.submit(judge, program, tests) for name, program, tests in asked}
        return {name: verdict.result() for name, verdict in coming.items()}
