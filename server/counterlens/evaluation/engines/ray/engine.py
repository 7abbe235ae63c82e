"""The engine of a Ray cluster."""

from __future__ import annotations

from threading import Lock
from typing import Self

from counterlens.evaluation.engines.base import fitting, opened, options_of
from counterlens.evaluation.engines.ray.cluster import HERE, RayCluster, Warn
from counterlens.evaluation.engines.ray.model import RayModel
from counterlens.evaluation.engines.ray.replicas import Replicas
from counterlens.evaluation.engines.ray.sandbox import RaySandbox
from counterlens.evaluation.settings import RunSettings
from counterlens.models.base import Model
from counterlens.models.registry import runs_here
from counterlens.sandbox.base import Sandbox

_MOST_JOBS = 64


class RayEngine:
    """Work on a Ray cluster: implements `EvaluationEngine`, and connects when work begins.

    A model behind an endpoint gets its requests from this process: neither its key nor its prompts pass
    through another machine. Only programs then run on the nodes.

    Args:
        local: The sandbox of this machine.
        address: Address of the cluster, see `RayCluster`; None for one of this machine alone.
        replicas: Number of replicas of each model; None for one per node.
        warn: Called with each node that is left out, and why.
    """

    def __init__(
        self,
        local: Sandbox,
        address: str | None = None,
        replicas: int | None = None,
        warn: Warn = lambda _: None,
    ) -> None:
        self._address, self._replicas, self._warn = address or HERE, replicas, warn
        self._sandbox = RaySandbox(self._connected, local)
        self._lock = Lock()
        self._cluster: RayCluster | None = None

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox on the nodes."""
        return self._sandbox

    @property
    def jobs(self) -> int:
        """One item per replica, and one per processor."""
        nodes = self._connected().nodes()
        return min((self._replicas or len(nodes)) + sum(node.processors for node in nodes), _MOST_JOBS)

    def open(self, spec: str, settings: RunSettings) -> Model:
        """Like `Engine.open`.

        Raises:
            CounterlensError: as `RayCluster`; ModelError: as `Replicas`.
        """
        if not runs_here(spec, settings.entries):
            return opened(spec, settings)
        replicas = Replicas(self._connected(), spec, options_of(spec, settings), self._replicas, self._warn)
        return fitting(RayModel(replicas), settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._cluster:
            self._cluster.close()

    def _connected(self) -> RayCluster:
        with self._lock:
            if self._cluster is None:
                self._cluster = RayCluster(self._address, self._warn)
            return self._cluster
