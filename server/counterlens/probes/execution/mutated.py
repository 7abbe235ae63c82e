"""The protocol of Orvalho and Kwiatkowska (2026): does an answer survive changes that keep the result?

The same call is asked about the original and about a version for each of five mutations. Whether right
answers rest on flawed reasoning was judged by people in the paper; nothing here does that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import cycle
from typing import NamedTuple

from counterlens.errors import SourceError
from counterlens.languages.registry import title_of
from counterlens.metrics.figures import (
    GroupedFigure,
    TabularFigure,
    comparison,
    count,
    in_order,
    number,
    of_sums,
    rows_of,
    share,
    share_of,
)
from counterlens.mutations.engine import everywhere
from counterlens.mutations.languages import mutated, parse_document
from counterlens.probes.execution.questions import ExecutionQuestion, agrees, question_about
from counterlens.probes.execution.record import ExecutionAnswer, ExecutionRecord, Form, VersionAnswer
from counterlens.probes.execution.tables import right_if_finished
from counterlens.probes.probe import Context, Target
from counterlens.sandbox.base import Limits

PROTOCOL = "reasoning-robustness"
MUTATIONS = {
    "rename-random": "renamed variables",
    "operand-swap": "mirrored comparisons",
    "if-else-flip": "swapped branches",
    "for-while-convert": "for to while",
    "partial-unroll": "unrolled loops",
}
"""The five mutations of the paper, by their ids here."""
PLACEBO = "blank-line"
_ORIGINAL, _ANY = "original", "any of the mutations"
_TITLES = {_ORIGINAL: _ORIGINAL, **MUTATIONS, _ANY: _ANY, PLACEBO: "blank lines (placebo)"}
"""The titles of programs in tables, in their order."""


@dataclass(frozen=True, slots=True)
class MutatedProgram:
    """A mutated version of a function, and the question about it."""

    mutation: str
    question: ExecutionQuestion


def versions_of(
    context: Context,
    target: Target,
    question: ExecutionQuestion,
    left_out: Counter[str],
    *,
    seed: int,
    limits: Limits,
) -> list[MutatedProgram]:
    """The versions of a function that can be asked about, with the call and the result of a question.

    Args:
        question: The question about the original.
        left_out: Counts the mutations without a version, by reason.
        seed: Random seed of new names.
        limits: Limits of each run.

    Raises:
        SandboxError, Cancelled: as the sandbox.
    """
    versions = []
    for mutation in (*MUTATIONS, PLACEBO):
        try:
            versions.append(
                MutatedProgram(mutation, _question(context, target, question, mutation, seed, limits))
            )
        except SourceError as error:
            left_out[f"{mutation}: {error.message}"] += 1
    return versions


def _question(
    context: Context, target: Target, question: ExecutionQuestion, mutation: str, seed: int, limits: Limits
) -> ExecutionQuestion:
    document, language = target.document, mutated(target.document.language)
    mutations = {**language.mutations, **language.placebos}
    if mutation not in mutations:
        raise SourceError(f"{title_of(document.language)} does not have it yet")
    surveyed = everywhere(parse_document(document), mutations[mutation], target.qualname, seed=seed)
    if not surveyed.counterfactuals:
        raise SourceError("there is no site")
    (made,) = surveyed.counterfactuals
    changed = replace(document, text=made.source)
    asked = question_about(
        context, target.name, changed, target.qualname, question.input, limits=limits, form=Form.MUTATED
    )
    if not agrees(changed, asked.truth.written, question.truth.value):
        raise SourceError("it returns another result")
    return asked


def split_answers(
    answers: Sequence[ExecutionAnswer], versions: Sequence[MutatedProgram]
) -> tuple[tuple[ExecutionAnswer, ...], tuple[VersionAnswer, ...]]:
    """The answers about the function itself, and those about its versions, which are in their order."""
    mutants = (answer for answer in answers if answer.form is Form.MUTATED)
    return tuple(answer for answer in answers if answer.form is not Form.MUTATED), tuple(
        VersionAnswer(
            **{field.name: getattr(answer, field.name) for field in fields(ExecutionAnswer)},
            mutation=version.mutation,
            program=version.question.source,
        )
        for answer, version in zip(mutants, cycle(versions), strict=False)
    )


class Compared(NamedTuple):
    """The answers about an original and about one of its versions, neither truncated."""

    mutation: str
    before: bool
    after: bool

    @property
    def changed(self) -> bool:
        """Whether a right answer was lost; both programs return the same."""
        return self.before and not self.after


def _comparisons(record: ExecutionRecord) -> Iterator[Compared]:
    (original,) = record.answers
    for answer in record.versions:
        if not original.truncated and not answer.truncated:
            yield Compared(answer.mutation, original.right, answer.right)


def _changes(record: ExecutionRecord) -> Iterator[Compared]:
    """The comparisons of an original that was answered right, and all mutations as one."""
    comparisons = [each for each in _comparisons(record) if each.before]
    yield from comparisons
    mutants = [each for each in comparisons if each.mutation != PLACEBO]
    if mutants:
        yield Compared(_ANY, before=True, after=all(each.after for each in mutants))


def _relative_drop(before: float, after: float) -> float | None:
    return 1 - after / before if before else None


FIGURES: Sequence[TabularFigure[ExecutionRecord]] = (
    GroupedFigure[ExecutionRecord, tuple[str, ExecutionAnswer]](
        "accuracy",
        of=lambda record: (
            *((_ORIGINAL, answer) for answer in record.answers),
            *((answer.mutation, answer) for answer in record.versions),
        ),
        by={"program": in_order(lambda row: row[0], _TITLES)},
        columns={
            "n": number(lambda row: not row[1].truncated),
            "truncated": number(lambda row: row[1].truncated),
            "right": share(lambda row: right_if_finished(row[1])),
        },
        note="each mutation at all of its sites at once, in the functions that have a site; a truncated "
        "answer is neither right nor wrong",
    ),
    GroupedFigure[ExecutionRecord, Compared](
        "drop under each mutation",
        of=_comparisons,
        by={"mutation": in_order(lambda row: row.mutation, _TITLES)},
        columns={
            ("n", "original", "mutated", "mutated - original"): comparison(
                lambda row: row.before,
                lambda row: row.after,
                lambda shares: (shares.n, shares.first, shares.second, shares.difference),
            ),
            "relative drop": of_sums(_relative_drop, lambda row: row.before, lambda row: row.after),
            ("only original right", "only mutated right", "McNemar p"): comparison(
                lambda row: row.before,
                lambda row: row.after,
                lambda shares: (shares.lost, shares.gained, shares.p),
            ),
        },
        note="the same functions and calls; p is exact, and not corrected for several tests",
    ),
    GroupedFigure[ExecutionRecord, Compared](
        "stability of right answers",
        of=_changes,
        by={"mutation": in_order(lambda row: row.mutation, _TITLES)},
        columns={"n": count, "answer changes": share(lambda row: row.changed)},
        note="originals answered right whose version, which returns the same, gets another answer. Whether "
        "right answers rest on flawed reasoning was judged by people in the paper, and is not automated",
    ),
)
"""Accuracy, its drop, and the stability of right answers; the placebo shows what changes without a cause."""


def finding(records: Sequence[ExecutionRecord]) -> str:
    """The share of right answers that a mutation changes, in a sentence."""
    rows = [row for row in rows_of(records, _changes) if row[1].mutation == _ANY]
    changed = share_of(rows, lambda row: row.changed)
    return (
        f" Of {changed.n} right answers with a mutated version, {changed.count} change under at least one of "
        "the mutations, which keep the result."
    )
