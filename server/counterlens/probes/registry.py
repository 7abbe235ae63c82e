"""All probes, by id. To add one: write its file, and add it here; or give a package an entry point."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from counterlens.errors import CounterlensError
from counterlens.plugins import Registry
from counterlens.probes.probe import Probe

ALL = "all"
"""The name for every probe."""

_PLACES = {
    "completion": "counterlens.probes.pairs.completion:CompletionProbe",
    "repair": "counterlens.probes.pairs.repair:RepairProbe",
    "likelihood": "counterlens.probes.pairs.likelihood:LikelihoodProbe",
    "recognition": "counterlens.probes.recognition.probe:RecognitionProbe",
    "confidence": "counterlens.probes.confidence.probe:ConfidenceProbe",
    "operator": "counterlens.probes.operator.probe:OperatorProbe",
    "memorisation": "counterlens.probes.operator.memorisation:MemorisationProbe",
    "embedding": "counterlens.probes.robustness.embedding:EmbeddingProbe",
    "execution": "counterlens.probes.execution.independent:ExecutionProbe",
    "dependent-execution": "counterlens.probes.execution.dependent:DependentExecutionProbe",
    "specification": "counterlens.probes.execution.specification:SpecificationProbe",
    "runtime": "counterlens.probes.runtime.probe:RuntimeProbe",
    "equivalence": "counterlens.probes.equivalence.probe:EquivalenceProbe",
    "localisation": "counterlens.probes.localisation.probe:LocalisationProbe",
    "reading": "counterlens.probes.reading.probe:ReadingProbe",
    "dependence": "counterlens.probes.dependence.probe:DependenceProbe",
    "summary": "counterlens.probes.robustness.answers:SummaryProbe",
    "name": "counterlens.probes.robustness.answers:NameProbe",
    "output": "counterlens.probes.robustness.answers:OutputProbe",
    "reference": "counterlens.probes.reference.probe:ReferenceProbe",
}

PROBES: Registry[Probe[Any, Any]] = Registry(
    "counterlens.probes", places=_PLACES, name=lambda probe: probe.id, kind=Probe
)


def probe_named(name: str) -> Probe[Any, Any]:
    """The probe with an id.

    Raises:
        CounterlensError: there is no such probe.
    """
    _require([name], PROBES)
    return PROBES[name]


def choose(names: Iterable[str]) -> list[Probe[Any, Any]]:
    """The probes with some ids, in registry order; `all` means every probe.

    Raises:
        CounterlensError: there is no such probe.
    """
    wanted = list(names)
    _require(wanted, [*PROBES, ALL])
    return [PROBES[name] for name in PROBES if ALL in wanted or name in wanted]


def _require(names: Iterable[str], available: Collection[str]) -> None:
    unknown = [name for name in names if name not in available]
    if unknown:
        raise CounterlensError(f"there is no task {', '.join(unknown)}", f"Available: {', '.join(available)}")
