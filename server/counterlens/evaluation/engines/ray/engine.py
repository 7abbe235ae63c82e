"""The engine of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Event, Lock
from typing import Any, Self

from counterlens.errors import Cancelled, SandboxError
from counterlens.evaluation.engines.base import fitting, open_model, options_of
from counterlens.evaluation.engines.ray.cluster import HERE, Lost, RayCluster, Warn
from counterlens.evaluation.engines.ray.inside import Errand, Misfit, run_program
from counterlens.evaluation.engines.ray.replicas import Replicas
from counterlens.evaluation.settings import RunSettings
from counterlens.models.base import Model, ModelInfo, Progress
from counterlens.models.registry import runs_here
from counterlens.models.wrapped import ForwardingModel
from counterlens.sandbox.base import Job, JobOutcome, Sandbox, ServedProgram
from counterlens.sandbox.following import follow
from counterlens.sandbox.serving import Conversation

_RETRIES = 4  # a program whose node is lost runs on another; its outcome is a value, so none counts twice


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
    def programs(self) -> int:
        """One program per processor of the cluster."""
        return sum(node.processors for node in self._connected().nodes())

    def open(self, spec: str, settings: RunSettings) -> Model:
        """Like `Engine.open`.

        Raises:
            CounterlensError: as `RayCluster`; ModelError: as `Replicas`.
        """
        if not runs_here(spec, settings.entries):
            return open_model(spec, settings)
        replicas = Replicas(self._connected(), spec, options_of(spec, settings), self._replicas, self._warn)
        return fitting(RayModel(replicas), settings)

    def why_apart(self, specs: Sequence[str], settings: RunSettings) -> str:
        on_nodes = [spec for spec in specs if runs_here(spec, settings.entries)]
        return "a model takes all nodes of the cluster" if len(on_nodes) > 1 else ""

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


class RayModel(ForwardingModel):
    """Thread-safe; it reports progress only at the end."""

    def __init__(self, replicas: Replicas) -> None:
        self._replicas = replicas

    @property
    def info(self) -> ModelInfo:
        """Identity of the model."""
        return self._replicas.info

    @property
    def together(self) -> int:
        """Like `Model.together`, of all replicas."""
        return self._replicas.together

    def _forward(
        self,
        method: str,
        *asked: Any,
        cancel: Event | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> Any:
        answer = self._replicas.ask(method, *asked, cancel=cancel, **options)
        if progress:
            progress(len(answer), len(answer))
        return answer

    def close(self) -> None:
        """Close the replicas."""
        self._replicas.close()


class RaySandbox:
    """Implements `counterlens.sandbox.base.Sandbox`. Thread-safe.

    Args:
        cluster: Returns the cluster, when a program is to run.
        local: The sandbox of this machine; those of the nodes must be as strong.
    """

    def __init__(self, cluster: Callable[[], RayCluster], local: Sandbox) -> None:
        self._cluster, self._local = cluster, local

    @property
    def name(self) -> str:
        """The id of the back end."""
        return self._local.name

    @property
    def guarantees(self) -> tuple[tuple[str, bool], ...]:
        """The isolation of this machine; a node that isolates less is not used."""
        return self._local.guarantees

    @follow
    def run(self, job: Job, *, cancel: Event | None = None) -> JobOutcome:
        """Run one job to its end, on some node.

        Raises:
            SandboxError: the node's sandbox could not be set up, several nodes were lost in turn, or no
                suitable node is left.
            Cancelled: `cancel` was set.
        """
        cluster = self._cluster()
        errand = Errand.of(job)
        while True:
            outcome = self._sent(cluster, errand, cancel)
            if isinstance(outcome, JobOutcome):
                return outcome
            cluster.leave_out(outcome.node, outcome.why)

    def serve(self, service: ServedProgram) -> Conversation:
        """Like `Sandbox.serve`, on this machine: a conversation has pipes, which a node has not."""
        return self._local.serve(service)

    def _sent(self, cluster: RayCluster, errand: Errand, cancel: Event | None) -> JobOutcome | Misfit:
        ref = self._task.options(**cluster.fitting()).remote(errand, cluster.here)
        try:
            outcome: JobOutcome | Misfit = cluster.settled(ref, cancel)
        except Cancelled:
            cluster.ray.cancel(ref)
            raise
        except Lost as lost:
            raise SandboxError(f"the nodes that ran a program were lost: {lost}") from lost
        return outcome

    @cached_property
    def _task(self) -> Any:
        task = self._cluster().ray.remote(num_cpus=1, max_retries=_RETRIES, scheduling_strategy="SPREAD")
        return task(run_program)
