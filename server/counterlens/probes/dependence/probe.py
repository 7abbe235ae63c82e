"""The dependence probe (Nguyen et al. 2024): the dependences that the model infers.

The truth is the dependence graph. Dependences are inferred from the change of token probabilities after a
statement is changed, if the model returns them; else the model is prompted. `methods.py` has what the
protocols do otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Annotated, Any, ClassVar

from counterlens.metrics.table import Table
from counterlens.models.base import Capability, Model
from counterlens.probes.dependence.core_replies import ANSWER_TOKENS
from counterlens.probes.dependence.inferred import InferenceMethod
from counterlens.probes.dependence.instances import MOST_QUESTIONS
from counterlens.probes.dependence.methods import METHODS, baselines
from counterlens.probes.dependence.published import CORE
from counterlens.probes.dependence.record import DependenceRecord
from counterlens.probes.options import PromptedOptions, option, protocols
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.prompts.baselines import first_words
from counterlens.probes.robustness.published import EMPICA


@dataclass(frozen=True, slots=True, kw_only=True)
class DependenceOptions(PromptedOptions):
    """Options of the dependence probe."""

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        CORE: {"method": InferenceMethod.TRACE, "ask_by": "text"},
        EMPICA: {
            "method": InferenceMethod.PROMPTED,
            "questions": None,
            "lite": False,
            "max_tokens": ANSWER_TOKENS,
            "ask_by": "text",
        },
    }

    method: Annotated[
        InferenceMethod | None,
        option(
            "How to infer dependences. Default: interventional if the model returns token probabilities, "
            "else prompted."
        ),
    ] = None
    questions: Annotated[
        int | None,
        option(
            "Maximum number of pairwise questions per relation and function: a "
            f"sample, half of it true. Default: {MOST_QUESTIONS}; with --protocol core, all of CoRe's own.",
            metavar="N",
            low=2,
            high=10_000,
        ),
    ] = None
    lite: Annotated[bool, option("Only the questions of CoRe Lite, with --protocol core.")] = False
    max_tokens: Annotated[
        int,
        option(
            "Token limit for one answer with --protocol core, reasoning included.",
            metavar="N",
            low=1,
            high=65_536,
        ),
    ] = ANSWER_TOKENS
    protocol: Annotated[str | None, protocols(CORE, EMPICA)] = None

    @property
    def most(self) -> int:
        """Maximum of our own questions per relation and function."""
        return MOST_QUESTIONS if self.questions is None else self.questions

    def method_for(self, model: Model, cancel: Event | None = None) -> InferenceMethod:
        """The method used for a model."""
        if self.method is not None:
            return self.method
        scores = model.offers(Capability.SCORE, cancel=cancel)
        return InferenceMethod.INTERVENTIONAL if scores else InferenceMethod.PROMPTED


class DependenceProbe(Probe[DependenceOptions, DependenceRecord]):
    """A model's dependences, compared with the dependence graph and with rules that use no model."""

    id = "dependence"
    title = "which statements does it think depend on which?"
    source = Source("Nguyen et al. 2024", "section 5.1, RQ4; core and trace: Xie et al. 2025 (CoRe)")
    needs = frozenset[Need]()
    options = DependenceOptions
    record = DependenceRecord

    def run(self, context: Context, target: Target, options: DependenceOptions) -> DependenceRecord:
        return METHODS[options.chosen_protocol].record(context, target, options)

    def tables(self, records: Sequence[DependenceRecord], *, seed: int) -> tuple[Table, ...]:
        return METHODS[records[0].protocol].tables(records, seed)

    def summary(self, records: Sequence[DependenceRecord]) -> str:
        return first_words(baselines(records)) + METHODS[records[0].protocol].summary(records)

    def measures(self, record: DependenceRecord) -> Mapping[str, bool]:
        """Like `Probe.measures`; a function without dependences of a relation has no measure of it."""
        return METHODS[record.protocol].measures(record)

    def estimate(self, target: Target, options: DependenceOptions, model: Model) -> int:
        return METHODS[options.chosen_protocol].estimate(target, options, model)
