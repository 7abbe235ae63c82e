"""Java programs, judged by a `main` in the strongest sandbox of this machine."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from counterlens.java.judging.judge import JavaTestsJudge
from counterlens.judging.base import LIMITS, Setting, Verdict, lasting
from counterlens.judging.languages import judging_of
from counterlens.sandbox.registry import best_sandbox

Judged = Callable[..., Verdict]


@pytest.fixture(autouse=True)
def _kit() -> None:
    """Skips the tests if Java programs cannot run."""
    if missing := judging_of("java").missing():
        pytest.skip(missing)


@pytest.fixture
def verdict() -> Judged:
    """Judges a program; arguments are its text, and its tests' text or the statements of their `main`."""

    def judge(
        program: str,
        tests: str,
        *,
        original: str | None = None,
        seconds: float = LIMITS.seconds,
    ) -> Verdict:
        tests = textwrap.dedent(tests)
        if "class " not in tests:
            tests = f"class Main {{ public static void main(String[] a) throws Exception {{\n{tests}\n}} }}"
        setting = Setting(best_sandbox(), Path(sys.executable), lasting(seconds))
        whole = None if original is None else textwrap.dedent(original)
        return JavaTestsJudge(tests, whole, setting).judge(textwrap.dedent(program))

    return judge
