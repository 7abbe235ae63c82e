"""Memorisation (paper 000, Table 3): does the operator that is rarer in a corpus cost more correctness?

Flipping an if-else puts the complementary operator in the condition. Where a model completes a function by
what it has often seen, replacing the frequent operator of a pair by the rare one costs more correct
completions than the other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from counterlens.errors import CounterlensError, SourceError
from counterlens.metrics.agreement import Estimate, bootstrap
from counterlens.metrics.effects import Effect
from counterlens.probes.completion import probe_completion
from counterlens.probes.operator.frequency import corpus_frequencies
from counterlens.probes.operator.pairs import FLIP, changed_operators
from counterlens.probes.task import Cell, Need, Request, Result, Table

PAIRS = (("==", "!="), (">", "<="), ("<", ">="), ("is", "is not"), ("in", "not in"))
"""Complementary operators; the first three pairs are the paper's."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """One if-else that was flipped, with both completions judged.

    Attributes:
        target: The id of the function.
        before: The operator of its condition.
        after: The complementary one.
        effect: Whether each completion was right.
    """

    target: str
    before: str
    after: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class Direction:
    """What one substitution costs.

    Attributes:
        n: How many were judged.
        drop: Mean of A(original) - A(counterfactual), with an interval over functions.
    """

    n: int
    drop: Estimate


def direction(found: Sequence[Substitution], before: str, after: str, *, seed: int = 0) -> Direction:
    """What replacing one operator by another costs, over all pairs that were judged."""
    groups: dict[str, list[int]] = {}
    for one in found:
        if (one.before, one.after) == (before, after):
            groups.setdefault(one.target, []).append(-one.effect.signed)

    def mean(chosen: Sequence[list[int]]) -> float | None:
        values = [value for group in chosen for value in group]
        return sum(values) / len(values) if values else None

    return Direction(sum(map(len, groups.values())), bootstrap(list(groups.values()), mean, seed=seed))


class MemorisationTask:
    """Frequency of operators beside what their substitution costs. Implements `Task`."""

    id = "memorisation"
    title = "does the rarer operator cost more?"
    needs = frozenset({Need.COMPLETE, Need.SANDBOX, Need.TESTS})

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
        frequency = corpus_frequencies(request.corpus, cancel=request.cancel)
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
            raise CounterlensError("no if-else could be flipped and judged", reasons or None)
        rows = [_row(found, frequency, pair, request.seed) for pair in PAIRS]
        shown = [row for row in rows if row[4] or row[6]]
        table = Table(
            "complementary operators",
            ("A", "B", "ratio", "in the corpus", "n A→B", "drop A→B", "n B→A", "drop B→A"),
            tuple(shown),
            "ratio: how much more frequent A is than B in the corpus; drop: correct completions lost when "
            "one takes the other's place, as a share of the judged pairs (Hooda et al. 2024, Table 3)",
        )
        return Result(
            task=self.id,
            title=f"{len(found)} flipped if-else in {len({one.target for one in found})} functions, "
            f"operators counted in {request.corpus}",
            model=request.model.info,
            summary=_summary(shown),
            tables=(table,),
            left_out=dict(left_out),
            data={
                "corpus": request.corpus,
                "frequency": frequency,
                "substitutions": [_plain(one) for one in found],
            },
        )


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


def _row(
    found: Sequence[Substitution], frequency: dict[str, float], pair: tuple[str, str], seed: int
) -> tuple[Cell, ...]:
    a, b = sorted(pair, key=lambda name: (-frequency.get(name, 0), pair.index(name)))
    there, back = direction(found, a, b, seed=seed), direction(found, b, a, seed=seed)
    counts = frequency.get(a, 0), frequency.get(b, 0)
    ratio = counts[0] / counts[1] if counts[1] else None
    return a, b, ratio, f"{counts[0]:.0f} : {counts[1]:.0f}", there.n, there.drop, back.n, back.drop


def _summary(rows: Sequence[tuple[Cell, ...]]) -> str:
    both = [
        (row[5], row[7])
        for row in rows
        if isinstance(row[5], Estimate) and isinstance(row[7], Estimate) and row[4] and row[6]
    ]
    if not both:
        return "No pair of operators was replaced in both directions, so nothing can be compared."
    more = sum((there.value or 0) > (back.value or 0) for there, back in both)
    return (
        f"In {more} of {len(both)} pairs that were replaced in both directions, putting the rarer operator "
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


def _without_names(message: str, qualname: str) -> str:
    """A reason that is the same for all functions."""
    return message.replace(qualname, "a function").partition(" (")[0]
