"""The gate: whether each model of a run holds enough of its right verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from counterlens.evaluation.effects import judged_parts
from counterlens.evaluation.results import RunResults
from counterlens.metrics.effects import Proportion
from counterlens.metrics.noise_floor import AboveFloor
from counterlens.metrics.significance import Adequacy, adequacy
from counterlens.metrics.summary import summarize
from counterlens.probes.pairs.floor_tables import overall_floor
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.tables import observations


class GateOutcome(StrEnum):
    """What the gate says about one model, or about a run; the worst first."""

    FAILED = "FAILED"
    INCONCLUSIVE = "inconclusive"
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of the gate for one model and task.

    Attributes:
        found: Its average mutation effect, with the noise floor.
        least: Minimum share of its right verdicts that it must hold.
        informative: Minimum number of informative pairs for a pass.
        adequacy: Whether it completes enough originals correctly for its effects to be meaningful.
    """

    task: str
    model: str
    found: AboveFloor
    least: float
    informative: int
    adequacy: Adequacy = Adequacy.ADEQUATE

    @property
    def kept(self) -> Proportion:
        """The share of informative pairs whose verdict stayed."""
        return self.found.effect.complement

    @property
    def below(self) -> bool:
        """Whether the whole interval is below the required share."""
        return self.kept.high is not None and self.kept.high < self.least

    @property
    def noise(self) -> bool:
        """Whether placebos also change verdicts, and the effect does not exceed that."""
        return self.found.floor.count > 0 and not self.found.exceeded

    @property
    def outcome(self) -> GateOutcome:
        """Failed if it certainly holds less; inconclusive if too few pairs could have shown that.

        Also of a model that writes little right: its few right verdicts show nothing about understanding.
        """
        if self.adequacy is not Adequacy.ADEQUATE:
            return GateOutcome.INCONCLUSIVE
        if self.below and not self.noise:
            return GateOutcome.FAILED
        return GateOutcome.INCONCLUSIVE if self.kept.n < self.informative else GateOutcome.PASSED


def gate_outcome(results: Sequence[GateResult]) -> GateOutcome:
    """The worst outcome; inconclusive if no model was judged."""
    outcomes = {result.outcome for result in results}
    return next((outcome for outcome in GateOutcome if outcome in outcomes), GateOutcome.INCONCLUSIVE)


def gate(results: RunResults, least: float, informative: int) -> list[GateResult]:
    """Compare every model of a run with a required share, task by task, if pairs are judged.

    Args:
        least: Minimum share of right verdicts to be held, from 0 to 1.
        informative: Minimum number of informative pairs for a pass.
    """
    gates = []
    for part in judged_parts(results):
        for model in part.models:
            records = [record for record in part.probed(model) if isinstance(record, PairsRecord)]
            floor, grade = overall_floor(records), adequacy(summarize(observations(records)))
            gates.append(GateResult(part.settings.task, model, floor, least, informative, grade))
    return gates
