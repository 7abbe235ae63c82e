"""The repair probe (Hooda et al. 2024, section 5.2 and Table 5): is a bug mended in every shape of the code?

The function has a bug, which its tests show. It and equivalent ways of writing it, bug included, are shown to
the model, which writes the function again; the tests judge what it wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

from counterlens.attribution.base import LIMITS, Judge
from counterlens.attribution.registry import find_judge
from counterlens.models.base import Model
from counterlens.probes.completion import MAX_TOKENS, attempted, paired, rewritings
from counterlens.probes.judging import Judging
from counterlens.probes.prompting import Gap
from counterlens.probes.results import CompletionProbe
from counterlens.probes.steps import Report, Steps
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function


def probe_repair(
    model: Model,
    document: Document,
    qualname: str,
    sandbox: Sandbox,
    *,
    judge: Judge | None = None,
    mutations: Sequence[str] | None = None,
    seed: int = 0,
    without: Sequence[str] = (),
    max_tokens: int = MAX_TOKENS,
    limits: Limits = LIMITS,
    cancel: Event | None = None,
    report: Report | None = None,
) -> CompletionProbe:
    """Probe the repair of one function; the arguments and errors are those of `probe_completion`.

    Nothing is cut, so every counterfactual is seen. One whose own program passes is left out: its mutation
    mended the bug.

    Raises:
        SourceError: the function has no tests, or passes them.
    """
    function, surveyed = rewritings(document, qualname, mutations, seed=seed, without=without)
    steps = Steps(cancel, report)
    steps.next("finding the tests")
    judge = judge or find_judge(document, function, sandbox, limits=limits, fallback=False)
    judging = Judging(judge, document, function, steps, limits)
    judging.check_fails()
    sound, dropped = judging.sift(list(surveyed.counterfactuals), wanted=False)
    original = Gap.repair(document, function)
    gaps = []
    for one in sound:
        mutated = replace(document, text=one.source)
        gaps.append((original, Gap.repair(mutated, find_function(mutated, function.qualname))))
    return CompletionProbe(
        document=document,
        function=function,
        model=model.info,
        judged_by=judging.judged_by,
        pairs=paired(sound, gaps, attempted(model, judging, gaps, max_tokens, steps)),
        refusals=surveyed.refusals,
        dropped=tuple(dropped),
        seed=seed,
        task="repair",
    )
