"""A Ray cluster: the connection, the selection of nodes, and waiting for results."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event, Lock
from typing import Any

from counterlens.environment import close_environment
from counterlens.errors import Cancelled, CounterlensError, SandboxError
from counterlens.evaluation.engines.ray.inside import HELP, Circumstances, describe_node
from counterlens.processes import OWN_FOLDER

HERE = "local"
"""The address of a cluster of this machine alone, which exists as long as the run."""
_POLL_SECONDS = 0.25
_LOOK_SECONDS = 15.0
_PATIENCE = 90.0  # seconds for nodes to describe themselves
_ANSWERS = 5.0  # seconds within which the head of a cluster must accept a connection
# The HTTP/2 client preface, with empty settings; a Ray head speaks gRPC, and answers with its own settings.
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
_SETTINGS = 4

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Node:
    """A node on which programs run.

    Attributes:
        id: Ray's id of the node.
        name: Its address.
        processors: Number of its processors.
    """

    id: str
    name: str
    processors: int


class RayCluster:
    """A connection to a cluster; one per process.

    Args:
        address: `HOST:PORT` of the head, `auto` for the cluster that this machine is part of, or `HERE`.
        warn: Called with each node that is left out, and why.

    Raises:
        CounterlensError: Ray is not installed, the cluster cannot be reached or is of another version, or
            none of its nodes is suitable; the message gives the reason.
    """

    def __init__(self, address: str, warn: Warn) -> None:
        self._ray = _connect(address)
        self._warn = warn
        self._nodes: dict[str, Node | None] = {}  # by Ray's id, in order of arrival; None: unsuitable
        self._unfit = ""  # why the last unsuitable one is
        self._pending: dict[str, tuple[Node, Any]] = {}  # nodes that have not described themselves yet
        self._lock, self._looking = Lock(), Lock()
        try:
            self.here = Circumstances.here()
            if not self.nodes():
                raise self.none_left()
        except BaseException:
            self.close()
            raise

    @property
    def ray(self) -> Any:
        """The library."""
        return self._ray

    def nodes(self) -> list[Node]:
        """The running nodes that offer processors and are suitable; each is asked once to describe itself."""
        alive = {
            description["NodeID"]: description for description in self._ray.nodes() if description["Alive"]
        }
        able = {
            node: description
            for node, description in alive.items()
            if description["Resources"].get("CPU", 0) >= 1
        }
        with self._looking:
            fresh = [
                Node(node, description["NodeManagerAddress"], int(description["Resources"]["CPU"]))
                for node, description in able.items()
                if node not in self._nodes and node not in self._pending
            ]
            self._look_at(fresh)
        return [known_node for node in able if (known_node := self._nodes.get(node)) is not None]

    def leave_out(self, node: str, why: str) -> None:
        """Exclude a node from further work; the user is notified once.

        Raises:
            SandboxError: no node is left.
        """
        with self._lock:
            entry = self._nodes.get(node)
            announced = node in self._nodes and entry is None
            self._nodes[node] = None
        if not announced:
            self._unfit = f"the node {entry.name if entry else node} is left out: {why}"
            self._warn(self._unfit)
        if not any(self._nodes.values()):
            raise self.none_left()

    def fitting(self) -> dict[str, Any]:
        """The options of a task that may run on any suitable node."""
        unfit = [node for node, entry in list(self._nodes.items()) if entry is None]
        return {"label_selector": {"ray.io/node-id": f"!in({','.join(unfit)})"}} if unfit else {}

    def settled(self, ref: Any, cancel: Event | None) -> Any:
        """Wait for a result; an error with a message is raised.

        Raises:
            Lost: the node or process that worked on it ended.
            CounterlensError: the error, or that no node is left.
            Cancelled: `cancel` was set; the caller must withdraw its request.
        """
        errors = self._ray.exceptions
        try:
            looked = time.monotonic()
            while not self._ray.wait([ref], timeout=_POLL_SECONDS)[0]:
                if cancel is not None and cancel.is_set():
                    raise Cancelled
                if time.monotonic() - looked > _LOOK_SECONDS:  # Ray itself waits for a node that may come
                    looked = time.monotonic()
                    if not self.nodes():
                        raise self.none_left()
            result = self._ray.get(ref)
        except errors.RayTaskError as error:
            raise CounterlensError(f"a node failed: {_last_line(error)}", HELP) from error
        except errors.RayError as error:
            raise Lost(_last_line(error)) from error
        if isinstance(result, CounterlensError):
            raise result
        return result

    def on(self, node: Node) -> Any:
        """Ray's scheduling strategy for this node and no other."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(node.id, soft=False)

    def close(self) -> None:
        """Disconnect from the cluster, which ends this process's work there."""
        self._ray.shutdown()

    def _look_at(self, fresh: Sequence[Node]) -> None:
        """Ask new nodes to describe themselves, and read the descriptions so far; others are read later."""
        ask = self._ray.remote(num_cpus=0, max_retries=0)(describe_node)
        for node in fresh:
            self._pending[node.id] = node, ask.options(scheduling_strategy=self.on(node)).remote()
        if fresh:
            refs = [ref for _, ref in self._pending.values()]
            self._ray.wait(refs, num_returns=len(refs), timeout=_PATIENCE)
        said = {node: ref for node, ref in self._pending.values() if self._ray.wait([ref], timeout=0)[0]}
        self._nodes |= {node.id: node for node in said}
        for node, ref in said.items():
            del self._pending[node.id]
            if wrong := self._wrong_with(ref):
                self.leave_out(node.id, wrong)
        for node in fresh:
            if node.id in self._pending:
                self._warn(f"the node {node.name} does not answer yet")

    def none_left(self) -> SandboxError:
        """The reason why no node can take work."""
        silent = "they do not answer" if self._pending else "none offers a processor"
        why = self._unfit or silent
        return SandboxError(f"no node of the cluster can take work: {why}", HELP)

    def _wrong_with(self, ref: Any) -> str:
        try:
            circumstances = self.settled(ref, None)
        except Lost as lost:
            return str(lost)
        except CounterlensError as error:
            return str(error)
        return "; ".join(self.here.misfits(circumstances))


