"""The runtime task: does the model follow a call line by line? (Chen et al. 2024, REval, and beyond)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

from counterlens.errors import SourceError
from counterlens.judging.base import lasting
from counterlens.languages.registry import LANGUAGES
from counterlens.metrics.closed import Closed
from counterlens.metrics.figures import GroupedFigure, ListedFigure, count, rows_of, share, share_of
from counterlens.metrics.table import Cell
from counterlens.models.base import Model
from counterlens.models.chat.replies import without_thought
from counterlens.probes.common_options import DEFAULT_TIMEOUT, Timeout
from counterlens.probes.execution.coherence import TracedCall, ask_states, state_rows, trace_call
from counterlens.probes.execution.language import (
    MARK,
    MOST_POINTS,
    Point,
    add_mark,
    execution_of,
    times_in_words,
)
from counterlens.probes.execution.prompts import DIRECT_TOKENS, StyleTokens, most_tokens
from counterlens.probes.execution.questions import reachable
from counterlens.probes.execution.record import (
    CoherenceCall,
    LineAnswer,
    NextLineAnswer,
    RuntimeCall,
    RuntimeRecord,
    SoughtInput,
)
from counterlens.probes.localisation.probe import number_lines, read_line
from counterlens.probes.options import PromptedOptions
from counterlens.probes.probe import Context, Need, Source, Target
from counterlens.probes.prompts.asking import (
    UNREADABLE,
    Question,
    TaskAnswer,
    number_question,
    yes_no_question,
)
from counterlens.probes.prompts.closed_figures import BY_MODEL, log_odds, yes_no
from counterlens.probes.prompts.function_text import body_lines, visible_part
from counterlens.probes.prompts.literals import short
from counterlens.probes.prompts.task import JudgedAnswer, PromptedTask
from counterlens.probes.prompts.templates import chats
from counterlens.sandbox.base import Limits
from counterlens.syntax.functions import find_function

ASKED = ("line runs", "state", "next line", "output", "input")
"""What is asked, from the easiest on."""
_MOST_STEPS = 400  # of a trace: a line that is not in a longer one may still run
_NUMBER_TOKENS = 16
"""Limit of an answer that begins with the number of a line: what a model adds is not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions(PromptedOptions):
    """Options of the runtime task."""

    timeout: Timeout = DEFAULT_TIMEOUT
    max_tokens: StyleTokens = None


@dataclass(frozen=True, slots=True)
class _LineRuns:
    """The question whether a line of the document runs."""

    question: Question[bool]
    line: int
    truth: bool

    def answered(self, answer: TaskAnswer[bool]) -> LineAnswer:
        """The answer to it."""
        return LineAnswer(line=self.line, truth=self.truth, yes=answer.value, probability=answer.probability)


@dataclass(frozen=True, slots=True)
class _NextLine:
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """A traced call, and the questions about its lines."""

    traced: TracedCall
    covered: Sequence[_LineRuns]
    following: Sequence[_NextLine]


def _ladders(record: RuntimeRecord) -> list[tuple[bool, ...]]:
    """The chains of answers with a right one: one with none right is consistent whatever the model does."""
    return [ladder for call in record.calls for ladder in call.ladders if any(ladder)]


def consistent(ladder: Sequence[bool]) -> bool:
    """Whether no right answer comes after a wrong one to an easier question."""
    return not any(later and not earlier for earlier, later in pairwise(ladder))


