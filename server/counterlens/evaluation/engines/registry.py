"""The engines. To add one: a file whose class implements `EvaluationEngine`, and a line in `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from counterlens.evaluation.engines.base import EvaluationEngine
from counterlens.evaluation.engines.local import LocalEngine
from counterlens.evaluation.engines.ray.engine import RayEngine
from counterlens.sandbox.base import Sandbox


@dataclass(frozen=True, slots=True)
class Where:
    """The location of an engine's work; each engine uses the parts that apply to it.

    Attributes:
        address: Address of a cluster; None for one of this machine alone.
        replicas: Number of replicas of each model; None for one per node.
        warn: Called with each node that is left out, and why.
    """

    address: str | None = None
    replicas: int | None = None
    warn: Callable[[str], None] = lambda _: None


LOCAL = "local"
ENGINES: Mapping[str, Callable[[Sandbox, Where], EvaluationEngine]] = {
    LOCAL: lambda sandbox, _: LocalEngine(sandbox),
    "ray": lambda sandbox, where: RayEngine(sandbox, where.address, where.replicas, where.warn),
}
