"""Code that runs on the nodes: a replica of a model, a program in a sandbox, facts about the node.

Errors with messages for users are returned as values, so that a node's are the same as this machine's.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import Event, Lock
from typing import Any

import counterlens
from counterlens.errors import CounterlensError
from counterlens.evaluation.manifest import package_versions
from counterlens.models.base import Capability, Model, ModelInfo
from counterlens.models.registry import Options, load
from counterlens.sandbox.base import Job, JobOutcome
from counterlens.sandbox.registry import best_sandbox, choose

HELP = "docs/clusters.md lists the requirements of a node"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Facts that must be the same on every node, because records depend on them.

    Attributes:
        versions: Versions of Counterlens, Python and the packages of a manifest, by name.
        sandbox: The sandbox back end.
        isolates: What it isolates.
    """

    versions: tuple[tuple[str, str | None], ...]
    sandbox: str
    isolates: frozenset[str]

    @classmethod
    def here(cls) -> Circumstances:
        """The facts of this process.

        Raises:
            SandboxError: programs cannot run here.
        """
        best = choose()
        versions: dict[str, str | None] = {
            "counterlens": counterlens.__version__,
            "python": platform.python_version(),
        }
        versions |= package_versions()
        return cls(
            tuple(versions.items()), best.name, frozenset(what for what, held in best.guarantees if held)
        )

    def misfits(self, node: Circumstances) -> list[str]:
        """The differences of a node, in words; missing packages are ignored."""
        here = dict(self.versions)
        differences = [
            f"{name} is {there}, here {here[name] or 'not installed'}"
            for name, there in node.versions
            if there is not None and there != here[name]
        ]
        if node.sandbox != self.sandbox:
            differences.append(f"its sandbox is {node.sandbox}, here {self.sandbox}")
        elif lacks := sorted(self.isolates - node.isolates):
            differences.append(f"its sandbox does not isolate {', '.join(lacks)}")
        return differences


@dataclass(frozen=True, slots=True)
class Misfit:
    """A program that did not run, because its node is not as required.

    Attributes:
        node: Ray's id of the node.
        why: The differences of the node.
    """

    node: str
    why: str


@dataclass(frozen=True, slots=True)
class Errand:
    """One program to run on a node.

    Attributes:
        own_python: Whether its interpreter is that of Counterlens, at whatever path on a node.
        present: Files that it reads outside its folder, and its interpreter: they must exist on a node.
    """

    job: Job
    own_python: bool
    present: tuple[Path, ...]

    @classmethod
    def of(cls, job: Job) -> Errand:
        """Create an errand from a job."""
        own = job.python == Path(sys.executable)
        needed = [*job.readable, *([] if own else [job.python])]
        return cls(job, own, tuple(path for path in needed if path.exists()))


def describe_node() -> Circumstances | CounterlensError:
    """The facts of this node."""
    try:
        return Circumstances.here()
    except CounterlensError as error:
        return error


def run_program(errand: Errand, here: Circumstances) -> JobOutcome | Misfit | CounterlensError:
    """Run a program in this node's sandbox.

    Args:
        here: The required facts, which a node that joined late may lack.
    """
    import ray

    try:
        missing = [f"it has no {path}" for path in errand.present if not path.exists()]
        if wrong := _unfit(here) or "; ".join(missing[:1]):
            return Misfit(ray.get_runtime_context().get_node_id(), wrong)
        job = replace(errand.job, python=Path(sys.executable)) if errand.own_python else errand.job
        return best_sandbox().run(job)
    except CounterlensError as error:
        return error


@cache
def _unfit(here: Circumstances) -> str:
    return "; ".join(here.misfits(Circumstances.here()))


class Replica:
    """One model in one process of a node. Its methods are called by several callers at the same time.

    Args:
        spec: The model, as this node finds it.
        options: How to open it.
    """

    def __init__(self, spec: str, options: Options) -> None:
        self._spec, self._options = spec, options
        self._model: Model | None = None
        self._lock, self._loading = Lock(), Lock()
        self._withdrawn: dict[int, Event] = {}

    def open(self) -> tuple[ModelInfo, int] | CounterlensError:
        """Load the model, and return its identity, and how many requests it answers at the same time."""
        try:
            self._loaded().offers(Capability.EXACT)  # so that it can be compared with the others
            return self._loaded().info, self._loaded().together
        except CounterlensError as error:
            return error

    def ask(self, number: int, method: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call a method of the model that takes a `cancel`; returns its result, or the error that it raised.

        Args:
            number: Number of the call, for `withdraw`.
            method: Name of the method.
            arguments: Positional arguments.
            options: Named arguments.
        """
        try:
            return getattr(self._loaded(), method)(*arguments, cancel=self._event(number), **options)
        except CounterlensError as error:
            return error
        finally:
            with self._lock:
                self._withdrawn.pop(number, None)

    def withdraw(self, number: int) -> None:
        """Cancel a call, even before it has begun."""
        self._event(number).set()

    def close(self) -> None:
        """Close the model."""
        if self._model is not None:
            self._model.close()

    def _loaded(self) -> Model:
        with self._loading:
            if self._model is None:
                self._model = load(self._spec, self._options)
            return self._model

    def _event(self, number: int) -> Event:
        with self._lock:
            return self._withdrawn.setdefault(number, Event())
