"""The runtime task: does the model follow a call line by line? (Chen et al. 2024, REval, and beyond)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

from counterlens.judging.base import lasting
from counterlens.metrics.closed import Closed
from counterlens.metrics.figures import GroupedFigure, ListedFigure, count, rows_of, share, share_of
from counterlens.metrics.table import Cell
from counterlens.models.base import Model
from counterlens.probes.common_options import DEFAULT_TIMEOUT, Timeout
from counterlens.probes.execution.calls import worthwhile_calls
from counterlens.probes.execution.choices import (
    AMONG_OTHERS,
    OutputQuestion,
    output_choices,
    output_questions,
    ranked_outputs,
    weighed_outputs,
)
from counterlens.probes.execution.language import MOST_POINTS
from counterlens.probes.execution.prompts import StyleTokens
from counterlens.probes.execution.questions import Asking, reachable
from counterlens.probes.execution.record import ExecutionAnswer
from counterlens.probes.options import PromptedOptions
from counterlens.probes.probe import Context, Need, Source, Target
from counterlens.probes.prompts.asking import (
    UNREADABLE,
    Question,
    TaskAnswer,
)
from counterlens.probes.prompts.closed_figures import BY_MODEL, log_odds, yes_no
from counterlens.probes.prompts.literals import short
from counterlens.probes.prompts.task import JudgedAnswer, PromptedTask
from counterlens.probes.runtime.questions import (
    LineQuestions,
    LineRuns,
    NextLine,
    balance_lines,
    sought_input,
)
from counterlens.probes.runtime.record import RuntimeCall, RuntimeRecord
from counterlens.probes.runtime.states import TracedCall, ask_states, state_rows, traced_calls

MOST_CALLS = 2
"""Maximum number of calls of a function: what is written about each takes most of the time."""
ASKED = ("line runs", "state", "next line", "output", AMONG_OTHERS, "input")
"""What is asked, from the easiest on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions(PromptedOptions):
    """Options of the runtime task."""

    timeout: Timeout = DEFAULT_TIMEOUT
    max_tokens: StyleTokens = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A traced call, the questions about its lines and its input, and that for its output among others."""

    traced: TracedCall
    covered: Sequence[LineRuns]
    following: Sequence[NextLine]
    inputs: Sequence[Question[str]]
    output: OutputQuestion | None


def _ladders(record: RuntimeRecord) -> list[tuple[bool, ...]]:
    """The chains of answers with a right one: one with none right is consistent whatever the model does."""
    return [ladder for call in record.calls for ladder in call.ladders if any(ladder)]


def _ended_calls(record: RuntimeRecord) -> Iterator[RuntimeCall]:
    return (call for call in record.calls if call.states and not call.unended)


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
        if call.chosen:
            outputs, logprobs = call.chosen.candidates, call.chosen.logprobs
            ranked = {**ranked_outputs(call.target, call.call, call.truth, outputs, logprobs)}
            likeliest = outputs[logprobs.index(max(logprobs))]
            yield JudgedAnswer(AMONG_OTHERS, None, likeliest == call.truth, ranked)
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


class RuntimeProbe(PromptedTask[RuntimeOptions, RuntimeRecord, Sequence[_Asked]]):
    """Asks which lines run, which comes next, for states, the output, and an input that gives it."""

    id = "runtime"
    title = "does it follow a call line by line?"
    source = Source("Chen et al. 2024", "REval, with searched inputs")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = RuntimeOptions
    record = RuntimeRecord
    asking = "asking about the lines of"
    main = "next line"
    requests = MOST_CALLS * (2 + 4 * MOST_POINTS + 3)
    figures = (
        GroupedFigure[RuntimeRecord, JudgedAnswer](
            "what happens during a call",
            of=_judged_answers,
            by={"asked": lambda each: each.asked},
            columns={"n": count, "right": share(lambda each: each.right)},
            order=lambda each: ASKED.index(each.asked),
            note="a line runs: at least once during the call; state: the value of a variable right after a "
            "given run of a line; next line: which one runs then; output: of the call; output among others: "
            "the likeliest of this and those of other calls; input: a call that gives this output, run in "
            "the sandbox, so that any right one counts",
        ),
        GroupedFigure[RuntimeRecord, RuntimeCall](
            "outputs and states",
            of=_ended_calls,
            by={"output": lambda call: "right" if call.right else "not right"},
            columns={"calls": count, "all states right": share(lambda call: call.states_right)},
            order=lambda call: not call.right,
            note="a right output with wrong states was not reached by following the call; a call with a "
            "truncated answer is left out, and so is one without states to ask about",
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
    ) -> tuple[list[_Asked], list[Question[Any]]]:
        """Like `PromptedTask.questions`: about the lines of each call, and last for an input."""
        seed, limits = options.seed, lasting(options.timeout)
        calls = worthwhile_calls(context, target, reachable(target), seed=seed, limits=limits)
        traced = traced_calls(context, target, calls, seed=seed, limits=limits, most=MOST_CALLS)
        lines = [LineQuestions(context, target, each, options.max_tokens) for each in traced]
        outputs = {
            each.question.call: each
            for each in output_questions(context, target, calls, seed=seed, limits=limits)
        }
        asked = [
            _Asked(
                call,
                covered,
                list(own.following()),
                list(own.input_question()),
                outputs.get(call.question.call),
            )
            for call, own, covered in zip(
                traced, lines, balance_lines([list(own.covered()) for own in lines]), strict=True
            )
        ]
        questions: list[Question[Any]] = []
        for each in asked:
            questions += [line.question for line in each.covered]
            questions += [state.question for state in each.following]
            questions += each.inputs
        return asked, questions

    def answered(
        self,
        context: Context,
        target: Target,
        options: RuntimeOptions,
        facts: Sequence[_Asked],
        answers: Sequence[TaskAnswer[Any]],
    ) -> RuntimeRecord:
        """Like `PromptedTask.answered`."""
        said, limits = iter(answers), lasting(options.timeout)
        asked = [each.output for each in facts if each.output is not None]
        weighed = weighed_outputs(context, asked, Asking(options.max_tokens))
        traced = [each.traced for each in facts]
        answered, logprobs = ask_states(context, target, traced, options.max_tokens, weighed)
        chosen = {each.call: each for each in output_choices(asked, logprobs)}
        left_out, calls = Counter[str](), list[RuntimeCall]()
        for each, (output, states) in zip(facts, answered, strict=True):
            covered = tuple(question.answered(next(said)) for question in each.covered)
            following = tuple(question.answered(next(said)) for question in each.following)
            texts = [next(said).said for _ in each.inputs]
            sought = [sought_input(context, target, each.traced, text, limits) for text in texts]
            left_out[UNREADABLE] += sum(answer.yes is None for answer in covered)
            left_out["next line without a number"] += sum(answer.answer is None for answer in following)
            left_out["input: no call with literal arguments can be asked for"] += not sought
            calls.append(
                RuntimeCall(
                    **{field.name: getattr(output, field.name) for field in fields(ExecutionAnswer)},
                    states=states,
                    covered=covered,
                    next_lines=following,
                    sought=sought[0] if sought else None,
                    chosen=chosen.get(output.call),
                )
            )
        return RuntimeRecord(calls=tuple(calls), left_out=left_out)

    def judged(self, record: RuntimeRecord) -> Iterator[JudgedAnswer]:
        """Like `PromptedTask.judged`."""
        return _judged_answers(record)

    def finding(self, records: Sequence[RuntimeRecord]) -> str:
        rows = rows_of(records, _judged_answers)
        right = {
            name: share_of([row for row in rows if row[1].asked == name], lambda each: each.right)
            for name in ASKED
        }
        parts = [f"{rate.count} of {rate.n} ({name})" for name, rate in right.items() if rate.n]
        ladders = [ladder for record in records for ladder in _ladders(record)]
        return (
            f"Right answers about what happens during a call: {', '.join(parts)}. Of {len(ladders)} chains "
            f"of answers with a right one, {sum(map(consistent, ladders))} have no right answer behind a "
            "wrong easier one."
        )

    def measures(self, record: RuntimeRecord) -> Mapping[str, bool]:
        ladders = [ladder for call in record.calls for ladder in call.ladders]
        return {
            "output": all(call.right for call in record.calls),
            "consistent": all(map(consistent, ladders)),
        }

    def estimate(self, target: Target, options: RuntimeOptions, model: Model) -> int:  # noqa: ARG002
        """Like `Probe.estimate`: the call must be reachable, too."""
        reachable(target)
        return self.requests
