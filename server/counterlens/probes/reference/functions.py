"""Writing a function: HumanEval, HumanEval+, MBPP and MBPP+, and HumanEval in Java.

Chat models get the messages with which the report on Qwen2.5-Coder asked (Hui et al. 2024; `eval_plus` and
`multipl_e` of its evaluation code), other models the beginning of the program (Chen et al. 2021; Liu et al.
2023). The tests of the benchmark decide, and nothing is added to what the model wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterlens.datasets.base import Problem, TestForm
from counterlens.models.base import ModelInfo, Prompt, Reply, Stop
from counterlens.models.chat.replies import first_block, without_thought
from counterlens.probes.probe import Context
from counterlens.probes.prompts.templates import chats
from counterlens.probes.reference.benchmark import (
    BenchmarkQuestion,
    Counted,
    failure_of,
    judge_program,
)
from counterlens.sandbox.base import Limits

TOKENS = 768
"""Maximum number of tokens of a function (EvalPlus)."""
INSTRUCTION = "You are an intelligent programming assistant to produce Python algorithmic solutions"
REQUEST = "Can you complete the following Python function?\n```python\n{}\n```\n"
BEGUN = "```python\n"
STOPS = ("\nif __name__", "\ndef main(", "\nprint(", "\n#")
_FENCE = "\n```"
JAVA_REQUEST = (
    "Please continue to complete the function and return all completed code in a codeblock. "
    "Here is the given code to do completion:\n```java\n{}\n```"
)
_IMPORTS = (
    "import java.util.*;",
    "import java.util.stream.*;",
    "import java.math.*;",
    "import java.security.*;",
)


@dataclass(frozen=True, slots=True)
class WrittenFunctions:
    """A benchmark of Python functions that are written from a description.

    Attributes:
        base: The id of its score.
        plus: The id of the score by more tests, of which `base` uses some; empty if there are no more.
        datasets: The data that it is for.
        stops: The texts that also end a function if the model continues the program itself.
    """

    base: str
    plus: str
    datasets: frozenset[str]
    stops: tuple[str, ...]

    @property
    def scores(self) -> tuple[str, ...]:
        return (self.base, self.plus) if self.plus else (self.base,)

    def fits(self, problem: Problem, by: str) -> bool:
        return problem.dataset in self.datasets and by != "fill"

    def questions(
        self, info: ModelInfo, problem: Problem, max_tokens: int | None
    ) -> Sequence[BenchmarkQuestion]:
        tokens, shown = max_tokens or TOKENS, beginning(problem)
        if not chats(info):
            prompt = Prompt(shown, tokens, Stop(texts=(*STOPS[:-1], *self.stops)))
            return (BenchmarkQuestion("function", prompt, problem, {"before": shown}),)
        reply = Reply(INSTRUCTION, "", by_template=True, begun=BEGUN)
        # An endpoint begins the answer itself, perhaps with words: its first block is read, to the end.
        stop = Stop(texts=(_FENCE, *STOPS)) if info.local else Stop()
        prompt = Prompt(REQUEST.format(shown.strip()), tokens, stop, reply)
        return (BenchmarkQuestion("function", prompt, problem),)

    def count(self, context: Context, question: BenchmarkQuestion, answer: str, limits: Limits) -> Counted:
        before = question.facts.get("before")
        program = python_program(answer) if before is None else before + answer
        problem = question.problem
        tests = {self.base: problem.base_tests if self.plus else problem.tests}
        tests |= {self.plus: problem.tests} if self.plus else {}
        verdicts = {
            score: judge_program(context, problem, given, program, limits)
            for score, given in tests.items()
            if given is not None
        }
        failed = next((failure_of(each) for each in verdicts.values() if not each.passed), "")
        return Counted({score: verdict.passed for score, verdict in verdicts.items()}, failed)


def beginning(problem: Problem) -> str:
    """The text of a problem that a model is shown.

    MBPP's is a description with the first test, as EvalPlus shows it (Liu et al. 2023).
    """
    if problem.prompt is not None:
        return problem.prompt
    test = problem.details.get("assertion", "")
    return f'"""\n{problem.description.strip()}\n{test.strip()}\n"""\n'


def python_program(answer: str) -> str:
    """The program in a reply: its first code block, or all of it, up to what ends a function."""
    code = _code(answer).replace("\t", "    ")
    ends = [at for stop in STOPS if (at := code.find(stop)) >= 0]
    return code[: min(ends, default=len(code))].rstrip() + "\n"


def _code(answer: str) -> str:
    answer = without_thought(answer).replace("\r\n", "\n")
    block = first_block(answer)
    return block.code if block else answer.partition(_FENCE)[0]


@dataclass(frozen=True, slots=True)
class JavaMethods:
    """HumanEval in Java, with the data of HumanEval-X or HumanEvalPack."""

    scores: ClassVar[tuple[str, ...]] = ("humaneval-java",)
    datasets: ClassVar[frozenset[str]] = frozenset({"humaneval-x", "humanevalpack"})

    def fits(self, problem: Problem, by: str) -> bool:
        return problem.dataset in self.datasets and is_java(problem) and by != "fill"

    def questions(
        self, info: ModelInfo, problem: Problem, max_tokens: int | None
    ) -> Sequence[BenchmarkQuestion]:
        tokens, shown = max_tokens or TOKENS, problem.prompt or ""
        if not chats(info):
            prompt = Prompt(shown, tokens, Stop(braces=1))
            return (BenchmarkQuestion("function", prompt, problem, {"before": shown}),)
        prompt = Prompt(JAVA_REQUEST.format(shown.strip()), tokens, reply=Reply("", "", by_template=True))
        return (BenchmarkQuestion("function", prompt, problem),)

    def count(self, context: Context, question: BenchmarkQuestion, answer: str, limits: Limits) -> Counted:
        problem, before = question.problem, question.facts.get("before")
        program = java_program(answer, problem) if before is None else f"{before}{answer}\n}}\n"
        if problem.tests is None:
            return Counted({})
        verdict = judge_program(context, problem, problem.tests, program, limits)
        return Counted({self.scores[0]: verdict.passed}, failure_of(verdict))


def is_java(problem: Problem) -> bool:
    """Whether its tests are Java: some data is in several languages."""
    return problem.tests is not None and problem.tests.form is TestForm.JAVA_MAIN


def java_program(answer: str, problem: Problem) -> str:
    """The program in a reply, as the evaluation of the report reads it.

    A reply with the method alone continues the shown program, or gets a class around it; the imports of the
    benchmark precede it.
    """
    code, shown = _code(answer), problem.prompt or ""
    name = (problem.function or "").rpartition(".")[2]
    if re.search(rf"\b{re.escape(name)}\s*\(", code) is None:
        code = shown + code
    elif not re.search(r"\bclass\s+Solution\b", code):
        code = f"class Solution {{\n{code}\n}}\n"
    code = re.sub(r"\bpublic\s+class\s+Solution\b", "class Solution", code)
    missing = "}" * max(0, code.count("{") - code.count("}"))
    return "".join(line + "\n" for line in _IMPORTS if line not in code) + code + missing + "\n"
