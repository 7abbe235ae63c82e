"""Filling in one line: each line of a reference solution is masked (Bavarian et al. 2022, single line).

On HumanEval these are the 1,033 published tasks. An answer ends with its line, and is right if it is exactly
the masked one, without the blanks around it (as in Hui et al. 2024, who count the first line, too).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterlens.datasets.base import Problem
from counterlens.models.base import ModelInfo, Prompt, Stop
from counterlens.probes.probe import Context
from counterlens.probes.reference.benchmark import BenchmarkQuestion, Counted
from counterlens.probes.reference.functions import is_java
from counterlens.sandbox.base import Limits

TOKENS = 64
"""Maximum number of tokens of a line."""
_PYTHON, _JAVA = "fim-line", "fim-line-java"
_DATASETS = {"humaneval": _PYTHON, "humaneval-x": _JAVA, "humanevalpack": _JAVA}
"""The score of each dataset; Python is from HumanEval, so the others count in Java only."""


@dataclass(frozen=True, slots=True)
class MaskedLine:
    """A program without one line.

    Attributes:
        number: The line, 1-based.
        before: The text before it, with the line break at its end.
        text: The line.
        after: The text after it, from the beginning of the next line; empty after the last one.
    """

    number: int
    before: str
    text: str
    after: str


@dataclass(frozen=True, slots=True)
class FilledLines:
    """The benchmark of single lines."""

    scores: ClassVar[tuple[str, ...]] = (_PYTHON, _JAVA)

    def fits(self, problem: Problem, by: str) -> bool:
        score = _DATASETS.get(problem.dataset)
        return by == "fill" and score is not None and (score == _JAVA) == is_java(problem)

    def questions(
        self,
        info: ModelInfo,  # noqa: ARG002
        problem: Problem,
        max_tokens: int | None,
    ) -> Sequence[BenchmarkQuestion]:
        return [
            BenchmarkQuestion(
                f"line {line.number}",
                Prompt(line.before, max_tokens or TOKENS, Stop(texts=("\n",)), suffix=line.after),
                problem,
                {"line": line.text},
            )
            for line in masked_lines(problem)
        ]

    def count(
        self,
        context: Context,  # noqa: ARG002
        question: BenchmarkQuestion,
        answer: str,
        limits: Limits,  # noqa: ARG002
    ) -> Counted:
        wanted, written = question.facts["line"].strip(), first_line(answer)
        score = _DATASETS[question.problem.dataset]
        return Counted({score: written == wanted}, "" if written == wanted else f"wrote {written!r}")


def masked_lines(problem: Problem) -> Iterator[MaskedLine]:
    """Each line of a solution that is not blank, masked; the prompt stays."""
    shown = problem.prompt or ""
    lines = problem.source.split("\n")
    for at in range(shown.count("\n"), len(lines)):
        if lines[at].strip():
            yield MaskedLine(
                at + 1, "".join(f"{line}\n" for line in lines[:at]), lines[at], "\n".join(lines[at + 1 :])
            )


def first_line(answer: str) -> str:
    """The first line of an answer, without the blanks around it."""
    return answer.partition("\n")[0].strip()
