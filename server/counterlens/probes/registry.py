"""All probes, by id. To add one: write its file, and add it here; or give a package an entry point."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from counterlens.errors import CounterlensError
from counterlens.plugins import Registry
from counterlens.probes.confidence import ConfidenceProbe
from counterlens.probes.dependence.probe import DependenceProbe
from counterlens.probes.equivalence.probe import EquivalenceProbe
from counterlens.probes.execution.coherence import CoherenceProbe
from counterlens.probes.execution.dependent import DependentExecutionProbe
from counterlens.probes.execution.independent import ExecutionProbe
from counterlens.probes.execution.specification import SpecificationProbe
from counterlens.probes.localisation.probe import LocalisationProbe
from counterlens.probes.operator.memorisation import MemorisationProbe
from counterlens.probes.operator.probe import OperatorProbe
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.likelihood import LikelihoodProbe
from counterlens.probes.pairs.repair import RepairProbe
from counterlens.probes.probe import Probe
from counterlens.probes.reading.probe import ReadingProbe
from counterlens.probes.recognition.probe import RecognitionProbe
from counterlens.probes.robustness.answers import NameProbe, OutputProbe, SummaryProbe
from counterlens.probes.robustness.embedding import EmbeddingProbe
from counterlens.probes.runtime.probe import RuntimeProbe

ALL = "all"
"""The name for every probe."""

_BUILT_IN: tuple[Probe[Any, Any], ...] = (
    CompletionProbe(),
    RepairProbe(),
    LikelihoodProbe(),
    RecognitionProbe(),
    ConfidenceProbe(),
    OperatorProbe(),
    MemorisationProbe(),
    EmbeddingProbe(),
    ExecutionProbe(),
    DependentExecutionProbe(),
    SpecificationProbe(),
    CoherenceProbe(),
    RuntimeProbe(),
    EquivalenceProbe(),
    LocalisationProbe(),
    ReadingProbe(),
    DependenceProbe(),
    SummaryProbe(),
    NameProbe(),
    OutputProbe(),
)

PROBES: Registry[Probe[Any, Any]] = Registry(
    "counterlens.probes", _BUILT_IN, name=lambda probe: probe.id, kind=Probe
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
    return [probe for probe in PROBES.values() if ALL in wanted or probe.id in wanted]


def _require(names: Iterable[str], known: Collection[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise CounterlensError(f"there is no task {', '.join(unknown)}", f"Available: {', '.join(known)}")
