"""Independent execution reasoning as a task (Liu et al. 2024, definition 1): answers, tables, plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from counterlens.counting import plural
from counterlens.probes.execution.asking import TOLERANCE, ask_all, nothing_to_ask
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.execution.reasoning import (
    Form,
    LeftOut,
    Question,
    Row,
    question_of,
    step,
)
from counterlens.probes.execution.tables import breakdown, pick, rate, right
from counterlens.probes.execution.unrolling import unrolled
from counterlens.probes.task import Need, Request, Result, Table


class ExecutionTask:
    """Independent execution reasoning. Implements `counterlens.probes.task.Task`."""

    id = "execution"
    title = "does it know what the code gives?"
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            SourceError: no target could be asked about; says why.
            CounterlensError: a sanity check failed.
        """
        asked, left_out = _questions(request)
        if not asked:
            raise nothing_to_ask(left_out)
        rows = [one.plain() for one in ask_all(request, asked)]
        data = {"tolerance": TOLERANCE, "answers": rows}
        calls = len({row["target"] for row in rows})
        return Result(
            task=self.id,
            title=f"what {plural(calls, 'call')} {'gives' if calls == 1 else 'give'}",
            model=request.model.info,
            summary=_summary(rows),
            tables=self.tables([data], seed=request.seed),
            left_out=left_out,
            data=data,
        )

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:
        """As `Task.tables`."""
        return breakdown([row for data in found for row in data["answers"]], seed=seed)

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:
        """As `Task.measures`: whether it was right, by the way to ask."""
        standing = [row for row in data["answers"] if row["form"] == Form.STANDING]
        return {STYLES[row["style"]].title: right(row) for row in standing}

    def asks(self, request: Request) -> int:
        """As `Task.asks`."""
        return len(request.targets) * len(STYLES) * (2 if request.unroll else 1) + 1


def _questions(request: Request) -> tuple[list[Question], dict[str, int]]:
    """What to ask, and how many targets have no question, by reason."""
    found: list[Question] = []
    left_out: Counter[str] = Counter()
    for number, target in enumerate(request.targets):
        step(request, f"running {target.name}", number, len(request.targets))
        try:
            question = question_of(target, request)
        except LeftOut as error:
            left_out[str(error)] += 1
            continue
        found.append(question)
        if request.unroll:
            try:
                found.append(unrolled(target, question, request))
            except LeftOut as error:
                left_out[f"not asked about unrolled: {error}"] += 1
    return found, dict(left_out)


def _summary(rows: Sequence[Row]) -> str:
    parts = []
    for style, one in STYLES.items():
        found = rate(list(pick(rows, style=style, form=Form.STANDING).values()))
        parts.append(f"{found.count} of {found.n} {one.title}")
    return f"Asked what calls give, the model was right in {' and in '.join(parts)}."
