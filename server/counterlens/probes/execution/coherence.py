"""The coherence probe: are the intermediate states right if the output is? (beyond Liu et al. 2024)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain

from counterlens.errors import SourceError
from counterlens.judging.base import lasting
from counterlens.metrics.effects import pooled_share, wilson
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Completion, Model, ModelInfo, Prompt
from counterlens.probes.common_options import DEFAULT_TIMEOUT, Timeout
from counterlens.probes.execution.calls import WorthwhileCall, worthwhile_calls
from counterlens.probes.execution.language import (
    MOST_POINTS,
    Point,
    Step,
    add_mark,
    execution_of,
    points,
    times_in_words,
)
from counterlens.probes.execution.prompts import (
    DIRECT_TOKENS,
    STYLES,
    StyleTokens,
    most_tokens,
    state_prompt,
)
from counterlens.probes.execution.questions import (
    Asking,
    ExecutionQuestion,
    prompt_of,
    question_about,
    reachable,
    read_answer,
    require_steady_answer,
)
from counterlens.probes.execution.record import CoherenceCall, CoherenceRecord, ExecutionAnswer, StateAnswer
from counterlens.probes.execution.tables import SHOWN, answer_baselines
from counterlens.probes.options import PromptedOptions
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.prompts.baselines import ChanceComparison, baseline_table, first_words
from counterlens.probes.prompts.closed import WeighedQuestion, answer_together
from counterlens.probes.prompts.function_text import visible_part
from counterlens.probes.prompts.literals import short
from counterlens.probes.sanity import repeats
from counterlens.sandbox.base import Limits
from counterlens.syntax.functions import find_function

_NOTE = (
    "a state is the value of a variable right after a given run of a line, traced in the sandbox; an "
    "unreadable answer counts as wrong, and a call with a truncated one is left out. A right output with "
    "wrong states was not reached by following the execution"
)
_OUTPUTS = {True: "right", False: "not right"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CoherenceOptions(PromptedOptions):
    """Options of the coherence probe."""

    timeout: Timeout = DEFAULT_TIMEOUT
    max_tokens: StyleTokens = None


class CoherenceProbe(Probe[CoherenceOptions, CoherenceRecord]):
    """The model's answers on the output of a call and on intermediate variables."""

    id = "coherence"
    title = "does a model that knows the output also know the steps?"
    source = Source("ours", "beyond Liu et al. 2024")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = CoherenceOptions
    record = CoherenceRecord

    def check_target(self, target: Target, options: CoherenceOptions) -> None:  # noqa: ARG002
        """Like `Probe.check_target`: a standalone call must reach it."""
        reachable(target)

    def run(self, context: Context, target: Target, options: CoherenceOptions) -> CoherenceRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: there is no usable call or state.
        """
        seed, limits = options.seed, lasting(options.timeout)
        calls = worthwhile_calls(context, target, reachable(target), seed=seed, limits=limits)
        (traced,) = traced_calls(context, target, calls, seed=seed, limits=limits, most=1)
        if not traced.points:
            raise SourceError("none of its lines is a single assignment of a plain value to a variable")
        answered, _ = ask_states(context, target, [traced], options.max_tokens)
        return CoherenceRecord(calls=tuple(answered))

    def tables(self, records: Sequence[CoherenceRecord], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        return coherence_tables(_calls(records))

    def summary(self, records: Sequence[CoherenceRecord]) -> str:
        counts = square(_calls(records))
        right = counts[True, True] + counts[True, False]
        return first_words(baselines(_calls(records))) + (
            f"The model knew all requested states of {counts[True, True]} of the {right} calls whose output "
            f"it knew, and of {counts[False, True]} of the {counts.total() - right} whose output it did not."
        )

    def measures(self, record: CoherenceRecord) -> Mapping[str, bool]:
        """Like `Probe.measures`: whether the output, and all states, were right."""
        (call,) = record.calls
        return {"output": call.right, "states": call.states_right}

    def estimate(self, target: Target, options: CoherenceOptions, model: Model) -> int:  # noqa: ARG002
        reachable(target)
        return 1 + MOST_POINTS + repeats(model)


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
    weighed: Sequence[WeighedQuestion] = (),
) -> tuple[list[CoherenceCall], list[tuple[float, ...]]]:
    """Ask for the outputs of some calls, the first one twice, for their states, and some closed questions.

    Args:
        traced: The calls, at least one.
        weighed: The closed questions.

    Returns:
        The answers about each call, and the log-probabilities of the candidates, as `choose`.
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
    calls = [
        _call(each, asked, [next(answers) for _ in asked])
        for each, asked in zip(traced, prompts, strict=True)
    ]
    return calls, chosen


