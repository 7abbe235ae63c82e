"""Coherence: are the states on the way right where the output is? (beyond Liu et al. 2024)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from counterlens.counting import plural
from counterlens.errors import SourceError
from counterlens.probes.execution.asking import TOLERANCE, nothing_to_ask
from counterlens.probes.execution.coherence_tables import coherence_tables, square
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.execution.reasoning import (
    LeftOut,
    Question,
    ask,
    check_identity,
    question_of,
    reachable,
    step,
)
from counterlens.probes.execution.states import MOST_POINTS, Point, marked, points, times_in_words
from counterlens.probes.observe.run import trace
from counterlens.probes.prompts.function_text import shown
from counterlens.probes.prompts.literals import direct_answer, outcome, why_unread
from counterlens.probes.prompts.templates import filled
from counterlens.probes.task import Need, Request, Result, Table, Target
from counterlens.sandbox.base import Limits


class CoherenceTask:
    """Coherence of states and outputs. Implements `counterlens.probes.task.Task`."""

    id = "coherence"
    title = "where it knows the output, does it know the way there?"
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            SourceError: no target could be asked about; says why.
            CounterlensError: a sanity check failed.
        """
        plans: list[tuple[Target, Question, list[Point]]] = []
        left_out: Counter[str] = Counter()
        for number, target in enumerate(request.targets):
            step(request, f"tracing {target.name}", number, len(request.targets))
            try:
                plans.append((target, *_planned(target, request)))
            except LeftOut as error:
                left_out[str(error)] += 1
        if not plans:
            raise nothing_to_ask(left_out)
        calls: list[dict[str, Any]] = []
        for number, (target, question, chosen) in enumerate(plans):
            step(request, f"asking for {question.truth.call}", number, len(plans))
            output = ask(request, question, "direct")
            if not calls:
                check_identity(request, output)
            states = [_state(request, target, question, point) for point in chosen]
            calls.append({**output.plain(), "states": states})
        data = {"tolerance": TOLERANCE, "calls": calls}
        return Result(
            task=self.id,
            title=f"states and outputs of {plural(len(calls), 'call')}",
            model=request.model.info,
            summary=_summary(calls),
            tables=self.tables([data], seed=request.seed),
            left_out=dict(left_out),
            data=data,
        )

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        """As `Task.tables`."""
        return coherence_tables([call for data in found for call in data["calls"]])

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:
        """As `Task.measures`: whether the output, and all states, were right."""
        (one,) = data["calls"]
        return {
            "output": one["outcome"] == "right",
            "states": all(state["outcome"] == "right" for state in one["states"]),
        }

    def asks(self, request: Request) -> int:
        """As `Task.asks`."""
        return len(request.targets) * (1 + MOST_POINTS) + 1


def _planned(target: Target, request: Request) -> tuple[Question, list[Point]]:
    """What to ask about a target: a call, and states while it runs."""
    function = reachable(target)
    question = question_of(target, request)
    try:
        call, sandbox = question.truth.call, request.sandbox()
        steps = trace(target.document, call, sandbox, limits=Limits(), cancel=request.cancel)
    except SourceError as error:
        raise LeftOut(error.message) from None
    chosen = points(target.document, function, steps, seed=request.seed)
    if not chosen:
        raise LeftOut("no line of it by itself gives a variable a plain value")
    return question, chosen


def _state(request: Request, target: Target, question: Question, point: Point) -> dict[str, Any]:
    """Ask about one state."""
    document = marked(target.document, point.line)
    style = STYLES["direct"]
    prompt = filled(
        request.model.info,
        __package__,
        "state",
        style.max_tokens,
        style.stop,
        source=shown(document, reachable(Target(document, target.qualname))),
        call=question.truth.call,
        variable=point.variable,
        times=times_in_words(point.times),
    )
    (said,) = request.model.complete([prompt], cancel=request.cancel)
    answer = direct_answer(said.text)
    unread = None if answer else why_unread(said.text, said.finish, stepwise=False)
    return {
        "line": point.line,
        "times": point.times,
        "variable": point.variable,
        "truth": point.truth.written,
        "said": said.text,
        "finish": said.finish,
        "answer": answer.written if answer else None,
        "outcome": str(outcome(answer, point.truth.value, unread=unread)),
        "unread": unread,
    }


def _summary(calls: Sequence[Mapping[str, Any]]) -> str:
    counts = square(calls)
    right = counts[True, True] + counts[True, False]
    return (
        f"Of {right} calls whose output the model knew, it knew all states that were asked about for "
        f"{counts[True, True]}; of {len(calls) - right} whose output it did not, for {counts[False, True]}."
    )
