"""The operator probe as a task: what is asked, and how it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from counterlens.counting import plural
from counterlens.errors import SourceError
from counterlens.probes.operator import records, tables
from counterlens.probes.operator.filling import filled, filled_table, fills
from counterlens.probes.operator.frequency import Corpus, read_corpus, written
from counterlens.probes.operator.pairs import ROWS
from counterlens.probes.operator.scoring import OperatorDistribution
from counterlens.probes.operator.study import COMPLETE, Study, study, texts
from counterlens.probes.task import Need, Request, Result, Table


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
        frequency = tables.frequencies(found)
        if request.corpus:
            corpus = read_corpus(request.corpus, cancel=request.cancel)
            found, frequency = _searched(found, corpus), corpus.frequency
        data = {
            **records.plain(found),
            "seed": request.seed,
            "corpus": request.corpus,
            "frequency": frequency,
        }
        if fills(request.model):
            data["filled"] = filled(request)
        left_out: Counter[str] = Counter()
        for row, reasons in found.left_out.items():
            left_out.update({f"{ROWS[row].title}: {reason}": count for reason, count in reasons.items()})
        return Result(
            task=self.id,
            title=f"{plural(len(found.operators), 'operator')} in {', '.join(found.targets[:3])}"
            + (f" and {len(found.targets) - 3} more" if len(found.targets) > 3 else ""),
            model=request.model.info,
            summary=_summary(found),
            tables=self.tables([data], seed=request.seed),
            left_out=dict(left_out),
            data=data,
        )

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:
        """As `Task.tables`; chance goes by the frequencies in the corpus, or in all the functions."""
        pooled, frequency = records.study_of(found), records.frequencies(found)
        if frequency is None:
            return ()
        shown = [
            tables.listing(pooled),
            tables.families(pooled, frequency, seed),
            tables.changes(pooled, seed) if pooled.pairs else None,
            tables.stays_or_changes(pooled, seed),
            tables.exchanged(pooled, frequency, seed),
            tables.windows(pooled, seed),
            tables.familiar(pooled),
            filled_table([row for one in found for row in one.get("filled", ())]),
            tables.operators(pooled, frequency, seed) if len(pooled.operators) >= tables.FEW else None,
        ]
        return tuple(table for table in shown if table is not None)

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:
        """As `Task.measures`."""
        complete = [one for one in data["pairs"] if one["window"] == {"before": None, "after": None}]
        found = {"all operators known": all(one["correct"] for one in data["operators"])}
        if complete:
            found["all known before and after changes"] = all(one["both"] for one in complete)
        return found

    def asks(self, request: Request) -> int:
        """As `Task.asks`: one text for each candidate of each gap."""
        return texts(request)


def _searched(found: Study, corpus: Corpus) -> Study:
    """A study with each pair's operations searched for in a corpus."""

    def known(one: OperatorDistribution) -> bool:
        return written(one.site) in corpus.operations

    pairs = tuple(
        replace(pair, found=(known(pair.original), known(pair.transformed))) for pair in found.pairs
    )
    return replace(found, pairs=pairs)


def _summary(found: Study) -> str:
    known = tables.share([(one.target, one.distribution) for one in found.operators])
    parts = [f"Of {plural(known.n, 'operator')} the model would have written {known.count} as they stand."]
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
