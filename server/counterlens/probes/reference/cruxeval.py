"""CRUXEval: the output of a call, and an input with a given output (Gu et al. 2024).

The prompts and what is read from an answer are the published ones, direct and with steps. All models continue
the prompt as text; a model that has only a chat gets it as a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterlens.datasets.base import Problem, TestForm, Tests
from counterlens.models.base import ModelInfo, Prompt, Reply, Stop
from counterlens.models.chat.replies import without_thought
from counterlens.probes.execution.language import execution_of
from counterlens.probes.probe import Context
from counterlens.probes.reference.benchmark import (
    BenchmarkQuestion,
    Counted,
    failure_of,
    judge_program,
    published_text,
)
from counterlens.sandbox.base import Limits

TOKENS = 1024
"""Maximum number of tokens of an answer."""
_END = "[/ANSWER]"


@dataclass(frozen=True, slots=True)
class PredictedCalls:
    """One of the four forms of CRUXEval's questions.

    Attributes:
        asks: What the model predicts: `output` or `input`.
        steps: Whether it first runs the program step by step.
    """

    asks: str
    steps: bool

    @property
    def scores(self) -> tuple[str, ...]:
        return (f"cruxeval-{self.asks[0]}{'-steps' if self.steps else ''}",)

    def fits(self, problem: Problem, by: str) -> bool:  # noqa: ARG002 - all models continue the prompt
        return problem.dataset == "cruxeval"

    def questions(
        self,
        info: ModelInfo,  # noqa: ARG002
        problem: Problem,
        max_tokens: int | None,
    ) -> Sequence[BenchmarkQuestion]:
        asked = f"{self.asks}{'-steps' if self.steps else ''}"
        call, output = problem.call or "", problem.output or ""
        given = call[2:-1] if self.asks == "output" else output
        text = published_text(asked, code=problem.source.rstrip("\n"), given=given)
        prompt = Prompt(text, max_tokens or TOKENS, Stop(texts=(_END,)), Reply("", ""))
        return (BenchmarkQuestion(asked, prompt, problem),)

    def count(self, context: Context, question: BenchmarkQuestion, answer: str, limits: Limits) -> Counted:
        problem, score = question.problem, self.scores[0]
        output, call = problem.output or "", problem.call or ""
        value = self.read(answer)
        allowed = call not in value if self.asks == "output" else "f(" in value
        if not value or not allowed:
            return Counted({score: False}, f"no {self.asks} in it: {value!r}")
        read = execution_of(problem.language).values.literal
        if self.asks == "output" and (literal := read(value)) is not None:
            truth = read(output)
            right = truth is not None and bool(literal.value == truth.value)
            return Counted({score: right}, "" if right else f"it is {output}, not {value}")
        expected = call if self.asks == "output" else output
        tests = Tests(TestForm.PYTHON, f"assert {expected} == {value}\n")
        verdict = judge_program(context, problem, tests, problem.source, limits)
        return Counted({score: verdict.passed}, failure_of(verdict))

    def read(self, answer: str) -> str:
        """The predicted part of an answer, as the published evaluation reads it."""
        answer = without_thought(answer).partition(_END)[0]
        if "[ANSWER]" in answer:
            answer = answer.split("[ANSWER]")[1].strip()
        if self.asks == "output":
            return answer.split("==")[1].strip() if "==" in answer else answer.strip()
        if "==" in answer:
            answer = answer.split("==")[0].strip()
        if "assert f" in answer:
            answer = "f" + answer.split("assert f")[1].strip()
        return answer.strip()
