"""The questions of the runtime task about the lines, the output and the input of a traced call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from counterlens.errors import SourceError
from counterlens.languages.registry import LANGUAGES
from counterlens.models.chat.replies import without_thought
from counterlens.probes.execution.calls import statement_lines
from counterlens.probes.execution.language import (
    MARK,
    MOST_POINTS,
    Point,
    add_mark,
    execution_of,
    times_in_words,
)
from counterlens.probes.execution.prompts import DIRECT_TOKENS, most_tokens
from counterlens.probes.localisation.probe import number_lines, read_line
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.asking import (
    Question,
    TaskAnswer,
    number_question,
    yes_no_question,
)
from counterlens.probes.prompts.function_text import body_lines, visible_part
from counterlens.probes.prompts.templates import chats
from counterlens.probes.runtime.record import (
    LineAnswer,
    NextLineAnswer,
    SoughtInput,
)
from counterlens.probes.runtime.states import TracedCall
from counterlens.sandbox.base import Limits
from counterlens.syntax.functions import find_function

_MOST_STEPS = 400  # of a trace: a line that is not in a longer one may still run
_NUMBER_TOKENS = 16
"""Limit of an answer that begins with the number of a line: what a model adds is not read."""


@dataclass(frozen=True, slots=True)
class LineRuns:
    """The question whether a line of the document runs."""

    question: Question[bool]
    line: int
    truth: bool

    def answered(self, answer: TaskAnswer[bool]) -> LineAnswer:
        """The answer to it."""
        return LineAnswer(line=self.line, truth=self.truth, yes=answer.value, probability=answer.probability)


@dataclass(frozen=True, slots=True)
class NextLine:
    """The question which line runs after a state; the truth is its number in the question, 0: none."""

    question: Question[int]
    point: Point
    asked: int
    truth: int

    def answered(self, answer: TaskAnswer[int]) -> NextLineAnswer:
        """The answer to it."""
        return NextLineAnswer(
            line=self.point.line,
            times=self.point.times,
            truth=self.truth,
            said=answer.said,
            answer=answer.value,
            asked=self.asked,
            candidates=tuple(self.question.candidates.values()) if answer.logprobs else (),
            logprobs=answer.logprobs,
        )


class LineQuestions:
    """The questions about the lines of a traced call, by their numbers in the program as shown."""

    def __init__(self, context: Context, target: Target, traced: TracedCall, max_tokens: int | None) -> None:
        self._target, self._traced = target, traced
        self._document, self._language = target.document, execution_of(target.document.language)
        self._function = find_function(target.document, target.qualname)
        self._tokens = most_tokens(context.model.info, max_tokens, DIRECT_TOKENS)
        self._number_tokens = most_tokens(context.model.info, max_tokens, _NUMBER_TOKENS)
        source = number_lines(traced.question.source.strip("\n").splitlines())
        self._places = {"source": source, "call": traced.question.call}

    def covered(self) -> Iterator[LineRuns]:
        """Whether the lines of the states run, or any that run if there are none, and all that do not run."""
        traced, function = self._traced, self._function
        run = {step.line for step in traced.steps}
        whole = len(traced.steps) < _MOST_STEPS
        idle = sorted(statement_lines(self._target, function) - run) if whole else []
        idle = [line for line in idle if function.start_line <= line <= function.end_line]
        lines = list(dict.fromkeys(point.line for point in traced.points)) or sorted(run)[:MOST_POINTS]
        for line in [*lines, *idle]:
            if number := self._number(line):
                places = {**self._places, "line": str(number)}
                yield LineRuns(yes_no_question("runtime-line", places, self._tokens), line, line in run)

    def following(self) -> Iterator[NextLine]:
        """Which line runs after each state, if the trace has all lines."""
        steps, numbers = self._traced.steps, (0, *self._body())
        for point in self._traced.points if self._language.traces_headers else ():
            runs = [number for number, step in enumerate(steps) if step.line == point.line]
            after = runs[point.times - 1] + 1
            if after == _MOST_STEPS:
                continue
            here = self._number(point.line)
            truth = self._number(steps[after].line) if after < len(steps) else 0
            if here is None or truth is None:
                continue
            places = {**self._places, "line": str(here), "times": times_in_words(point.times)}
            asked = number_question("runtime-next", places, read_line, numbers, self._number_tokens)
            yield NextLine(asked, point, here, truth)

    def input_question(self) -> Iterator[Question[str]]:
        """The question for an input with the output of the call; none if its calls cannot be read."""
        question = self._traced.question
        if self._language.calls_in(question.call, self._target.qualname):
            places = {"function": self._function.name, "output": question.truth.written}
            places["source"] = question.source
            yield Question("runtime-input", places, str, max_tokens=self._tokens)

    def _body(self) -> Iterator[int]:
        """The numbers of the lines of the function's body in the program as shown."""
        document = self._language.unanswered(self._document, self._function, self._traced.question.call)
        lines, body = body_lines(document, find_function(document, self._target.qualname))
        return (at + 1 for at in body if lines[at].strip())

    def _number(self, line: int) -> int | None:
        """The number of a line of the document in the program as shown; None if it is not shown."""
        document = add_mark(self._document, line)
        mark = f"{LANGUAGES[document.language].comment} {MARK}"
        name, call = self._target.qualname, self._traced.question.call
        document = self._language.unanswered(document, find_function(document, name), call)
        lines = visible_part(document, find_function(document, name)).strip("\n").splitlines()
        return next((number for number, text in enumerate(lines, 1) if text.endswith(mark)), None)


def balance_lines(calls: Sequence[Sequence[LineRuns]]) -> list[list[LineRuns]]:
    """The questions whether lines run, as many true as false over all calls, and spread over these.

    Whoever always says yes is right in half of them.
    """
    kept = [list[LineRuns]() for _ in calls]
    sides = []
    for truth in (True, False):
        turns = zip_longest(
            *([(at, each) for each in own if each.truth is truth] for at, own in enumerate(calls))
        )
        sides.append([each for turn in turns for each in turn if each is not None])
    for at, each in chain.from_iterable(zip(*sides, strict=False)):
        kept[at].append(each)
    return kept


def sought_input(
    context: Context, target: Target, traced: TracedCall, text: str, limits: Limits
) -> SoughtInput:
    """The answer to the question for an input, and whether it gives the output of the call."""
    question, language = traced.question, execution_of(target.document.language)
    name = find_function(target.document, target.qualname).name
    begun = "" if chats(context.model.info) else f"{name}("
    call = _call_in(begun + without_thought(text), target)
    gave, right = None, False
    if call is not None:
        try:
            output = language.output_of(target.document, call, context.setting(limits))
            gave, right = output.written, language.values.equal(output.value, question.truth.value)
        except SourceError:
            gave = None
    return SoughtInput(output=question.truth.written, said=text, call=call, gave=gave, right=right)


def _call_in(text: str, target: Target) -> str | None:
    """The first call with literal arguments in an answer: in one of its lines, or the begin of one."""
    language = execution_of(target.document.language)
    for line in text.splitlines():
        plain = line.strip().strip("`")
        ends = [len(plain), *(at + 1 for at, mark in enumerate(plain) if mark == ")")]
        for end in ends:
            if calls := language.calls_in(plain[:end], target.qualname):
                return calls[0]
    return None
