"""The questions of the runtime task for the output of traced calls, and for variables on the way to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from counterlens.errors import SourceError
from counterlens.models.base import Completion, ModelInfo, Prompt
from counterlens.probes.execution.calls import WorthwhileCall
from counterlens.probes.execution.language import (
    Point,
    Step,
    add_mark,
    execution_of,
    points,
    times_in_words,
)
from counterlens.probes.execution.prompts import DIRECT_TOKENS, STYLES, most_tokens, state_prompt
from counterlens.probes.execution.questions import (
    Asking,
    ExecutionQuestion,
    prompt_of,
    question_about,
    reachable,
    read_answer,
    require_steady_answer,
)
from counterlens.probes.execution.record import ExecutionAnswer
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.closed import WeighedQuestion, answer_together
from counterlens.probes.prompts.function_text import visible_part
from counterlens.probes.prompts.literals import short
from counterlens.probes.runtime.record import RuntimeCall, StateAnswer
from counterlens.sandbox.base import Limits
from counterlens.syntax.functions import find_function


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A call with its result, its trace, and the states to ask about."""

    question: ExecutionQuestion
    steps: Sequence[Step]
    points: Sequence[Point]


def traced_calls(
    context: Context, target: Target, calls: Sequence[WorthwhileCall], *, seed: int, limits: Limits, most: int
) -> list[TracedCall]:
    """The first calls that can be traced and asked about; there may be no states to ask about.

    Args:
        calls: The calls of the function, those that tell most first.
        seed: Random seed of the choice of states.
        most: Maximum number of calls.

    Raises:
        SourceError: there is none.
        SandboxError, Cancelled: as the sandbox.
    """
    document, function = target.document, reachable(target)
    lines = execution_of(document.language).simple_lines(document, function)
    traced, failed = list[TracedCall](), SourceError("none of its calls can be traced")
    for call in calls:
        if len(traced) == most:
            break
        if not call.steps:
            continue
        try:
            question = question_about(
                context, target.name, document, function.qualname, call.input, limits=limits
            )
        except SourceError as error:
            failed = error
            continue
        states = points(document, function, call.steps, lines, seed=seed)
        traced.append(TracedCall(question, call.steps, states))
    if not traced:
        raise failed
    return traced


def ask_states(
    context: Context,
    target: Target,
    traced: Sequence[TracedCall],
    max_tokens: int | None,
    weighed: Sequence[WeighedQuestion],
) -> tuple[list[tuple[ExecutionAnswer, tuple[StateAnswer, ...]]], list[tuple[float, ...]]]:
    """Ask for the outputs of some calls, the first one twice, for their states, and some closed questions.

    Args:
        traced: The calls, at least one.
        weighed: The closed questions.

    Returns:
        The answers about the output and the states of each call, and the log-probabilities of the
        candidates, as `choose`.
    """
    info = context.model.info
    tokens = most_tokens(info, max_tokens, DIRECT_TOKENS)
    prompts = [
        [
            prompt_of(info, each.question, "direct", Asking(tokens)),
            *(_state_prompt(info, target, each.question, point, tokens) for point in each.points),
        ]
        for each in traced
    ]
    what = f"asking for {short(traced[0].question.call)}"
    said, chosen = answer_together(context.model, [*chain(*prompts)], weighed, context.steps, what)
    require_steady_answer(context, prompts[0][0], said[0])
    answers = iter(said)
    answered = []
    for each, (asked, *of_states) in zip(traced, prompts, strict=True):
        output = read_answer(each.question, "direct", Asking(), asked, next(answers))
        language = each.question.language
        states = tuple(
            _state(point, language, prompt, next(answers))
            for point, prompt in zip(each.points, of_states, strict=True)
        )
        answered.append((output, states))
    return answered, chosen


def _state_prompt(
    info: ModelInfo, target: Target, question: ExecutionQuestion, point: Point, max_tokens: int
) -> Prompt:
    """The question about one state."""
    document = add_mark(target.document, point.line)
    language = execution_of(document.language)
    document = language.unanswered(document, find_function(document, target.qualname), question.call)
    return state_prompt(
        info,
        visible_part(document, find_function(document, target.qualname)),
        question.call,
        point.variable,
        times_in_words(point.times),
        max_tokens,
        language=language.id,
    )


def _state(point: Point, language: str, asked: Prompt, completion: Completion) -> StateAnswer:
    """The answer about one state."""
    answer = STYLES["direct"].read(completion, point.truth.value, language=language, asked=asked)
    return StateAnswer(
        line=point.line,
        times=point.times,
        variable=point.variable,
        truth=point.truth.written,
        said=completion.text,
        finish=completion.finish,
        answer=answer.written,
        outcome=answer.outcome,
        unread=answer.unread,
        copied=answer.copied,
    )


def state_rows(call: RuntimeCall) -> Iterator[tuple[str, str, str | None, str | None, str]]:
    """The answers about the states of a call, and last its output: what was asked for, is, and came."""
    for state in call.states:
        place = f"{state.variable}, line {state.line}, time {state.times}"
        yield call.call, place, short(state.truth), short(state.answer), str(state.outcome)
    yield call.call, "output", short(call.truth), short(call.answer), str(call.outcome)