class Lost(Exception):  # noqa: N818 - an event of the cluster, handled by the code that sent the work
    """A node, or one of its processes, ended with its work unfinished."""


def _connect(address: str) -> Any:
    """The library, connected.

    Raises:
        CounterlensError: as `RayCluster`.
    """
    # No usage data of a run is reported to anybody; both are read when Ray is imported.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise CounterlensError(
            "the engine ray needs the package ray", "pip install 'counterlens[ray]', here and on every node"
        ) from None
    if address not in {HERE, "auto"}:
        _check(address)
    options: dict[str, Any] = {"include_dashboard": False} if address == HERE else {}
    close_environment()  # the processes of a cluster of this machine inherit it
    try:
        with contextlib.chdir(OWN_FOLDER):  # Ray puts the current folder first in the path of its workers
            ray.init(address, logging_level=logging.ERROR, log_to_driver=False, **options)
    except Exception as error:  # Ray has no separate exception class for these failures
        with contextlib.suppress(Exception):
            ray.shutdown()
        raise CounterlensError(*_explain_error(address, error)) from None
    return ray


def _explain_error(address: str, error: Exception) -> tuple[str, str]:
    message = str(error)
    if "ersion mismatch" in message:
        return (
            f"the cluster at {address} has different versions: {' '.join(message.split())[:300]}",
            "Ray and Python must have the same versions here and on every node",
        )
    if address == "auto":
        return (
            "this machine is not part of a running Ray cluster",
            "Start one with ray start, or give the address of its head: --address HOST:PORT; "
            "docs/clusters.md",
        )
    return (
        f"the Ray cluster at {address} cannot be used: {' '.join(message.split())[:300]}",
        "Run the command on a machine of the cluster; docs/clusters.md",
    )


def _check(address: str) -> None:
    """Check whether a cluster's head can be at an address; Ray itself would try for minutes.

    Raises:
        CounterlensError: there is no head there.
    """
    host, colon, port = address.rpartition(":")
    if "://" in address or not colon or not port.isdigit():
        raise CounterlensError(
            f"{address} is not the address of a Ray cluster",
            "Give HOST:PORT of its head, such as 10.0.0.1:6379, on a machine of the cluster; or auto",
        )
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _ANSWERS) as line:
            line.sendall(_HELLO)
            answer = line.recv(9)
    except (OSError, OverflowError) as error:
        raise CounterlensError(
            f"no Ray cluster answers at {address}: {getattr(error, 'strerror', None) or error}",
            "Check that it is running (ray status), and the address of its head; docs/clusters.md",
        ) from None
    if len(answer) < 9 or answer[3] != _SETTINGS:
        raise CounterlensError(
            f"the service at {address} is not a Ray cluster", "Give HOST:PORT of its head; docs/clusters.md"
        )


def _last_line(error: Exception) -> str:
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else type(error).__name__