def _judged_answers(record: RuntimeRecord) -> Iterator[JudgedAnswer]:
    for call in record.calls:
        for each in call.covered:
            scores = {} if each.probability is None else {BY_MODEL: log_odds(each.probability)}
            scores |= {"earlier line": -each.line} if scores else {}
            ranked = {way: yes_no(call.target, score, truth=each.truth) for way, score in scores.items()}
            yield JudgedAnswer("line runs", each.truth, each.right, ranked)
        for state in call.states:
            if not state.truncated:
                yield JudgedAnswer("state", state.truth, state.right, copied=state.copied)
        for following in call.next_lines:
            numbers = following.candidates
            right = frozenset(at for at, number in enumerate(numbers) if number == following.truth)
            below = tuple(-abs(number - following.asked - 1.0) for number in numbers)
            ways = {BY_MODEL: following.logprobs, "the line below": below}
            ranked = {
                way: Closed(call.target, numbers, scores, right)
                for way, scores in (ways.items() if following.logprobs and right else ())
            }
            yield JudgedAnswer("next line", following.truth, following.right, ranked)
        if not call.truncated:
            yield JudgedAnswer("output", call.truth, call.right, copied=call.copied)
        if call.sought:
            yield JudgedAnswer("input", None, call.sought.right)


def _listed_rows(record: RuntimeRecord) -> Iterator[tuple[Cell, ...]]:
    """The answers about a call: what was asked for, what it is, and the answer."""
    words = {True: "yes", False: "no", None: "unreadable"}
    for call in record.calls:
        for each in call.covered:
            yield call.call, f"line {each.line} runs", words[each.truth], words[each.yes]
        *states, output = state_rows(call)
        yield from states
        for following in call.next_lines:
            truth = "it returns" if following.truth == 0 else str(following.truth)
            place = f"after line {following.line}, time {following.times}"
            yield call.call, place, truth, following.answer
        yield output
        if call.sought:
            place = f"input for {short(call.sought.output)}"
            yield call.call, place, short(call.sought.gave), short(call.sought.call)


class RuntimeProbe(PromptedTask[RuntimeOptions, RuntimeRecord, _Asked]):
    """Asks which lines run, which comes next, for states, the output, and an input that gives it."""

    id = "runtime"
    title = "does it follow a call line by line?"
    source = Source("Chen et al. 2024", "REval, with searched inputs")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = RuntimeOptions
    record = RuntimeRecord
    asking = "asking about the lines of"
    main = "next line"
    requests = 2 + 4 * MOST_POINTS + 2
    figures = (
        GroupedFigure[RuntimeRecord, JudgedAnswer](
            "what happens during a call",
            of=_judged_answers,
            by={"asked": lambda each: each.asked},
            columns={"n": count, "right": share(lambda each: each.right)},
            order=lambda each: ASKED.index(each.asked),
            note="a line runs: at least once during the call; state: the value of a variable right after a "
            "given run of a line; next line: which one runs then; output: of the call; input: a call that "
            "gives this output, run in the sandbox, so that any right one counts",
        ),
        GroupedFigure[RuntimeRecord, tuple[bool, ...]](
            "consistency",
            of=_ladders,
            columns={"chains": count, "consistent": share(consistent), "all right": share(all)},
            note="a chain: whether a line runs, the state after it, the next line, the output of the call; "
            "consistent: no right answer comes after a wrong one. Only chains with a right answer count",
        ),
    )
    listing = ListedFigure[RuntimeRecord, tuple[Cell, ...]](
        "calls",
        of=_listed_rows,
        columns={
            "call": lambda row: row[0],
            "asked for": lambda row: row[1],
            "is": lambda row: row[2],
            "answer": lambda row: row[3],
        },
        most=3,
        records=True,
        named=False,
    )

    def check_target(self, target: Target, options: RuntimeOptions) -> None:  # noqa: ARG002
        """Like `Probe.check_target`: a standalone call must reach it."""
        reachable(target)

    def questions(
        self,
        context: Context,
        target: Target,
        options: RuntimeOptions,
        left_out: Counter[str],  # noqa: ARG002
    ) -> tuple[_Asked, list[Question[Any]]]:
        """Like `PromptedTask.questions`: about lines, and last for an input."""
        traced = trace_call(context, target, seed=options.seed, limits=lasting(options.timeout))
        lines = _Lines(context, target, traced, options.max_tokens)
        asked = _Asked(traced, list(lines.covered()), list(lines.following()))
        covered, following = ([each.question for each in part] for part in (asked.covered, asked.following))
        return asked, [*covered, *following, *lines.input_question()]

    def answered(
        self,
        context: Context,
        target: Target,
        options: RuntimeOptions,
        facts: _Asked,
        answers: Sequence[TaskAnswer[Any]],
        left_out: Counter[str],
    ) -> RuntimeRecord:
        """Like `PromptedTask.answered`; the output and the states are asked as in the task coherence."""
        states = ask_states(context, target, facts.traced, options.max_tokens)
        said = iter(answers)
        covered = tuple(each.answered(next(said)) for each in facts.covered)
        following = tuple(each.answered(next(said)) for each in facts.following)
        limits = lasting(options.timeout)
        sought = next(
            (_sought_input(context, target, facts.traced, each.said, limits) for each in said), None
        )
        left_out[UNREADABLE] = sum(each.yes is None for each in covered)
        left_out["next line without a number"] = sum(each.answer is None for each in following)
        left_out["input: no call with literal arguments can be asked for"] = int(sought is None)
        call = RuntimeCall(
            **{field.name: getattr(states, field.name) for field in fields(CoherenceCall)},
            covered=covered,
            next_lines=following,
            sought=sought,
        )
        return RuntimeRecord(calls=(call,))

    def judged(self, record: RuntimeRecord) -> Iterator[JudgedAnswer]:
        """Like `PromptedTask.judged`."""
        return _judged_answers(record)

    def finding(self, records: Sequence[RuntimeRecord]) -> str:
        rows = rows_of(records, _judged_answers)
        right = {
            name: share_of([row for row in rows if row[1].asked == name], lambda each: each.right)
            for name in ASKED
        }
        parts = [f"{known.count} of {known.n} ({name})" for name, known in right.items() if known.n]
        ladders = [ladder for record in records for ladder in _ladders(record)]
        return (
            f"Right answers about what happens during a call: {', '.join(parts)}. Of {len(ladders)} chains "
            f"of answers with a right one, {sum(map(consistent, ladders))} have no right answer behind a "
            "wrong easier one."
        )

    def measures(self, record: RuntimeRecord) -> Mapping[str, bool]:
        (call,) = record.calls
        return {"output": call.right, "consistent": all(map(consistent, call.ladders))}

    def estimate(self, target: Target, options: RuntimeOptions, model: Model) -> int:  # noqa: ARG002
        """Like `Probe.estimate`: the call must be reachable, too."""
        reachable(target)
        return self.requests


