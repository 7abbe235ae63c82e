"""Everything that can be probed, by name: what the faces list, with the reason where something cannot."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event

from counterlens.models.base import Capability, Model
from counterlens.probes.registry import BENCHABLE
from counterlens.probes.task import Need

ALL = "all"
"""Stands for every task."""

_CAPABILITIES = {
    Need.SCORE: Capability.SCORE,
    Need.COMPLETE: Capability.COMPLETE,
    Need.EMBED: Capability.EMBED,
}
_RUNS = frozenset({Need.SANDBOX, Need.TESTS})


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing that can be probed.

    Attributes:
        id: What the user types.
        title: What it finds out, in a few words.
        needs: What it needs beside the source.
    """

    id: str
    title: str
    needs: frozenset[Need]

    @property
    def runs(self) -> bool:
        """Whether it runs programs."""
        return bool(self.needs & _RUNS)

    def missing_of(self, model: Model, *, cancel: Event | None = None) -> str | None:
        """Why a model cannot be asked this; None where it can.

        Raises:
            ModelError, Cancelled: as `Model.offers`.
        """
        for need, capability in _CAPABILITIES.items():
            if need in self.needs and not model.offers(capability, cancel=cancel):
                return f"{model.info.name} gives no {need}"
        return None

    def missing_beside(self, *, trusted: bool, corpus: str | None) -> str | None:
        """Why it cannot be asked here, whatever the model; None where it can.

        Args:
            trusted: Whether code of the workspace may be run.
            corpus: Where operators are counted.
        """
        if self.runs and not trusted:
            return "it runs code, and this workspace is not trusted"
        if Need.CORPUS in self.needs and not corpus:
            return "no corpus is named to count operators in"
        return None


OFFERS = {task.id: Offer(task.id, task.title, task.needs) for task in BENCHABLE.values()}
"""The tasks in the order in which they are listed and run."""
