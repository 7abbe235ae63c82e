"""Calls worth asking about: what they do when they run decides, for every task that asks about calls.

A call of an empty list goes round no loop, and returns what is easily guessed. So calls are chosen one by
one: each runs lines that none before it ran, goes round loops again, and returns something that is neither
empty nor what most calls return. A published protocol has calls of its own (`printing.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import islice
from typing import Any

from counterlens.dependence import dependences
from counterlens.errors import CounterlensError, SourceError
from counterlens.probes.execution.language import Step, execution_of
from counterlens.probes.execution.printing import (
    MOST_WRITTEN,
    Input,
    Origin,
    generated_inputs,
    inputs_of,
)
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.function_text import definition
from counterlens.probes.prompts.literals import Literal
from counterlens.sandbox.base import Limits
from counterlens.syntax.functions import Function

MOST_RUN = 8
"""Maximum number of calls of a function that run so that some are chosen; of generated ones as many again."""


@dataclass(frozen=True, slots=True)
class WorthwhileCall:
    """A call that ran.

    Attributes:
        steps: Its trace; empty if it cannot be traced.
        gives: Its result.
    """

    input: Input
    steps: Sequence[Step]
    gives: Literal

    @property
    def lines(self) -> set[int]:
        """The lines that run."""
        return {step.line for step in self.steps}

    @property
    def again(self) -> set[int]:
        """The lines that run more than once."""
        return {line for line, times in Counter(step.line for step in self.steps).items() if times > 1}


def worthwhile_calls(
    context: Context, target: Target, function: Function, *, seed: int, limits: Limits
) -> list[WorthwhileCall]:
    """The calls of a function that run and return, those that tell most first.

    Calls that somebody wrote down come first. Others are generated only if these leave a statement that never
    runs, or a loop that never goes round again.

    Args:
        context: The sandbox, and cancellation.
        function: The target's function.
        seed: Random seed of generated calls.
        limits: Limits of each run.

    Raises:
        SourceError: there is none; the message says why.
        SandboxError, Cancelled: as the sandbox.
    """
    failed: list[str] = []
    inputs = list(inputs_of(context, target, function, seed=seed, limits=limits))
    calls = {each.call for each in inputs}
    inputs += [Input(call, Origin.DATASET) for call in target.calls if call not in calls]
    made = list(_run(context, target, inputs[:MOST_RUN], limits, failed))
    if _leaves_something(target, function, made) and not any(
        each.origin is Origin.GENERATED for each in inputs
    ):
        more = generated_inputs(context, target, function, seed=seed, limits=limits)
        others = (each for each in more if each.call not in calls)
        made += _run(context, target, islice(others, MOST_RUN), limits, failed)
    if not made:
        raise SourceError(
            failed[0]
            if failed
            else "no call of it with literal arguments was found, and none can be generated"
        )
    return order_calls(made)


def _run(
    context: Context,
    target: Target,
    inputs: Iterator[Input] | Sequence[Input],
    limits: Limits,
    failed: list[str],
) -> Iterator[WorthwhileCall]:
    """The calls that return; `failed` gets why others do not."""
    language, setting = execution_of(target.document.language), context.setting(limits)
    for asked in inputs:
        context.steps.next(f"running calls of {target.name}")
        try:
            gives = language.output_of(target.document, asked.call, setting)
        except SourceError as error:
            failed.append(error.message)
            continue
        if asked.origin is Origin.GENERATED and len(gives.written) > MOST_WRITTEN:
            failed.append("the results of its generated calls are too long to ask for")
            continue
        try:
            steps = language.trace(target.document, asked.call, setting)
        except SourceError:
            steps = []
        yield WorthwhileCall(asked, steps, gives)


def statement_lines(target: Target, function: Function) -> set[int]:
    """The lines of the statements of a function's body that a trace may have.

    Those that take several lines, and constants such as a docstring, are left out.
    """
    document = target.document
    language = execution_of(document.language)
    if not language.traces_headers:
        return language.simple_lines(document, function)
    try:
        graph = dependences(document.text, function.qualname, language=document.language)
    except CounterlensError:  # a language whose statements are not known
        return language.simple_lines(document, function)
    return {
        statement.line
        for statement in graph.statements[1:]
        if statement.line == statement.end_line and language.values.literal(statement.text) is None
    }


def _leaves_something(target: Target, function: Function, made: Sequence[WorthwhileCall]) -> bool:
    """Whether a statement never runs, or no line again although there is a loop."""
    document = target.document
    ran = set[int]().union(*(each.lines for each in made))
    features = execution_of(document.language).features(definition(document, function.qualname))
    loops = {"for", "while"} & set(features.tags if features else ())
    return not statement_lines(target, function) <= ran or (
        bool(loops) and not any(each.again for each in made)
    )


def order_calls(made: Sequence[WorthwhileCall]) -> list[WorthwhileCall]:
    """The calls one by one, each one that adds most to those before it."""
    results = Counter(each.gives.written for each in made)
    usual = {result for result, count in results.items() if count > 1 and count == max(results.values())}
    left, chosen = list(made), list[WorthwhileCall]()
    ran, again, returned = set[int](), set[int](), set[str]()
    while left:

        def adds(each: WorthwhileCall) -> tuple[Any, ...]:
            result = each.gives.written
            return (
                len(each.lines - ran),  # noqa: B023 - called at once
                len(each.again - again),  # noqa: B023
                result not in returned,
                not _is_empty(each.gives.value),
                bool(each.again),
                result not in usual,
            )

        best = max(left, key=adds)
        left.remove(best)
        chosen.append(best)
        ran |= best.lines
        again |= best.again
        returned.add(best.gives.written)
    return chosen


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, Sized) and not len(value))
