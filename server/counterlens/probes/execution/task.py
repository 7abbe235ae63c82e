"""Execution reasoning as a task: the tables of paper 002, with n and intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from counterlens.errors import SourceError
from counterlens.metrics.association import spearman
from counterlens.metrics.effects import Proportion, wilson
from counterlens.probes.execution.answers import ABSOLUTE, RELATIVE, Outcome
from counterlens.probes.execution.features import TAGS, USES
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.execution.reasoning import Answered, reason
from counterlens.probes.task import Cell, Need, Request, Result, Table

SHOWN = 12
"""So many questions are listed one by one."""


class ExecutionTask:
    """Independent execution reasoning. Implements `counterlens.probes.task.Task`."""

    id = "execution"
    title = "does it know what the code gives?"
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            SourceError: no target could be asked about; says why.
            And as `reason`.
        """
        found = reason(request)
        if not found.answers:
            reasons = "; ".join(f"{count} {text}" for text, count in found.left_out.items())
            raise SourceError("there is no call to ask about", reasons)
        asked = len({one.target for one in found.answers})
        tables = [_styles(found.answers), _tags(found.answers), _uses(found.answers), _types(found.answers)]
        if asked > 2:
            tables.append(_correlations(found.answers, request.seed))
        if asked <= SHOWN:
            tables.insert(0, _questions(found.answers))
        return Result(
            task=self.id,
            title=f"what {asked} calls give",
            model=request.model.info,
            summary=_summary(found.answers),
            tables=tuple(tables),
            left_out=found.left_out,
            data={
                "tolerance": {"relative": RELATIVE, "absolute": ABSOLUTE},
                "answers": [_plain(one) for one in found.answers],
            },
        )


def rate(answers: Sequence[Answered]) -> Proportion:
    """The execution reasoning rate (paper 002, equation 3): right answers among all questions."""
    return wilson(sum(one.outcome is Outcome.RIGHT for one in answers), len(answers))


def _styles(answers: Sequence[Answered]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for style, title in ((name, one.title) for name, one in STYLES.items()):
        asked = [one for one in answers if one.style == style]
        if asked:
            unparsable = sum(one.outcome is Outcome.UNPARSABLE for one in asked)
            cut = sum(one.finish == "length" for one in asked)
            rows.append((title, len(asked), rate(asked), unparsable, cut))
    columns = ("asked", "n", "rate", "unparsable", "cut off")
    return Table("independent execution reasoning", columns, tuple(rows), _NOTE)


def _tags(answers: Sequence[Answered]) -> Table:
    def with_tag(tag: str) -> Callable[[Answered], bool]:
        return lambda one: one.features is not None and tag in one.features.tags

    rows = [(tag, *_by_style(answers, with_tag(tag))) for tag in TAGS]
    shown = tuple(row for row in rows if row[1])
    return Table("by what the function is made of", ("construct", "n", *_titles()), shown)


def _uses(answers: Sequence[Answered]) -> Table:
    def with_use(use: str) -> Callable[[Answered], bool]:
        return lambda one: one.features is not None and use in one.features.uses

    rows = [(use, *_by_style(answers, with_use(use))) for use in USES]
    shown = tuple(row for row in rows if row[1])
    return Table("by what it uses", ("operators and calls", "n", *_titles()), shown)


def _types(answers: Sequence[Answered]) -> Table:
    """Right type and right value, by the type of the output."""
    names = sorted({type(one.truth.value).__name__ for one in answers})
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        for style, title in ((key, one.title) for key, one in STYLES.items()):
            asked = [one for one in answers if type(one.truth.value).__name__ == name and one.style == style]
            if asked:
                matched = wilson(sum(one.same_type for one in asked), len(asked))
                rows.append((name, title, len(asked), matched, rate(asked)))
    return Table("by what it gives", ("type", "asked", "n", "right type", "right value"), tuple(rows))


def _correlations(answers: Sequence[Answered], seed: int) -> Table:
    measures: dict[str, Callable[[Answered], float | None]] = {
        "cyclomatic complexity": lambda one: one.features.complexity if one.features else None,
        "lines": lambda one: one.features.lines if one.features else None,
        "rounds of loops": lambda one: one.truth.rounds,
    }
    rows: list[tuple[Cell, ...]] = []
    for name, measure in measures.items():
        for style, title in ((key, one.title) for key, one in STYLES.items()):
            pairs = [
                (float(value), float(one.outcome is Outcome.RIGHT))
                for one in answers
                if one.style == style and (value := measure(one)) is not None
            ]
            rows.append((name, title, len(pairs), spearman(pairs, seed=seed)))
    note = "Spearman's rank correlation with being right; below 0: the more, the more often wrong"
    return Table("what makes it hard", ("measure", "asked", "n", "rho"), tuple(rows), note)


def _questions(answers: Sequence[Answered]) -> Table:
    rows = tuple(
        (
            one.truth.call,
            STYLES[one.style].title,
            one.truth.written,
            one.answer.written if one.answer else None,
            str(one.outcome),
        )
        for one in sorted(answers, key=lambda one: one.target)
    )
    return Table("calls", ("call", "asked", "gives", "answer", ""), rows)


def _by_style(answers: Sequence[Answered], chosen: Callable[[Answered], bool]) -> tuple[Cell, ...]:
    found = [one for one in answers if chosen(one)]
    n = len({one.target for one in found})
    return n, *(rate([one for one in found if one.style == style]) for style in STYLES)


def _titles() -> tuple[str, ...]:
    return tuple(style.title for style in STYLES.values())


def _summary(answers: Sequence[Answered]) -> str:
    parts = []
    for style, one in STYLES.items():
        found = rate([answer for answer in answers if answer.style == style])
        parts.append(f"{found.count} of {found.n} {one.title}")
    return f"Asked what calls give, the model was right in {' and in '.join(parts)}."


def _plain(one: Answered) -> dict[str, Any]:
    made = one.features
    return {
        "target": one.target,
        "call": one.truth.call,
        "truth": one.truth.written,
        "type": type(one.truth.value).__name__,
        "style": one.style,
        "said": one.text,
        "finish": one.finish,
        "answer": one.answer.written if one.answer else None,
        "outcome": str(one.outcome),
        "same_type": one.same_type,
        "tags": list(made.tags) if made else None,
        "uses": list(made.uses) if made else None,
        "complexity": made.complexity if made else None,
        "lines": made.lines if made else None,
        "rounds": one.truth.rounds,
    }


_NOTE = (
    f"answers are read as Python literals and compared as values, floats within {RELATIVE:g} relative or "
    f"{ABSOLUTE:g}; an unparsable answer counts as not right"
)
