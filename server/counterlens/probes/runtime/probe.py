"""The runtime task: does the model follow a call line by line? (Chen et al. 2024, REval, and beyond)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from counterlens.judging.base import lasting
from counterlens.metrics.closed import Closed
from counterlens.metrics.figures import GroupedFigure, ListedFigure, count, rows_of, share, share_of
from counterlens.metrics.table import Cell
from counterlens.models.base import Model
from counterlens.probes.common_options import DEFAULT_TIMEOUT, Timeout
from counterlens.probes.execution.coherence import TracedCall, ask_states, state_rows, trace_call
from counterlens.probes.execution.language import (
    MOST_POINTS,
)
from counterlens.probes.execution.prompts import StyleTokens
from counterlens.probes.execution.questions import reachable
from counterlens.probes.execution.record import CoherenceCall
from counterlens.probes.options import PromptedOptions
from counterlens.probes.probe import Context, Need, Source, Target
from counterlens.probes.prompts.asking import (
    UNREADABLE,
    Question,
    TaskAnswer,
)
from counterlens.probes.prompts.closed import AnswerSource, how
from counterlens.probes.prompts.closed_figures import BY_MODEL, log_odds, yes_no
from counterlens.probes.prompts.literals import short
from counterlens.probes.prompts.task import JudgedAnswer, PromptedTask
from counterlens.probes.runtime.questions import (
    LineQuestions,
    LineRuns,
    NextLine,
    output_question,
    sought_input,
)
from counterlens.probes.runtime.record import (
    ChosenOutput,
    RuntimeCall,
    RuntimeRecord,
)

ASKED = ("line runs", "state", "next line", "output", "output among others", "input")
"""What is asked, from the easiest on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions(PromptedOptions):
    """Options of the runtime task."""

    timeout: Timeout = DEFAULT_TIMEOUT
    max_tokens: StyleTokens = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A traced call, and the questions about its lines, its output and its input."""

    traced: TracedCall
    covered: Sequence[LineRuns]
    following: Sequence[NextLine]
    outputs: Sequence[Question[str]]
    inputs: Sequence[Question[str]]


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
        if call.chosen:
            outputs, logprobs = call.chosen.candidates, call.chosen.logprobs
            right = frozenset({outputs.index(call.truth)})
            alike = tuple(SequenceMatcher(None, call.call, output).ratio() for output in outputs)
            shortest = tuple(-float(len(output)) for output in outputs)
            ways = {BY_MODEL: logprobs, "like the call": alike, "shortest": shortest}
            ranked = {way: Closed(call.target, outputs, scores, right) for way, scores in ways.items()}
            yield JudgedAnswer("output among others", None, logprobs.index(max(logprobs)) in right, ranked)
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
    requests = 2 + 4 * MOST_POINTS + 3
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
        lines = LineQuestions(context, target, traced, options.max_tokens)
        weighs = how(context.model, context.cancel) is AnswerSource.PROBABILITY
        asked = _Asked(
            traced,
            list(lines.covered()),
            list(lines.following()),
            list(output_question(context, target, traced, lasting(options.timeout)) if weighs else ()),
            list(lines.input_question()),
        )
        covered, following = ([each.question for each in part] for part in (asked.covered, asked.following))
        return asked, [*covered, *following, *asked.outputs, *asked.inputs]

    def answered(
        self,
        context: Context,
        target: Target,
        options: RuntimeOptions,
        facts: _Asked,
        answers: Sequence[TaskAnswer[Any]],
    ) -> RuntimeRecord:
        """Like `PromptedTask.answered`; the output and the states are asked as in the task coherence."""
        states = ask_states(context, target, facts.traced, options.max_tokens)
        said = iter(answers)
        covered = tuple(each.answered(next(said)) for each in facts.covered)
        following = tuple(each.answered(next(said)) for each in facts.following)
        chosen = [ChosenOutput(tuple(each.candidates), next(said).logprobs) for each in facts.outputs]
        limits = lasting(options.timeout)
        sought = next((sought_input(context, target, facts.traced, each.said, limits) for each in said), None)
        left_out = {
            UNREADABLE: sum(each.yes is None for each in covered),
            "next line without a number": sum(each.answer is None for each in following),
            "input: no call with literal arguments can be asked for": int(sought is None),
        }
        call = RuntimeCall(
            **{field.name: getattr(states, field.name) for field in fields(CoherenceCall)},
            covered=covered,
            next_lines=following,
            sought=sought,
            chosen=chosen[0] if chosen else None,
        )
        return RuntimeRecord(calls=(call,), left_out=left_out)

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
