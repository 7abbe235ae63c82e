"""What the benchmarks have in common: a question as it was published, and what counts as right."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Protocol

from counterlens.datasets.base import Problem, Tests
from counterlens.errors import SourceError
from counterlens.judging.base import Evidence, Judgement, Setting, Verdict
from counterlens.judging.languages import judging_of
from counterlens.models.base import Api, ModelInfo, Prompt
from counterlens.probes.probe import Context
from counterlens.probes.prompts.templates import chats, template
from counterlens.sandbox.base import Limits

ASKED_BY = ("chat", "completion", "fill")
"""How a model can be asked."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What an answer scores.

    Attributes:
        scores: Whether it is right, by the id of each score.
        failed: What shows that it is wrong; empty if it is right.
    """

    scores: Mapping[str, bool]
    failed: str = ""


@dataclass(frozen=True, slots=True)
class BenchmarkQuestion:
    """A question of a benchmark.

    Attributes:
        asked: What is asked, as in `ReferenceAnswer`.
        prompt: The published prompt.
        problem: The problem that it is about.
        facts: What counting needs, by name.
    """

    asked: str
    prompt: Prompt
    problem: Problem
    facts: Mapping[str, str] = field(default_factory=dict)


class Benchmark(Protocol):
    """How one benchmark is asked and counted; `registry.py` has all of them."""

    @property
    def scores(self) -> tuple[str, ...]:
        """The ids of the scores that it gives."""

    def fits(self, problem: Problem, by: str) -> bool:
        """Whether it asks about a problem.

        Args:
            by: How the model is asked, as `asked_by` says.
        """

    def questions(
        self, info: ModelInfo, problem: Problem, max_tokens: int | None
    ) -> Sequence[BenchmarkQuestion]:
        """The questions about a problem.

        Args:
            info: Describes the model.
            max_tokens: Maximum number of tokens of an answer; None: the published one.
        """

    def count(self, context: Context, question: BenchmarkQuestion, answer: str, limits: Limits) -> Counted:
        """What an answer scores; programs run in the sandbox.

        Raises:
            SandboxError, Cancelled: as `Judge.judge`.
        """


def asked_by(info: ModelInfo) -> str:
    """How a model is asked: `chat`, `completion` or `fill`."""
    if info.api is Api.FILL:
        return "fill"
    return "chat" if chats(info) else "completion"


def published_text(name: str, **places: str) -> str:
    """A published prompt to be continued, to the last byte."""
    return wording(name).substitute(places)


def wording(name: str) -> Template:
    """The template of a published prompt."""
    return template(__package__, name, "completion")


def judge_program(context: Context, problem: Problem, tests: Tests, program: str, limits: Limits) -> Verdict:
    """The verdict of a benchmark's own tests, and of nothing else, on a program.

    Raises:
        SandboxError, Cancelled: as `Judge.judge`.
    """
    setting = Setting(context.sandbox(), Path(sys.executable), limits, context.cancel)
    try:
        judge = judging_of(problem.language).supplied(
            tests.text, problem.function or "", problem.source, setting
        )
    except SourceError as error:
        return Verdict(Judgement.INVALID, Evidence("given", 0, message=error.message))
    return judge.judge(program, cancel=context.cancel)


def failure_of(verdict: Verdict) -> str:
    """What shows that a program is wrong, in a line."""
    if verdict.passed:
        return ""
    first = (verdict.evidence.message or verdict.evidence.failed or "").strip().splitlines()
    return f"{verdict.judgement.value}: {first[-1].strip()}" if first else verdict.judgement.value
