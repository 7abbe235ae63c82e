"""The replicas of one model on the nodes of a cluster: the least busy one, and substitutes for lost ones."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Condition, Event
from typing import Any

from counterlens.errors import Cancelled, CounterlensError, ModelError
from counterlens.evaluation.engines.ray.cluster import Lost, Node, RayCluster, Warn
from counterlens.evaluation.engines.ray.inside import Replica
from counterlens.models.base import COMPLETIONS, Capability, ModelInfo
from counterlens.models.registry import Options

_ATTEMPTS = 5  # a call whose replica is lost is repeated on another one
_CALLERS = 64  # threads of a replica: more than it answers at the same time
_POLL_SECONDS = 0.25
_LOOK_AGAIN = 10.0  # seconds between searches for nodes if replicas are missing


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """A replica and its node."""

    handle: Any
    node: Node


class Replicas:
    """Replicas of a model, each used by as many callers as it answers at the same time. Thread-safe.

    A lost replica is replaced if there is room: no node gets more replicas than in the beginning, unless all
    others are gone.

    Args:
        spec: The model, as the user named it.
        options: How to open it.
        count: Number of replicas; None for one per node.
        warn: Called with each node that cannot open the model, and why.

    Raises:
        ModelError: no node can open the model, or the models differ.
    """

    def __init__(
        self, cluster: RayCluster, spec: str, options: Options, count: int | None, warn: Warn
    ) -> None:
        self._cluster, self._spec, self._options, self._warn = cluster, spec, options, warn
        self._numbers = itertools.count()
        self._changed = Condition()
        self._free = Counter[_Placed]()
        self._each = 1
        self._all: list[_Placed] = []
        self._unable: set[str] = set()
        self._looked = time.monotonic()
        self._closed = False
        self._info: ModelInfo | None = None
        self._refused: CounterlensError | None = None  # why the last node could not open it
        nodes = cluster.nodes()
        self._count = count or len(nodes)
        self._a_node = -(-self._count // max(len(nodes), 1))
        try:
            self._admit(self._places(self._count), None)
            if not self._all:
                raise self._none_left()
        except BaseException:
            self.close()
            raise

    @property
    def info(self) -> ModelInfo:
        """Identity of the models, which is the same on every node."""
        if self._info is None:
            raise self._none_left()
        return self._info

    @property
    def together(self) -> int:
        """How many requests all of them answer at the same time."""
        return self._count * self._each

    def ask(self, method: str, *arguments: Any, cancel: Event | None = None, **options: Any) -> Any:
        """Call a method of the model on a replica that is free for it; if that is lost, on another one.

        Args:
            method: Name of the method.
            arguments: Positional arguments.
            options: Named arguments.

        Raises:
            CounterlensError: as the method; ModelError: several replicas were lost in turn.
        """
        lost = Lost()
        for _ in range(_ATTEMPTS):
            with self._free_replica(cancel) as replica:
                number = next(self._numbers)
                ref = replica.handle.ask.options(concurrency_group="asking").remote(
                    number, method, arguments, options
                )
                try:
                    return self._cluster.settled(ref, cancel)
                except Cancelled:
                    replica.handle.withdraw.options(concurrency_group="control").remote(number)
                    raise
                except Lost as error:
                    lost = error
                    self._forget(replica)
        raise ModelError(f"the nodes that the model ran on were lost: {lost}")

    def close(self) -> None:
        """Close all replicas."""
        with self._changed:
            self._closed = True
            gone, self._all = self._all, []
            self._free.clear()
            self._changed.notify_all()
        for replica in gone:
            self._cluster.ray.kill(replica.handle)

    @contextmanager
    def _free_replica(self, cancel: Event | None) -> Iterator[_Placed]:
        """The least busy replica, which counts one more caller while the context lasts."""
        while True:
            self._make_up(cancel)
            with self._changed:
                if self._closed:
                    raise ModelError("this model was closed")
                replica = max(self._free, key=self._free.__getitem__, default=None)
                if replica is not None and self._free[replica]:
                    self._free[replica] -= 1
                    break
                self._changed.wait(_POLL_SECONDS)
            if cancel is not None and cancel.is_set():
                raise Cancelled
        try:
            yield replica
        finally:
            with self._changed:
                if replica in self._all:
                    self._free[replica] += 1
                self._changed.notify()

    def _forget(self, replica: _Placed) -> None:
        with self._changed:
            if replica in self._all:
                self._all.remove(replica)
                del self._free[replica]
            self._looked = 0.0  # replace it at once
            self._changed.notify_all()
        self._warn(f"a model on the node {replica.node.name} was lost; its requests are repeated")
        self._cluster.ray.kill(replica.handle)  # it may only be unreachable

    def _make_up(self, cancel: Event | None) -> None:
        """Start missing replicas, if there are nodes; one thread does so, the others continue."""
        with self._changed:
            missing = self._count - len(self._all)
            if self._closed or not missing or time.monotonic() - self._looked < _LOOK_AGAIN:
                return
            self._looked = time.monotonic()
        self._admit(self._places(missing), cancel)
        if not self._all and not self._closed:
            raise self._none_left()

    def _places(self, count: int) -> list[Node]:
        """Nodes for `count` more replicas, those with the fewest first."""
        nodes = [node for node in self._cluster.nodes() if node.id not in self._unable]
        with self._changed:
            taken = Counter(replica.node.id for replica in self._all)
        chosen: list[Node] = []
        for _ in range(count):
            node = min(nodes, key=lambda candidate: taken[candidate.id], default=None)
            if node is None or (taken[node.id] >= self._a_node and (self._all or chosen)):
                break
            taken[node.id] += 1
            chosen.append(node)
        return chosen

    def _admit(self, nodes: Sequence[Node], cancel: Event | None) -> None:
        """Open a replica on each of some nodes in parallel, and add the successful ones."""
        make = self._cluster.ray.remote(num_cpus=0, concurrency_groups={"control": 1, "asking": _CALLERS})(
            Replica
        )
        spec = _absolute(self._spec)
        opening = []
        for node in nodes:
            handle = make.options(scheduling_strategy=self._cluster.on(node)).remote(spec, self._options)
            opening.append((_Placed(handle, node), handle.open.remote()))
        try:
            while opening:
                placed, ref = opening[0]
                if self._opened(placed, ref, cancel):
                    with self._changed:
                        self._all.append(placed)
                        self._free[placed] = self._each
                        self._changed.notify()
                del opening[0]
        finally:
            for placed, _ in opening:
                self._cluster.ray.kill(placed.handle)

    def _opened(self, placed: _Placed, ref: Any, cancel: Event | None) -> bool:
        """Whether a replica could be opened, and is the same model as the others."""
        node = placed.node
        try:
            info, self._each = self._cluster.settled(ref, cancel)
            self._agree(replace(info, id=self._spec))
        except Cancelled:
            raise
        except CounterlensError as error:
            self._unable.add(node.id)
            self._refused = ModelError(f"on the node {node.name}: {error.message}", error.hint)
            self._warn(f"no model on the node {node.name}: {error}")
        except Lost as error:
            self._warn(f"no model on the node {node.name}: {error}")
        else:
            return True
        self._cluster.ray.kill(placed.handle)
        return False

    def _agree(self, info: ModelInfo) -> None:
        if self._info is None:
            self._info = info
        elif (info.identity, info.context) != (self._info.identity, self._info.context):
            raise ModelError(
                f"its {self._spec} differs from the model on the other nodes",
                "Use the same file on all nodes",
            )
        elif (info.decoding, info.device) != (self._info.decoding, self._info.device):
            # other builds, processors and devices round differently
            details = tuple((name, value) for name, value in info.details if name != COMPLETIONS)
            self._info = replace(
                self._info,
                capabilities=self._info.capabilities - {Capability.EXACT},
                details=(*details, (COMPLETIONS, "not exact")),
                decoding="",
            )

    def _none_left(self) -> CounterlensError:
        return self._refused or ModelError(
            "all nodes that the model ran on were lost", "Check the cluster: ray status"
        )


def _absolute(spec: str) -> str:
    """A model name that is valid in any folder: a file, or an export, by its absolute path."""
    kind = "onnx:" if spec.startswith("onnx:") else ""
    path = Path(spec.removeprefix(kind)).expanduser()
    return f"{kind}{path.resolve()}" if path.is_file() or (kind and path.is_dir()) else spec
