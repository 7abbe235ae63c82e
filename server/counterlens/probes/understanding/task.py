"""Robustness and sensitivity as tasks: one for each question."""

from __future__ import annotations

from collections import Counter
from typing import Any

from counterlens.errors import SourceError
from counterlens.probes.task import Need, Request, Result
from counterlens.probes.understanding import tables
from counterlens.probes.understanding.asking import QUESTIONS
from counterlens.probes.understanding.study import Compared, Study, study
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
        shown = [
            tables.overall(found, self.id, request.model.info.name, request.seed),
            tables.by_change(found, self.id, request.seed),
            tables.by_correctness(found, self.id, request.seed),
            tables.listing(found),
        ]
        return Result(
            task=self.id,
            title=f"{len(found.compared)} pairs of answers about {len(found.targets)} functions",
            model=request.model.info,
            summary=_summary(found),
            tables=tuple(table for table in shown if table is not None),
            left_out=found.left_out,
            data={"seed": request.seed, "pairs": [_plain(one) for one in found.compared]},
        )


def _summary(found: Study) -> str:
    measure = next(iter(found.compared[0].similarity))
    parts = []
    for standing, text in ((Standing.PRESERVING, "keep"), (Standing.BREAKING, "break")):
        chosen = [one for one in found.compared if one.standing is standing]
        if chosen:
            same = sum(one.similarity[measure] > 0.999 for one in chosen)
            parts.append(f"after {same} of {len(chosen)} changes that {text} the meaning")
    told = f"The answer stayed the same {' and '.join(parts)}." if parts else "Nothing could be compared."
    return f"{told} A model that follows the code keeps it after the first and changes it after the second."


def _plain(one: Compared) -> dict[str, Any]:
    change = one.version.counterfactual
    return {
        "target": one.target,
        "correct": one.correct,
        "mutation": change.mutation,
        "line": change.start_line,
        "preserving": change.preserving,
        "standing": str(one.standing),
        "call": one.call or None,
        "original": one.original,
        "answer": one.answer,
        "similarity": one.similarity,
    }
