"""The three probes of pairs, a function beside its counterfactuals: completion, repair and likelihood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from counterlens.counting import plural
from counterlens.probes.completion import preserving, probe_completion, rewritings
from counterlens.probes.likelihood_only import probe_likelihood
from counterlens.probes.pair_records import effect_tables, likelihood_tables, pair_record, steady
from counterlens.probes.repair import probe_repair
from counterlens.probes.results import CompletionProbe
from counterlens.probes.task import Need, Request, Result, Table, Target


class Variant(StrEnum):
    """What a model is asked to do with both sides of a pair."""

    COMPLETE = "completion"  # write the rest of the function
    REPAIR = "repair"  # write the function without its bug
    LIKELIHOOD = "likelihood"  # nothing: how likely it finds the true rest is measured


def probe_pairs(variant: Variant, request: Request, target: Target) -> CompletionProbe:
    """Probe one function with its counterfactuals.

    Args:
        variant: What is asked.
        request: The model, the sandbox and the choices; its targets are not looked at.
        target: The function.

    Raises:
        as `probe_completion`.
    """
    model, document, qualname = request.model, target.document, target.qualname
    mutations = list(request.mutations) or None
    if variant is Variant.LIKELIHOOD:
        return probe_likelihood(
            model,
            document,
            qualname,
            mutations=mutations,
            seed=request.seed,
            prefix_ratio=request.prefix_ratio,
            without=request.without,
            cancel=request.cancel,
            report=request.report,
        )
    if variant is Variant.REPAIR:
        return probe_repair(
            model,
            document,
            qualname,
            request.sandbox(),
            judge=target.judge,
            mutations=mutations,
            seed=request.seed,
            without=request.without,
            max_tokens=request.max_tokens,
            limits=request.limits,
            cancel=request.cancel,
            report=request.report,
        )
    return probe_completion(
        model,
        document,
        qualname,
        request.sandbox(),
        judge=target.judge,
        mutations=mutations,
        seed=request.seed,
        prefix_ratio=request.prefix_ratio,
        without=request.without,
        max_tokens=request.max_tokens,
        limits=request.limits,
        cancel=request.cancel,
        report=request.report,
    )


class PairTask:
    """One probe of pairs over several functions. Implements `counterlens.probes.task.Task`.

    Args:
        variant: Which.
        title: What it finds out.
        needs: What it needs.
    """

    def __init__(self, variant: Variant, title: str, *needs: Need) -> None:
        self._variant, self.id, self.title, self.needs = variant, str(variant), title, frozenset(needs)

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            SourceError: a function cannot be probed; says why.
            And as `probe_pairs`.
        """
        pairs: list[dict[str, Any]] = []
        judged: dict[str, None] = {}
        refused, dropped = Counter[str](), Counter[str]()
        for target in request.targets:
            found = probe_pairs(self._variant, request, target)
            judged[found.judged_by or ""] = None
            pairs += [pair_record(found, target.name, one) for one in found.pairs]
            refused.update(one.mutation for one in found.refusals)
            dropped.update(one.mutation for one, _ in found.dropped)
        data = {
            "judged_by": steady(", ".join(filter(None, judged))) or None,
            "pairs": pairs,
            "refused": dict(sorted(refused.items())),
            "dropped": dict(sorted(dropped.items())),
        }
        return Result(
            task=self.id,
            title=f"{plural(len(pairs), 'pair')} of {plural(len(request.targets), 'function')}",
            model=request.model.info,
            summary="",
            tables=self.tables([data], seed=request.seed),
            data=data,
        )

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:
        """As `Task.tables`."""
        tables = self.side_by_side({"": found}, seed=seed)
        return tuple(
            replace(one, columns=one.columns[1:], rows=tuple(row[1:] for row in one.rows)) for one in tables
        )

    def side_by_side(
        self, found: Mapping[str, Sequence[Mapping[str, Any]]], *, seed: int
    ) -> tuple[Table, ...]:
        """The tables of several models, by the name of each: what is tested of them is one family."""
        pairs = {model: [pair for one in some for pair in one["pairs"]] for model, some in found.items()}
        likelihood = self._variant is Variant.LIKELIHOOD
        return likelihood_tables(pairs, seed) if likelihood else effect_tables(pairs, seed)

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:
        """As `Task.measures`: are all originals right, are all counterfactuals?"""
        found: dict[str, bool] = {}
        for name, key in (("originals", "original_right"), ("counterfactuals", "counterfactual_right")):
            judged = [pair[key] for pair in data["pairs"] if pair[key] is not None]
            if judged:
                found[f"all {name} right"] = all(judged)
        effects = [pair["likelihood"]["change"] for pair in data["pairs"] if "likelihood" in pair]
        return found | ({"the rest is as likely on the whole": sum(effects) >= 0} if effects else {})

    def asks(self, request: Request) -> int:
        """As `Task.asks`: before any counterfactual is dropped."""
        total = 0
        for target in request.targets:
            _, surveyed = rewritings(
                target.document,
                target.qualname,
                preserving(request.mutations),
                seed=request.seed,
                prefix_ratio=request.prefix_ratio,
                without=request.without,
            )
            if self._variant is Variant.REPAIR:
                made = len(surveyed.counterfactuals)
                total += made + 1 if made else 0
            else:
                cuts = [one.cut.original for one in surveyed.counterfactuals if one.cut is not None]
                total += len(cuts) + len(set(cuts))
        return total


PAIR_TASKS = (
    PairTask(
        Variant.COMPLETE, "does the model hold when the code changes shape?", Need.COMPLETE, Need.SANDBOX
    ),
    PairTask(
        Variant.REPAIR,
        "is a bug mended in every shape of the code?",
        Need.COMPLETE,
        Need.SANDBOX,
        Need.TESTS,
        Need.BUG,
    ),
    PairTask(Variant.LIKELIHOOD, "does the true rest stay likely in every shape?", Need.SCORE),
)
