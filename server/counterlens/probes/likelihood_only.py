"""The likelihood probe: likelihood effects of a function's counterfactuals; nothing is written or run."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

from counterlens.attribution.base import Evidence, Judgement, Verdict
from counterlens.models.base import Model
from counterlens.mutations.cuts import PREFIX_RATIO, Ratio
from counterlens.probes.completion import gaps_of, paired, refusals, rewritings, with_likelihood
from counterlens.probes.results import Attempt, CompletionProbe
from counterlens.probes.steps import Report, Steps
from counterlens.syntax.document import Document

_UNASKED = Attempt(
    None, "stop", Verdict(Judgement.REFUSED, Evidence("none", 0, message="the model was not asked to write"))
)


def probe_likelihood(
    model: Model,
    document: Document,
    qualname: str,
    *,
    mutations: Sequence[str] | None = None,
    seed: int = 0,
    prefix_ratio: Ratio = PREFIX_RATIO,
    without: Sequence[str] = (),
    cancel: Event | None = None,
    report: Report | None = None,
) -> CompletionProbe:
    """Measure one function; the arguments are those of `probe_completion`.

    Counterfactuals are not run, so that they keep the meaning is what their mutation promises.

    Raises:
        SourceError: there is no such function, or the file does not parse.
        ModelError: the model failed, or gives no token probabilities.
        Cancelled: `cancel` was set.
    """
    function, surveyed = rewritings(
        document, qualname, mutations, seed=seed, prefix_ratio=prefix_ratio, without=without
    )
    sound = [one for one in surveyed.counterfactuals if one.cut is not None]
    gaps = [gaps_of(document, function, one) for one in sound]
    probe = CompletionProbe(
        document=document,
        function=function,
        model=model.info,
        judged_by=None,
        pairs=paired(sound, gaps, {gap: _UNASKED for pair in gaps for gap in pair}),
        refusals=refusals(surveyed),
        dropped=(),
        seed=seed,
        task="likelihood",
    )
    return with_likelihood(probe, model, Steps(cancel, report))
