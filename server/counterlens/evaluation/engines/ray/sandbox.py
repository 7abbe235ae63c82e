"""The sandbox of the cluster: each program is a task on a node with a free processor."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from threading import Event
from typing import Any

from counterlens.errors import Cancelled, SandboxError
from counterlens.evaluation.engines.ray.cluster import Lost, RayCluster
from counterlens.evaluation.engines.ray.inside import Errand, Misfit, run_program
from counterlens.sandbox.base import Job, JobOutcome, Sandbox
from counterlens.sandbox.following import followed

_RETRIES = 4  # a program whose node is lost runs on another; its outcome is a value, so none counts twice


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

    @followed
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
