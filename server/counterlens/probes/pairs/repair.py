"""The repair probe (Hooda et al. 2024, section 5.2, Table 5): does it fix a bug in every version of the code?

The function has a bug, which its tests reveal. The function and equivalent versions of it, bug included, are
shown to the model, which writes the function again; the tests judge the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from counterlens.judging.base import lasting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.models.base import Model
from counterlens.mutations import Survey
from counterlens.probes.common_options import (
    DEFAULT_TIMEOUT,
    MAX_TOKENS,
    AddedMutations,
    MaxTokens,
    PreservingMutations,
    Timeout,
    Without,
)
from counterlens.probes.options import ProbeOptions, protocols
from counterlens.probes.pairs.attempts import attempt_all, pairs_of
from counterlens.probes.pairs.base import PairsProbe
from counterlens.probes.pairs.counterfactuals import rewritings
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.methods import METHODS
from counterlens.probes.pairs.published import (
    CACP,
    FIXED,
    Description,
    Preceding,
    Reach,
)
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.pairs.recording import pairs_record
from counterlens.probes.probe import Context, Need, Source, Target
from counterlens.probes.prompts.gap import Gap, View
from counterlens.syntax.functions import Function, find_function


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOptions(ProbeOptions):
    """Options of the repair probe; there is no cut, so there is no prefix ratio."""

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {CACP: FIXED}

    protocol: Annotated[str | None, protocols(CACP)] = None
    mutations: PreservingMutations = ()
    added_mutations: AddedMutations = ()
    without: Without = ()
    reach: Reach = 1
    description: Description = False
    preceding: Preceding = False
    max_tokens: MaxTokens = MAX_TOKENS
    timeout: Timeout = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        METHODS[self.chosen_protocol].check_mutations(self.mutations)


class RepairProbe(PairsProbe[RepairOptions]):
    """Repairs of a function with a bug and of its counterfactuals.

    There is no cut, so every counterfactual is usable. One whose own program passes is left out: its mutation
    fixed the bug.
    """

    id = "repair"
    title = "does it fix a bug in every version of the code?"
    source = Source("Hooda et al. 2024", "section 5.2")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX, Need.TESTS, Need.BUG})
    whole_programs = True
    options = RepairOptions

    def run(self, context: Context, target: Target, options: RepairOptions) -> PairsRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: the function has no tests, or passes them.
        """
        document, steps, limits = target.document, context.steps, lasting(options.timeout)
        function, surveyed = _rewritings(target, options)
        steps.next("finding the tests")
        judge = target.judge or find_judge(
            document,
            function,
            context.setting(limits, interpreter_for(document.path)),
            fallback=False,
        )
        judging = Judging(judge, document, function, steps, limits)
        judging.check_fails()
        sound, dropped = judging.sift(list(surveyed.counterfactuals), wanted=False)
        view = View(target.description if options.description else "", options.preceding)
        original = Gap.repair(document, function, view)
        sound = [replace(made, cut=None) for made in sound]  # all pairs share one prompt for the original
        gaps = []
        for made in sound:
            mutated = replace(document, text=made.source)
            gaps.append((original, Gap.repair(mutated, find_function(mutated, function.qualname), view)))
        return pairs_record(
            document,
            function,
            pairs_of(sound, gaps, attempt_all(context.model, judging, gaps, options.max_tokens, steps)),
            refusals=surveyed.refusals,
            dropped=dropped,
            judged_by=judging.judged_by,
        )

    def estimate(self, target: Target, options: RepairOptions, model: Model) -> int:  # noqa: ARG002
        """Like `Probe.estimate`: before any counterfactual is dropped."""
        _, surveyed = _rewritings(target, options)
        made = len(surveyed.counterfactuals)
        return made + 1 if made else 0


def _rewritings(target: Target, options: RepairOptions) -> tuple[Function, Survey]:
    return rewritings(
        target.document,
        target.qualname,
        options.mutations,
        added=options.added_mutations,
        seed=options.seed,
        without=options.without,
        reach=options.reach,
        protocol=options.chosen_protocol,
    )
