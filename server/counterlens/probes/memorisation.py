"""Memorisation (Hooda et al. 2024, Table 3): does the operator that is rarer in a corpus cost more?

Flipping an if-else puts the complementary operator in the condition. Where a model completes a function by
what it has often seen, replacing the frequent operator of a pair by the rare one costs more correct
completions than the other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from counterlens.counting import plural
from counterlens.errors import CounterlensError, SourceError
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Effect
from counterlens.probes.operator.complementary import Substitution, complementary
from counterlens.probes.completion import probe_completion, rewritings
from counterlens.probes.operator.frequency import read_corpus
from counterlens.probes.operator.pairs import FLIP, changed_operators
from counterlens.probes.task import Cell, Need, Request, Result, Table


class MemorisationTask:
    """Frequency of operators beside what their substitution costs. Implements `Task`."""

    id = "memorisation"
    title = "does the rarer operator cost more?"
    needs = frozenset({Need.COMPLETE, Need.SANDBOX, Need.TESTS, Need.CORPUS})

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            CounterlensError: no corpus is named, or nothing could be flipped and judged.
            ModelError, SandboxError, Cancelled: as `probe_completion`.
        """
        if request.corpus is None:
            raise CounterlensError(
                "there is no corpus to count operators in", "Name Python files or a dataset with --corpus"
            )
        frequency = read_corpus(request.corpus, cancel=request.cancel).frequency
        left_out: Counter[str] = Counter()
        found: list[Substitution] = []
        for number, target in enumerate(request.targets):
            if request.report:
                request.report(target.name, number, len(request.targets))
            try:
                found += _substitutions(request, number, left_out)
            except SourceError as error:  # no tests, or it fails them: the others can still be probed
                left_out[_without_names(error.message, target.qualname)] += 1
        if not found:
            reasons = "; ".join(f"{count} {reason}" for reason, count in left_out.most_common(3))
            raise SourceError("no if-else could be flipped and judged", reasons or None)
        data = {
            "corpus": request.corpus,
            "frequency": frequency,
            "substitutions": [_plain(one) for one in found],
        }
        tables = self.tables([data], seed=request.seed)
        return Result(
            task=self.id,
            title=f"{len(found)} flipped if-else in "
            f"{plural(len({one.target for one in found}), 'function')}, "
            f"operators counted in {request.corpus}",
            model=request.model.info,
            summary=_summary(tables[0].rows),
            tables=tables,
            left_out=dict(left_out),
            data=data,
        )

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:
        """As `Task.tables`."""
        if not found:
            return ()
        pooled = [_read(one) for data in found for one in data["substitutions"]]
        frequency = found[0]["frequency"]
        return (complementary(pooled, frequency, what="correct completions", seed=seed),)

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:
        """As `Task.measures`."""
        pairs = data["substitutions"]
        return {
            "all originals right": all(one["original"] for one in pairs),
            "all flipped right": all(one["counterfactual"] for one in pairs),
        }

    def asks(self, request: Request) -> int:
        """As `Task.asks`: before any flip is dropped."""
        total = 0
        for target in request.targets:
            _, made = rewritings(target.document, target.qualname, [FLIP], seed=request.seed)
            cuts = [one.cut.original for one in made.counterfactuals if one.cut is not None]
            total += len(cuts) + len(set(cuts))
        return total


def _substitutions(request: Request, number: int, left_out: Counter[str]) -> list[Substitution]:
    target = request.targets[number]
    probe = probe_completion(
        request.model,
        target.document,
        target.qualname,
        request.sandbox(),
        judge=target.judge,
        mutations=[FLIP],
        seed=request.seed,
        limits=request.limits,
        cancel=request.cancel,
    )
    left_out.update(refusal.reason for refusal in probe.refusals)
    left_out["the flipped function fails its own tests"] += len(probe.dropped)
    found: list[Substitution] = []
    for pair in probe.pairs:
        change = changed_operators(target.document, target.qualname, pair.counterfactual)
        if change is None:
            left_out["its condition is not a single comparison"] += 1
        elif pair.effect is None:
            left_out["a completion could not be judged"] += 1
        else:
            found.append(Substitution(target.name, *change, pair.effect))
    left_out += Counter()  # drops the zeros
    return found


def _summary(rows: Sequence[tuple[Cell, ...]]) -> str:
    both = [
        (there, back)
        for _, _, _, there, back, *counts in rows
        if isinstance(there, Estimate) and isinstance(back, Estimate) and all(counts[:2])
    ]
    if not both:
        return "No pair of operators was replaced in both directions, so nothing can be compared."
    more = sum((there.value or 0) > (back.value or 0) for there, back in both)
    return (
        f"In {more} of {plural(len(both), 'pair')} replaced in both directions, putting the rarer operator "
        "for the more frequent one cost more correct completions than the reverse."
    )


def _plain(one: Substitution) -> dict[str, Any]:
    return {
        "target": one.target,
        "before": one.before,
        "after": one.after,
        "original": one.effect.original,
        "counterfactual": one.effect.counterfactual,
    }


def _read(one: Mapping[str, Any]) -> Substitution:
    effect = Effect(one["original"], one["counterfactual"])
    return Substitution(one["target"], one["before"], one["after"], effect)


def _without_names(message: str, qualname: str) -> str:
    """A reason that is the same for all functions."""
    return message.replace(qualname, "a function").partition(" (")[0]
