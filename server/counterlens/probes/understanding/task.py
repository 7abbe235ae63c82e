"""Robustness and sensitivity as tasks: one for each question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from counterlens.counting import plural
from counterlens.errors import SourceError
from counterlens.probes.task import Need, Request, Result, Table
from counterlens.probes.understanding import tables
from counterlens.probes.understanding.asking import QUESTIONS
from counterlens.probes.understanding.study import Compared, Study, prompts, study
from counterlens.probes.understanding.versions import Standing


class UnderstandingTask:
    """One question about a function and all its versions. Implements `counterlens.probes.task.Task`.

    Args:
        question: The id of the question, see `QUESTIONS`.
    """

    needs = frozenset({Need.COMPLETE, Need.SANDBOX})

    def __init__(self, question: str) -> None:
        self._question = QUESTIONS[question]

    @property
    def id(self) -> str:
        """What the user types."""
        return self._question.id

    @property
    def title(self) -> str:
        """What it finds out."""
        return self._question.title

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            SourceError: there is nothing to compare; says why.
            And as `study`.
        """
        found = study(request, self._question)
        if not found.compared:
            reasons = "; ".join(f"{n} {text}" for text, n in Counter(found.left_out).most_common(4))
            raise SourceError("there are no two answers to compare", reasons or None)
        data = {
            "seed": request.seed,
            "note": found.note,
            "measures": list(found.compared[0].similarity),
            "targets": list(found.targets),
            "pairs": [_plain(one) for one in found.compared],
        }
        return Result(
            task=self.id,
            title=f"{plural(len(found.compared), 'pair')} of answers about "
            + plural(len(found.targets), "function"),
            model=request.model.info,
            summary=_summary(found),
            tables=self.tables([data], seed=request.seed),
            left_out=found.left_out,
            data=data,
        )

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:
        """As `Task.tables`; similarities are those that were measured when the answers were given."""
        if not found:
            return ()
        pooled = Study(
            tuple(target for one in found for target in one["targets"]),
            tuple(_read(pair, one["measures"]) for one in found for pair in one["pairs"]),
            {},
            found[0]["note"],
        )
        shown = [
            tables.overall(pooled, self.id, seed),
            tables.by_change(pooled, self.id, seed),
            tables.by_correctness(pooled, self.id, seed),
            tables.listing(pooled),
        ]
        return tuple(table for table in shown if table is not None)

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:
        """As `Task.measures`, by the first similarity."""
        alike: dict[str, list[bool]] = {}
        for one in data["pairs"]:
            same = one["similarity"][data["measures"][0]] > SAME
            alike.setdefault(one["standing"], []).append(same)
        found = {}
        if Standing.PRESERVING in alike:
            found["same answer after every change that keeps the meaning"] = all(alike[Standing.PRESERVING])
        if Standing.BREAKING in alike:
            found["another answer after every change that breaks it"] = not any(alike[Standing.BREAKING])
        return found

    def asks(self, request: Request) -> int:
        """As `Task.asks`."""
        return prompts(request, self._question)


SAME = 0.999
"""Answers that are at least so much alike are the same."""


def _summary(found: Study) -> str:
    measure = next(iter(found.compared[0].similarity))
    parts = []
    for standing, text in ((Standing.PRESERVING, "keep"), (Standing.BREAKING, "break")):
        chosen = [one for one in found.compared if one.standing is standing]
        if chosen:
            same = sum(one.similarity[measure] > SAME for one in chosen)
            parts.append(f"after {same} of {len(chosen)} changes that {text} the meaning")
    told = f"The answer stayed the same {' and '.join(parts)}." if parts else "Nothing could be compared."
    return f"{told} A model that follows the code keeps it after the first and changes it after the second."


def _plain(one: Compared) -> dict[str, Any]:
    return {
        "target": one.target,
        "correct": one.correct,
        "mutation": one.mutation,
        "line": one.line,
        "preserving": one.preserving,
        "standing": str(one.standing),
        "call": one.call or None,
        "original": one.original,
        "answer": one.answer,
        "similarity": one.similarity,
    }


def _read(row: Mapping[str, Any], measures: Sequence[str]) -> Compared:
    return Compared(
        target=row["target"],
        correct=row["correct"],
        mutation=row["mutation"],
        line=row["line"],
        preserving=row["preserving"],
        standing=Standing(row["standing"]),
        call=row["call"] or "",
        original=row["original"],
        answer=row["answer"],
        similarity={name: row["similarity"][name] for name in measures},
    )