class _Lines:
    """The questions about the lines of a traced call, by their numbers in the program as shown."""

    def __init__(self, context: Context, target: Target, traced: TracedCall, max_tokens: int | None) -> None:
        self._target, self._traced = target, traced
        self._document, self._language = target.document, execution_of(target.document.language)
        self._function = find_function(target.document, target.qualname)
        self._tokens = most_tokens(context.model.info, max_tokens, DIRECT_TOKENS)
        self._number_tokens = most_tokens(context.model.info, max_tokens, _NUMBER_TOKENS)
        source = number_lines(traced.question.source.strip("\n").splitlines())
        self._places = {"source": source, "call": traced.question.call}

    def covered(self) -> Iterator[_LineRuns]:
        """Whether the lines of the states run, and as many lines that do not run."""
        traced, function = self._traced, self._function
        run = {step.line for step in traced.steps}
        whole = len(traced.steps) < _MOST_STEPS
        idle = sorted(self._language.simple_lines(self._document, function) - run) if whole else []
        idle = [line for line in idle if function.start_line <= line <= function.end_line]
        lines = list(dict.fromkeys(point.line for point in traced.points)) or sorted(run)[:MOST_POINTS]
        for line in [*lines, *idle[: len(lines)]]:
            if number := self._number(line):
                places = {**self._places, "line": str(number)}
                yield _LineRuns(yes_no_question("runtime-line", places, self._tokens), line, line in run)

    def following(self) -> Iterator[_NextLine]:
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
            yield _NextLine(asked, point, here, truth)

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


def _sought_input(
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
