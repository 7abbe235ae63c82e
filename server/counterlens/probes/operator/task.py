"""The operator probe as a task: what is asked, and how it is told."""

from __future__ import annotations

from collections import Counter
from typing import Any

from counterlens.errors import SourceError
from counterlens.probes.operator import tables
from counterlens.probes.operator.frequency import corpus_frequencies
from counterlens.probes.operator.pairs import ROWS
from counterlens.probes.operator.scoring import OperatorDistribution
from counterlens.probes.operator.study import COMPLETE, AskedPair, Study, study
from counterlens.probes.task import Need, Request, Result


class OperatorTask:
    """Masked operators. Implements `counterlens.probes.task.Task`."""

    id = "operator"
    title = "does it know which operator belongs where?"
    needs = frozenset({Need.SCORE})

    def run(self, request: Request) -> Result:
        """As `Task.run`.

        Raises:
            SourceError: no target has an operator.
            And as `study`.
        """
        found = study(request)
        if not found.operators:
            raise SourceError("there are no operators to ask about", "Name another function or file")
        frequency = corpus_frequencies(request.corpus) if request.corpus else tables.frequencies(found)
        shown = [
            tables.listing(found),
            tables.families(found, frequency, request.seed),
            tables.changes(found, request.seed) if found.pairs else None,
            tables.windows(found, request.seed),
            tables.operators(found, frequency, request.seed) if len(found.operators) >= tables.FEW else None,
        ]
        left_out: Counter[str] = Counter()
        for row, reasons in found.left_out.items():
            left_out.update({f"{ROWS[row].title}: {reason}": count for reason, count in reasons.items()})
        return Result(
            task=self.id,
            title=f"{len(found.operators)} operators in {', '.join(found.targets[:3])}"
            + (f" and {len(found.targets) - 3} more" if len(found.targets) > 3 else ""),
            model=request.model.info,
            summary=_summary(found),
            tables=tuple(table for table in shown if table is not None),
            left_out=dict(left_out),
            data=_data(found, frequency, request),
        )


def _summary(found: Study) -> str:
    known = tables.share([one.distribution for one in found.operators])
    parts = [f"Of {known.n} operators the model would have written {known.count} as they stand."]
    pairs = [
        pair for pair in found.pairs if pair.window == COMPLETE and pair.row in {"operand-swap", "block-swap"}
    ]
    if pairs:
        both, once = sum(pair.both for pair in pairs), sum(pair.original.correct for pair in pairs)
        parts.append(
            f"Where the code was rewritten with the same meaning, it knew {once} of {len(pairs)} before and "
            f"{both} of those {once} after as well."
        )
    doubted = [
        one.distribution
        for one in found.operators
        if not one.distribution.correct and one.distribution.probability.max() >= tables.PREFERRED
    ]
    if doubted:
        first = doubted[0]
        parts.append(
            f"Look at line {first.site.line}: in `{first.site.text}` it strongly prefers `{first.predicted}`."
        )
    return " ".join(parts)


def _data(found: Study, frequency: dict[str, float], request: Request) -> dict[str, Any]:
    return {
        "targets": list(found.targets),
        "seed": request.seed,
        "corpus": request.corpus,
        "frequency": frequency,
        "operators": [{"target": one.target, **_distribution(one.distribution)} for one in found.operators],
        "pairs": [_pair(pair) for pair in found.pairs],
    }


def _pair(pair: AskedPair) -> dict[str, Any]:
    return {
        "target": pair.target,
        "change": pair.row,
        "window": {"before": pair.window.before, "after": pair.window.after},
        "original": _distribution(pair.original),
        "transformed": _distribution(pair.transformed),
        "both": pair.both,
    }


def _distribution(one: OperatorDistribution) -> dict[str, Any]:
    site = one.site
    return {
        "line": site.line,
        "start": site.start,
        "end": site.end,
        "family": str(site.family),
        "operator": site.operator,
        "predicted": one.predicted,
        "correct": one.correct,
        "entropy": one.entropy,
        "probability": {
            name: float(p) for name, p in zip(site.candidates, one.probability.tolist(), strict=True)
        },
    }
