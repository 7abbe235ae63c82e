"""Causal effects of a run: estimated once, stored in its folder, and shown by reports while they are valid.

`causal.json` identifies its input by a hash, so that effects estimated from fewer or other records are never
shown beside the run's figures.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from counterlens.atomic_file import replace_file
from counterlens.evaluation.causal import (
    TASK,
    Absent,
    absent_of,
    causal_tables,
    check_enough,
    confidence_records,
    snippets_of,
)
from counterlens.evaluation.results import RunResults
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.causal import SIMULATIONS, ConceptEffect, Refutation, causal_effects
from counterlens.metrics.table import Table
from counterlens.nested_text import read_json
from counterlens.probes.confidence import ConfidenceRecord
from counterlens.probes.record import write_record
from counterlens.progress import ProgressCallback
from counterlens.text import sha256_of

FILE = "causal.json"
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class CausalResults:
    """The effects of every concept, by model.

    Attributes:
        effects: Effects by the name of the model, in the order of the run.
        seed: Random seed of intervals and refutations.
        simulations: Number of runs of each refutation test.
        protocol: The published protocol; empty for Counterlens's own definitions.
        absent: The treatment of concepts that a function lacks.
    """

    effects: Mapping[str, tuple[ConceptEffect, ...]]
    seed: int
    simulations: int
    protocol: str = ""
    absent: Absent = Absent.DROP

    def tables(self, *, side_by_side: bool = True) -> list[Table]:
        """Like `causal_tables`."""
        return causal_tables(
            self.effects,
            seed=self.seed,
            simulations=self.simulations,
            side_by_side=side_by_side,
            protocol=self.protocol,
            absent=self.absent,
        )


def estimate(
    functions: Mapping[str, Iterable[ConfidenceRecord]],
    *,
    seed: int = 0,
    simulations: int = SIMULATIONS,
    absent: Absent | None = None,
    progress: ProgressCallback | None = None,
) -> CausalResults:
    """The effects on the measurements of functions, by model.

    Args:
        functions: The measurements, all with the same protocol.
        seed: Random seed of intervals and refutations.
        simulations: Number of runs of each refutation test.
        absent: The treatment of concepts that a function lacks; None for the one that the protocol fixes, or
            Counterlens's default.
        progress: Called at each concept.

    Raises:
        OptionError: the protocol fixes another treatment of absent concepts.
        DataError: a model has too few functions.
        CounterlensError: DoWhy is not installed.
    """

    def report_concept(concept: str, done: int, total: int) -> None:
        if progress:
            progress(f"estimating the effect of {concept}", done, total)

    by_model = {model: list(of_model) for model, of_model in functions.items()}
    protocol = next((record.protocol for records in by_model.values() for record in records), "")
    chosen = absent_of(protocol, absent)
    effects = {}
    for model, records in by_model.items():
        snippets = snippets_of(records, chosen)
        check_enough(snippets)
        effects[model] = tuple(
            causal_effects(snippets, seed=seed, simulations=simulations, progress=report_concept)
        )
    return CausalResults(effects, seed, simulations, protocol, chosen)


def keep(folder: Path, run: RunResults, estimated: CausalResults) -> bool:
    """Replace the stored effects of a run in its folder; False if it is read-only."""
    document: dict[str, Any] = {"format": _FORMAT, "of": _digest(run), **asdict(estimated)}
    document["checksum"] = _checksum(document)
    try:
        replace_file(folder / FILE, json.dumps(document, indent=1))
    except OSError:
        return False
    return True


def stored_effects(folder: Path, run: RunResults) -> CausalResults | None:
    """The stored effects of a run; None if there are none for its current records."""
    try:
        document = read_json(folder / FILE)
        checksum = document.pop("checksum", None)
        if checksum != _checksum(document) or (document["format"], document["of"]) != (
            _FORMAT,
            _digest(run),
        ):
            return None
        effects = {
            run.label(model): tuple(map(_read, listed)) for model, listed in document["effects"].items()
        }
        return CausalResults(
            effects,
            document["seed"],
            document["simulations"],
            document["protocol"],
            Absent(document["absent"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def with_effects(run: RunResults, estimated: CausalResults, *, side_by_side: bool = True) -> RunResults:
    """A run whose reports show its causal effects.

    Args:
        side_by_side: Whether two models are side by side, as in the paper, if there is room.
    """
    several = len(run.settings.tasks) > 1
    tables = [
        replace(table, title=f"{TASK}: {table.title}") if several else table
        for table in estimated.tables(side_by_side=side_by_side)
    ]
    return replace(run, further=tuple(tables))


def _checksum(document: Mapping[str, Any]) -> str:
    """The checksum of a document, which reveals a damaged file."""
    return sha256_of(json.dumps(document, sort_keys=True))


def _digest(run: RunResults) -> str:
    text = "\n".join(
        write_record(record) for records in confidence_records(run).values() for record in records
    )
    return sha256_of(text)


def _read(entry: Mapping[str, Any]) -> ConceptEffect:
    refutations = {name: Refutation(**values) for name, values in entry["refutations"].items()}
    return ConceptEffect(
        entry["concept"], entry["n"], Estimate(**entry["effect"]), entry["pearson"], refutations
    )
