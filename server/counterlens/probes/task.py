"""What every probe offers to the faces: a task is run on functions, and its result is tables and plain data.

Results say what they are made of, so that a new probe needs no code in reports: tables are drawn on any face,
`data` is what `--json` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Protocol, runtime_checkable

from counterlens.attribution.base import LIMITS
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Model, ModelInfo
from counterlens.models.sentences import SentenceEncoder
from counterlens.mutations.cuts import PREFIX_RATIO, Ratio
from counterlens.probes.options import MAX_TOKENS
from counterlens.probes.probe import Need, Target
from counterlens.progress import ProgressCallback as Report
from counterlens.sandbox.base import Limits, Sandbox

__all__ = [
    "MAX_TOKENS",
    "Cell",
    "Comparing",
    "Need",
    "Report",
    "Request",
    "Result",
    "Table",
    "Target",
    "Task",
]


@dataclass(frozen=True, slots=True)
class Request:
    """What a task is run with; each task takes what it needs.

    Attributes:
        model: Who is asked.
        targets: The functions.
        sandbox: Gives the sandbox, where programs have to run.
        seed: Of every choice.
        windows: Also with less context around a gap.
        corpus: Files or a dataset, whose frequencies a figure is set beside.
        method: How it is found out, where a task knows several ways; None for the best that the model allows.
        mutations: Ids of mutations, where a task leaves the choice; none means all that preserve.
        without: Assumptions that no counterfactual may rest on.
        prefix_ratio: Which part of a function stays before a cut, or its range.
        max_tokens: At most so many new tokens a completion.
        limits: What a program may use together with its tests.
        unroll: Also with loops unrolled.
        encoder: Compares sentences; None for the small one that can be installed beside.
        code: Which programs are asked about, where a task knows several: `given`, `buggy`, `written`.
        cancel: Set it to give up.
        report: Called with what is being done.
    """

    model: Model
    targets: Sequence[Target]
    sandbox: Callable[[], Sandbox]
    seed: int = 0
    windows: bool = False
    corpus: str | None = None
    method: str | None = None
    mutations: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    prefix_ratio: Ratio = PREFIX_RATIO
    max_tokens: int = MAX_TOKENS
    limits: Limits = LIMITS
    unroll: bool = False
    encoder: SentenceEncoder | None = None
    code: str = "given"
    cancel: Event | None = None
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a task found.

    Attributes:
        task: The id of the task.
        title: What was probed.
        model: Who was asked.
        summary: What it means, in a sentence or two.
        tables: The figures.
        left_out: How many sites, functions or answers do not count, by reason.
        data: Everything, as plain data.
    """

    task: str
    title: str
    model: ModelInfo
    summary: str
    tables: tuple[Table, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)


class Task(Protocol):
    """A probe: one file, and one line in `probes/registry.py`.

    What `run` finds is plain data; `tables` makes figures of the data of any number of runs, such as those
    of the functions of an evaluation, one by one.
    """

    @property
    def id(self) -> str:
        """What the user types."""
        ...

    @property
    def title(self) -> str:
        """What it finds out, in a few words."""
        ...

    @property
    def needs(self) -> frozenset[Need]:
        """What it needs; the faces say what is missing before anything is asked."""
        ...

    def run(self, request: Request) -> Result:
        """Probe the targets.

        Raises:
            SourceError: a target cannot be probed.
            ModelError, SandboxError: the model or the sandbox failed.
            Cancelled: `request.cancel` was set.
        """
        ...

    def tables(self, found: Sequence[Mapping[str, Any]], *, seed: int) -> tuple[Table, ...]:
        """The figures over the `Result.data` of some runs: the same as of one run over all their targets.

        Args:
            found: One or more; they have been through JSON.
            seed: Of intervals.
        """
        ...

    def measures(self, data: Mapping[str, Any]) -> Mapping[str, bool]:
        """What the `Result.data` of one function says, yes or no: what two runs are compared by."""
        ...

    def asks(self, request: Request) -> int:
        """About how many prompts, or texts to score, the targets need; nothing is asked or run for it.

        Raises:
            SourceError: a target cannot be probed.
        """
        ...


@runtime_checkable
class Comparing(Protocol):
    """A task with figures that need several models at once, such as those on what all of them did right."""

    def across(self, models: Mapping[str, Sequence[Mapping[str, Any]]], *, seed: int) -> tuple[Table, ...]:
        """The figures over the `Result.data` of several models, by their names.

        Args:
            models: The data of each, function by function.
            seed: Of intervals.
        """
        ...