def _call(traced: TracedCall, asked: Sequence[Prompt], completions: Sequence[Completion]) -> CoherenceCall:
    """The answers about a call: to the question for its output, then to those for its states."""
    question = traced.question
    output = read_answer(question, "direct", Asking(), asked[0], completions[0])
    states = [
        _state(point, question.language, prompt, completion)
        for point, prompt, completion in zip(traced.points, asked[1:], completions[1:], strict=True)
    ]
    answered = {field.name: getattr(output, field.name) for field in fields(ExecutionAnswer)}
    return CoherenceCall(**answered, states=tuple(states))


def _calls(records: Sequence[CoherenceRecord]) -> list[CoherenceCall]:
    return list(chain.from_iterable(record.calls for record in records))


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


def square(calls: Sequence[CoherenceCall]) -> Counter[tuple[bool, bool]]:
    """The number of calls, by whether the output and all states were right."""
    return Counter((call.right, call.states_right) for call in calls if not call.unended)


def coherence_tables(calls: Sequence[CoherenceCall]) -> tuple[Table, ...]:
    """All tables of some calls with their states."""
    tables = [_square(calls), _shares(calls), baseline_table(baselines(calls)), _unread(calls)]
    if len(calls) <= SHOWN:
        tables.insert(0, _call_table(calls))
    return tuple(table for table in tables if table.rows)


def baselines(calls: Sequence[CoherenceCall]) -> list[ChanceComparison]:
    """The outputs and the states, beside answers without a model."""
    return answer_baselines({"output": calls, "state": [state for call in calls for state in call.states]})


def _square(calls: Sequence[CoherenceCall]) -> Table:
    counts = square(calls)
    rows: list[tuple[Cell, ...]] = []
    for output, title in _OUTPUTS.items():
        n = counts[output, True] + counts[output, False]
        rows.append((title, n, counts[output, True], counts[output, False], wilson(counts[output, True], n)))
    columns = ("output", "n", "all states right", "some state not", "share with all states right")
    return Table("coherence", columns, tuple(rows), _NOTE)


def _shares(calls: Sequence[CoherenceCall]) -> Table:
    """Single states, by whether the output was right."""
    rows: list[tuple[Cell, ...]] = []
    for output, title in _OUTPUTS.items():
        chosen = [call.states for call in calls if call.right is output and not call.unended]
        share = pooled_share((i, state.right) for i, states in enumerate(chosen) for state in states)
        rows.append((title, len(chosen), share.n, share))
    return Table("states by themselves", ("output", "calls", "states", "right"), tuple(rows))


def _unread(calls: Sequence[CoherenceCall]) -> Table:
    counts = Counter(("output", call.unread) for call in calls if call.unread)
    counts.update(("state", state.unread) for call in calls for state in call.states if state.unread)
    rows = tuple((asked, why, n) for (asked, why), n in sorted(counts.items()))
    return Table("unreadable answers", ("asked for", "why", "n"), rows)


def state_rows(call: CoherenceCall) -> Iterator[tuple[str, str, str | None, str | None, str]]:
    """The answers about the states of a call, and last its output: what was asked for, is, and came."""
    for state in call.states:
        place = f"{state.variable}, line {state.line}, time {state.times}"
        yield call.call, place, short(state.truth), short(state.answer), str(state.outcome)
    yield call.call, "output", short(call.truth), short(call.answer), str(call.outcome)


def _call_table(calls: Sequence[CoherenceCall]) -> Table:
    rows = tuple(chain.from_iterable(map(state_rows, calls)))
    return Table("calls", ("call", "asked for", "is", "answer", ""), rows)
