"""A prompted task as a declaration: where its questions come from, and its figures; the rest follows.

The engine here asks all questions of a function together (`asking.py`), draws the figures, sets the answers
beside what needs no model, and words the finding. `closed_task.py` also declares the record.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

from counterlens.metrics.closed import Closed, area_inside, share_above_chance
from counterlens.metrics.figures import TabularFigure, draw_figures, rows_of
from counterlens.metrics.table import Table
from counterlens.models.base import Model
from counterlens.probes.options import ProbeOptions
from counterlens.probes.probe import Context, Probe, Target
from counterlens.probes.prompts.asking import Question, TaskAnswer, ask_questions
from counterlens.probes.prompts.baselines import ChanceComparison, baseline_table, first_words, share_right
from counterlens.probes.prompts.closed import YES_NO
from counterlens.probes.prompts.closed_figures import BY_MODEL, by_way, closed_table
from counterlens.probes.record import Record
from counterlens.syntax.functions import find_function

OptionsT = TypeVar("OptionsT", bound=ProbeOptions)
RecordT = TypeVar("RecordT", bound=Record)
FactsT = TypeVar("FactsT")
"""What a task knows about the questions of one function, besides their texts."""


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A question with its answer, as figures see it.

    Attributes:
        asked: What was asked, such as `next line`.
        truth: The true answer; None if more than one is right, so that no constant answer is comparable.
        right: Whether the model's answer is right.
        ranked: The candidates by what ranks them: the model, if it gives probabilities, and what needs none.
        chance: The expected share of random answers that are right; None if unknown.
        copied: Whether the answer repeats a worked example, and is not right.
    """

    asked: str
    truth: Hashable
    right: bool
    ranked: Mapping[str, Closed] = field(default_factory=dict)
    chance: float | None = None
    copied: bool = False


class PromptedTask(Probe[OptionsT, RecordT], Generic[OptionsT, RecordT, FactsT]):
    """A task that asks questions whose truth was run.

    Attributes:
        asking: The step of asking, for progress.
        main: `JudgedAnswer.asked` of the main figure.
        figures: The tables: the first one, then those after the figures of closed questions.
        listing: The table of single answers; without rows if there are many.
        requests: The largest number of requests about one function.
        unread: The reason under which answers without a value are counted as left out; empty if the task
            counts them itself.
        templates: The package with the folder of its templates; if empty, its own package.
    """

    asking: ClassVar[str]
    main: ClassVar[str]
    figures: ClassVar[Sequence[TabularFigure[Any]]]
    listing: ClassVar[TabularFigure[Any] | None] = None
    requests: ClassVar[int]
    unread: ClassVar[str] = ""
    templates: ClassVar[str] = ""

    @abstractmethod
    def questions(
        self, context: Context, target: Target, options: OptionsT, left_out: Counter[str]
    ) -> tuple[FactsT, Sequence[Question[Any]]]:
        """The questions about a function, and what is known about them.

        Args:
            left_out: Counts what does not count, by reason.

        Raises:
            SourceError: there is none.
            SandboxError, Cancelled: as the sandbox.
        """

    @abstractmethod
    def answered(
        self,
        context: Context,
        target: Target,
        options: OptionsT,
        facts: FactsT,
        answers: Sequence[TaskAnswer[Any]],
    ) -> RecordT:
        """The record of a function.

        Args:
            facts: As returned by `questions`.
            answers: The answer to each question.

        Returns:
            The record; its `left_out` is added to what was counted before.
        """

    @abstractmethod
    def judged(self, record: RecordT) -> Iterable[JudgedAnswer]:
        """The questions of a record with their answers."""

    @abstractmethod
    def finding(self, records: Sequence[RecordT]) -> str:
        """The finding in a sentence, after the comparison with answers without a model."""

    def run(self, context: Context, target: Target, options: OptionsT) -> RecordT:
        """Like `Probe.run`."""
        left_out = Counter[str]()
        facts, questions = self.questions(context, target, options, left_out)
        package = self.templates or type(self).__module__.rpartition(".")[0]
        answers = ask_questions(context, target, package, questions, f"{self.asking} {target.name}")
        if self.unread:
            left_out[self.unread] = sum(answer.value is None for answer in answers)
        record = self.answered(context, target, options, facts, answers)
        left_out.update(record.left_out)
        return replace(record, left_out=left_out)

    def tables(self, records: Sequence[RecordT], *, seed: int) -> tuple[Table, ...]:
        """Like `Probe.tables`."""
        first, *others = self.figures
        closed = closed_table(self.ranked(records), seed=seed)
        tables = (
            *draw_figures([first], records, seed=seed),
            closed,
            *draw_figures(others, records, seed=seed),
            baseline_table(self.baselines(records)),
            *draw_figures([self.listing] if self.listing else [], records, seed=seed),
        )
        return tuple(table for table in tables if table.rows)

    def summary(self, records: Sequence[RecordT]) -> str:
        """Like `Probe.summary`: first whether an answer without a model does as well."""
        return first_words(self.baselines(records)) + self.finding(records)

    def excess(self, record: RecordT) -> float | None:
        """Like `Probe.excess`: by the probabilities of the main question, or else by its answers.

        For yes and no the AUROC inside the function; for choices the share chosen right above that of a
        random one.
        """
        asked = [each for each in self.judged(record) if each.asked == self.main]
        ranked = [each.ranked[BY_MODEL] for each in asked if BY_MODEL in each.ranked]
        value: float | None = None
        if ranked and all(each.candidates == YES_NO for each in ranked):
            inside = area_inside(ranked).value
            value = None if inside is None else inside - 0.5
        elif ranked:
            value = share_above_chance(ranked).value
        above_chance = [each.right - each.chance for each in asked if each.chance is not None]
        return sum(above_chance) / len(above_chance) if value is None and above_chance else value

    def estimate(self, target: Target, options: OptionsT, model: Model) -> int:  # noqa: ARG002
        """Like `Probe.estimate`."""
        find_function(target.document, target.qualname)
        return self.requests

    def baselines(self, records: Sequence[RecordT]) -> list[ChanceComparison]:
        """The answers beside those without a model."""
        asked: dict[str, list[JudgedAnswer]] = {}
        for _, each in rows_of(records, self.judged):
            if each.truth is not None:
                asked.setdefault(each.asked, []).append(each)
        compared = (
            share_right(
                name,
                [each.truth for each in group],
                sum(each.right for each in group),
                sum(each.copied for each in group),
            )
            for name, group in asked.items()
        )
        return [each for each in compared if each]

    def ranked(self, records: Sequence[RecordT]) -> dict[tuple[str, str], list[Closed]]:
        """The closed questions, by what was asked and by what ranks the candidates."""
        return by_way((each.asked, each.ranked) for _, each in rows_of(records, self.judged))
