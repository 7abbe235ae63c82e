"""The Java problems of HumanEval-X and HumanEvalPack, and judging programs by their tests."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from counterlens.java.judging.judge import JavaTestsJudge
from counterlens.judging.base import LIMITS, Judgement, Setting
from counterlens.sandbox.registry import best_sandbox

_WORDS = {Judgement.TIMED_OUT: "late", Judgement.INVALID: "uncompiled"}


@dataclass(frozen=True)
class JavaProblem:
    """A reference solution in Java and its tests, a class `Main` that throws if one fails."""

    name: str
    source: str
    tests: str


def java_problems(folder: Path) -> Iterator[JavaProblem]:
    """The problems of HumanEval-X and HumanEvalPack in a folder; problems in both count once."""
    known: set[tuple[str, str]] = set()
    for problem in (*_humaneval_x(folder), *_humanevalpack(folder)):
        if (problem.source, problem.tests) not in known:
            known.add((problem.source, problem.tests))
            yield problem


def _humaneval_x(folder: Path) -> Iterator[JavaProblem]:
    with gzip.open(folder / "humaneval-x" / "humaneval_java.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            source = record["prompt"] + record["canonical_solution"]
            yield JavaProblem(f"HumanEval-X {record['task_id']}", source, record["test"])


def _humanevalpack(folder: Path) -> Iterator[JavaProblem]:
    with (folder / "humanevalpack" / "java" / "humanevalpack.jsonl").open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            source = record["prompt"] + record["canonical_solution"]
            yield JavaProblem(f"HumanEvalPack {record['task_id']}", source, record["test"])


class ProblemJudge:
    """Judges programs by the tests of one problem, in the sandbox.

    Args:
        problem: The problem; tests that do not compile with its own solution judge nothing.
        setting: The sandbox and limits.
    """

    def __init__(self, problem: JavaProblem, setting: Setting) -> None:
        self._problem, self._setting = problem, setting
        self._judges: dict[float, JavaTestsJudge] = {}

    def judge(self, source: str, seconds: float = 20.0) -> tuple[str, str]:
        """Return a program's result (passed, failed, late, uncompiled or refused) and its message."""
        if seconds not in self._judges:
            limits = replace(self._setting.limits, seconds=seconds)
            setting = replace(self._setting, limits=limits)
            self._judges[seconds] = JavaTestsJudge(self._problem.tests, self._problem.source, setting)
        verdict = self._judges[seconds].judge(source)
        word = _WORDS.get(verdict.judgement, verdict.judgement.value)
        return word, verdict.evidence.message


def setting() -> Setting:
    """The strongest sandbox of this machine."""
    return Setting(best_sandbox(), Path(sys.executable), LIMITS)
