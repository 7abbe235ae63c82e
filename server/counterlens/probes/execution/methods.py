"""How calls are asked about, and shown: the probes' own way, and that of CodeMind (Liu et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.metrics.figures import TabularFigure
from counterlens.models.base import ModelInfo
from counterlens.probes.execution import mutated, published, tables
from counterlens.probes.execution.dependent_tables import comparison_tables, dependent_tables
from counterlens.probes.execution.printing import Inputs
from counterlens.probes.execution.prompts import DIRECT, STEPS, STYLES, most_tokens
from counterlens.probes.execution.questions import Asking
from counterlens.probes.execution.record import ExecutionRecord
from counterlens.probes.execution.specification_tables import specification_tables
from counterlens.probes.protocols import Methods


class ExecutionMethod:
    """The probes' own way.

    Attributes:
        chooses: Whether outputs are also chosen among others, by their probabilities.
        mutates: Whether mutated versions are asked about, too.
        leaves_out: Whether a version that a language does not have is left out, not refused.
        inputs: The calls that are asked about.
        specified_inputs: Those of specification reasoning.
        style: The style of answers on own code that a summary counts.
        summary: The sentences of this summary, with numbers for functions right, asked, outputs right, asked.
        execution_figures: The figures of independent execution reasoning.
        dependent_tables: The tables of dependent execution reasoning of one model.
        comparison_tables: The further ones of several models.
        specification_tables: The tables of specification reasoning.
    """

    chooses = True
    mutates = False
    leaves_out = False
    inputs = Inputs.ANY
    specified_inputs = Inputs.ANY
    style = DIRECT
    summary = "The model wrote {} of {} correctly. It predicted the results of these directly in {} of {}."
    execution_figures: Sequence[TabularFigure[ExecutionRecord]] = tables.FIGURES
    dependent_tables = staticmethod(dependent_tables)
    comparison_tables = staticmethod(comparison_tables)
    specification_tables = staticmethod(specification_tables)

    def asking(
        self,
        info: ModelInfo,  # noqa: ARG002
        max_tokens: int | None,
        styles: tuple[str, ...] = tuple(STYLES),  # noqa: ARG002
    ) -> Asking:
        """How questions are asked, and answers compared.

        Args:
            info: The model's information.
            max_tokens: The user's token limit, if there is one.
            styles: The styles that a protocol uses; without one, all are used.
        """
        return Asking(max_tokens)


class CodeMind(ExecutionMethod):
    """The protocol `codemind`; see `published.py`."""

    chooses = False
    leaves_out = True
    inputs = Inputs.WRITTEN
    specified_inputs = Inputs.DRAWN
    style = STEPS
    summary = (
        "The model wrote {} of {} correctly. It predicted the results of these step by step in {} of {}."
    )
    execution_figures = published.FIGURES
    dependent_tables = staticmethod(published.dependent_tables)
    comparison_tables = staticmethod(published.comparison_tables)
    specification_tables = staticmethod(published.specification_tables)

    def asking(
        self, info: ModelInfo, max_tokens: int | None, styles: tuple[str, ...] = tuple(STYLES)
    ) -> Asking:
        """The paper's styles, token limit and criterion; see `ExecutionMethod`."""
        return Asking(most_tokens(info, max_tokens, published.TOKENS), styles, as_written=True)


class ReasoningRobustness(ExecutionMethod):
    """The protocol `reasoning-robustness`; see `mutated.py`."""

    chooses = False
    mutates = True
    inputs = Inputs.WRITTEN
    execution_figures = mutated.FIGURES

    def asking(
        self,
        info: ModelInfo,  # noqa: ARG002
        max_tokens: int | None,
        styles: tuple[str, ...] = tuple(STYLES),  # noqa: ARG002
    ) -> Asking:
        """Direct questions; see `ExecutionMethod`."""
        return Asking(max_tokens, (DIRECT,))


METHODS = Methods(
    ExecutionMethod(), **{published.PROTOCOL: CodeMind(), mutated.PROTOCOL: ReasoningRobustness()}
)
