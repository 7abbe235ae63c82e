"""What the robustness probes ask and show: their own way, and that of EMPICA (Nguyen et al. 2024)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from counterlens.errors import SourceError
from counterlens.metrics.table import Table
from counterlens.models.base import Prompt
from counterlens.mutations import Survey
from counterlens.probes.execution.calls import worthwhile_calls
from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.questions import reachable
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.baselines import ChanceComparison, baseline_table
from counterlens.probes.protocols import Methods
from counterlens.probes.robustness import published, tables
from counterlens.probes.robustness.empica_tables import empica_tables
from counterlens.probes.robustness.questions import (
    AnswerPair,
    RobustnessOptions,
    RobustnessRecord,
)
from counterlens.probes.robustness.tables import Records
from counterlens.probes.robustness.versions import AskedVersion, Standing, plan
from counterlens.sandbox.base import Limits

if TYPE_CHECKING:
    from counterlens.probes.robustness.base import RobustnessProbe

MOST_CALLS = 2
SAME = 0.999
"""Minimum similarity of answers that count as the same."""


class RobustnessMethod:
    """The probes' own way.

    Attributes:
        needs_pairs: Whether a function without a program, or without two answers to compare, is refused.
        runs_calls: Whether each call is run, to find out what a version keeps.
    """

    needs_pairs = True
    runs_calls = True

    def check(self, language: str) -> None:
        """Check that there are changes of programs in a language.

        Raises:
            OptionError: there are none.
        """

    def prompt(self, probe: RobustnessProbe[Any], asked: AskedVersion) -> Prompt:
        """The question of a probe about a version of a function; see `RobustnessProbe.prompt`."""
        return probe.prompt(asked)

    def reader(self, probe: RobustnessProbe[Any]) -> Callable[[str, str], str | None]:
        """The reader of answers about code in a language."""
        return probe.read

    def planned(self, program: Target, options: RobustnessOptions, never: Sequence[str]) -> Survey:
        """The versions of a program; `never` lists assumptions that none may depend on."""
        without = (*options.without, *never)
        return plan(program, options.mutations, seed=options.seed, without=without)

    def calls(self, context: Context, program: Target, *, seed: int, limits: Limits) -> list[str]:
        """The calls of a program to ask about; none if no standalone call reaches it.

        Raises:
            SandboxError, Cancelled: as the sandbox.
        """
        try:
            function = reachable(program)
            calls = worthwhile_calls(context, program, function, seed=seed, limits=limits)
        except SourceError:
            return []
        return [call.input.call for call in calls[:MOST_CALLS]]

    def rounds(self, program: Target) -> int:
        """The number of calls at most, without running any."""
        try:
            reachable(program)
        except SourceError:
            return 0
        return MOST_CALLS

    def standing(self, pair: AnswerPair) -> Standing | None:
        """What a version keeps of the meaning."""
        return pair.standing

    def tables(self, records: Records, heading: str, seed: int) -> tuple[Table, ...]:  # noqa: ARG002
        """The tables of some records of one model."""
        shown = (
            tables.overall(records, heading),
            tables.by_change(records, heading),
            tables.by_correctness(records, heading),
            baseline_table(baselines(records)),
            tables.listing(records),
        )
        return tuple(table for table in shown if table is not None and table.rows)


class EmpicaRobustness(RobustnessMethod):
    """The protocol `empica`; see `published.py`."""

    needs_pairs = False
    runs_calls = False

    def check(self, language: str) -> None:
        """Check that the paper's operators exist for a language; see `RobustnessMethod`."""
        published.transformations_of(language)

    def prompt(self, probe: RobustnessProbe[Any], asked: AskedVersion) -> Prompt:
        """The question in the words of the paper; see `RobustnessMethod`."""
        return published.question(probe.id, asked, probe.shown(asked.document, asked.qualname))

    def reader(self, probe: RobustnessProbe[Any]) -> Callable[[str, str], str | None]:
        """The reader of free texts."""
        return probe.read_published

    def planned(self, program: Target, options: RobustnessOptions, never: Sequence[str]) -> Survey:
        """One version for each of the paper's operators; see `RobustnessMethod`."""
        return published.transform(program, seed=options.seed, without=never)

    def calls(self, context: Context, program: Target, *, seed: int, limits: Limits) -> list[str]:  # noqa: ARG002
        """All test inputs of a program: from its dataset, else from its examples and the tests beside it."""
        return self._test_inputs(program)

    def rounds(self, program: Target) -> int:
        """The number of these inputs; see `RobustnessMethod`."""
        return len(self._test_inputs(program))

    def _test_inputs(self, program: Target) -> list[str]:
        try:
            function = reachable(program)
        except SourceError:
            return []
        if program.calls:
            return list(program.calls)
        calls = execution_of(program.document.language).calls_of(program.document, function)
        return [program.call] if program.call and not calls else calls

    def standing(self, pair: AnswerPair) -> Standing | None:
        """What the paper says that the operator keeps."""
        return pair.published

    def tables(self, records: Records, heading: str, seed: int) -> tuple[Table, ...]:
        """The paper's tables."""
        return empica_tables(records, heading, seed)


METHODS = Methods(RobustnessMethod(), empica=EmpicaRobustness())


def baselines(records: Sequence[RobustnessRecord]) -> list[ChanceComparison]:
    """The answers kept after preserving changes minus those kept after breaking ones.

    A constant answer is kept after all, and a random one after as many of either.
    """
    kept, broken = (
        [alike for record in records for alike in same_answers(record, standing)]
        for standing in (Standing.PRESERVING, Standing.BREAKING)
    )
    if not kept or not broken:
        return []
    score = sum(kept) / len(kept) - sum(broken) / len(broken)
    copied = sum(pair.copied for record in records for pair in record.pairs)
    return [
        ChanceComparison(
            "share kept minus share kept wrongly", len(kept) + len(broken), score, 0.0, 0.0, copied
        )
    ]


def same_answers(record: RobustnessRecord, standing: Standing) -> list[bool]:
    """Whether the answer stayed the same, for each version of a kind, by the main similarity."""
    return [
        pair.similarity[record.measures[0]] > SAME
        for pair in record.pairs
        if METHODS[record.protocol].standing(pair) is standing
    ]
