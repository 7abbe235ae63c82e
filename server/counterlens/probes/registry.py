"""All probes, by id. To add one: write its file, and name it here; or give a package an entry point."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from counterlens.errors import CounterlensError
from counterlens.plugins import Registry
from counterlens.probes.confidence import ConfidenceProbe
from counterlens.probes.dependence.probe import DependenceProbe
from counterlens.probes.embedding import EmbeddingTask
from counterlens.probes.execution.coherence import CoherenceProbe
from counterlens.probes.execution.dependent import DependentExecutionProbe
from counterlens.probes.execution.independent import ExecutionProbe
from counterlens.probes.execution.specification import SpecificationProbe
from counterlens.probes.legacy import LegacyProbe
from counterlens.probes.operator.memorisation import MemorisationProbe
from counterlens.probes.operator.probe import OperatorProbe
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.likelihood import LikelihoodProbe
from counterlens.probes.pairs.repair import RepairProbe
from counterlens.probes.probe import Probe
from counterlens.probes.understanding.asking import QUESTIONS
from counterlens.probes.understanding.task import UnderstandingTask

ALL = "all"
"""Stands for every probe."""

_BUILT_IN: tuple[Probe[Any, Any], ...] = (
    CompletionProbe(),
    RepairProbe(),
    LikelihoodProbe(),
    ConfidenceProbe(),
    OperatorProbe(),
    MemorisationProbe(),
    LegacyProbe(EmbeddingTask()),
    ExecutionProbe(),
    DependentExecutionProbe(),
    SpecificationProbe(),
    CoherenceProbe(),
    DependenceProbe(),
    *map(LegacyProbe, map(UnderstandingTask, QUESTIONS)),
)

PROBES: Registry[Probe[Any, Any]] = Registry(
    "counterlens.probes", _BUILT_IN, name=lambda probe: probe.id, kind=Probe
)


def chosen(names: Iterable[str]) -> list[Probe[Any, Any]]:
    """The probes of some ids, in the order of all; `all` stands for every one.

    Raises:
        CounterlensError: there is no such probe.
    """
    wanted = list(names)
    unknown = [name for name in wanted if name not in PROBES and name != ALL]
    if unknown:
        raise CounterlensError(
            f"there is no task {', '.join(unknown)}", f"There are: {', '.join(PROBES)}, {ALL}"
        )
    return [probe for probe in PROBES.values() if ALL in wanted or probe.id in wanted]
