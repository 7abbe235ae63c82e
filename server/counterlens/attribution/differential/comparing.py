"""`ComparingJudge`: what judges by differential execution share, whatever the language."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Event, Lock
from typing import Generic, TypeVar

from counterlens.attribution.base import Strength, Verdict
from counterlens.counting import plural

ID = "differential"
ENOUGH_INPUTS, ENOUGH_REACH = 30, 0.9
"""With fewer inputs, or a smaller share of the original that they reach, the evidence is weak."""
FEWEST = 3
"""Inputs on which the original must return."""
UNSTEADY = 0.05
"""The share of the inputs on which it may give something else when it is tried again."""
_KEPT = 128

OriginalT = TypeVar("OriginalT")


@dataclass(frozen=True, slots=True)
class Untestable:
    """Why a function cannot be judged by what it does on inputs."""

    reason: str


@dataclass(frozen=True, slots=True)
class Distinction:
    """An input on which a program does something else than the original, the smallest that was found.

    Attributes:
        call: The call, as it is written.
        original: What the original does.
        other: What the program does.
        apart: How many inputs distinguish them.
        tried: Of how many.
    """

    call: str
    original: str
    other: str
    apart: int
    tried: int

    @property
    def told(self) -> str:
        """Both results, and how many inputs distinguish them."""
        how_many = f"{self.apart} of {plural(self.tried, 'input')} distinguish them"
        how_many += ", this is the smallest" if self.tried > 1 else ""
        return f"original: {brief(self.original)}\nthis one: {brief(self.other)}\n{how_many}"


class ComparingJudge(ABC):
    """Compares a program with the original, call by call."""

    attribution = ID

    @property
    @abstractmethod
    def tests(self) -> int:
        """How many inputs there are."""

    @property
    @abstractmethod
    def share(self) -> float:
        """The share of the original that they reach; 0 if that is not known."""

    @property
    @abstractmethod
    def reached(self) -> str:
        """The part of the original that they reach, such as `3 of 4 branches`."""

    @abstractmethod
    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Compare a program with the original; see `Judge.judge`."""

    @property
    def strength(self) -> Strength:
        """Moderate, or weak if few inputs were found or much of the original missed."""
        enough = self.tests >= ENOUGH_INPUTS and self.share >= ENOUGH_REACH
        return Strength.MODERATE if enough else Strength.WEAK

    @property
    def basis(self) -> str:
        """How many inputs, and which part of the original they reach."""
        text = f"{plural(self.tests, 'input')} reach {self.reached} of the original"
        return text if self.strength is Strength.MODERATE else f"{text}: weak evidence"

    @property
    def described(self) -> str:
        """The judge, with its number of cases and its strength."""
        how = f"differential execution, {self.reached} reached: {self.strength} evidence"
        return f"{plural(self.tests, 'input')} ({how})"


class Studies(Generic[OriginalT]):
    """What functions do, found once and kept for those asked about last."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, OriginalT | Untestable] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Hashable, study: Callable[[], OriginalT | Untestable]) -> OriginalT | Untestable:
        """What was found for a key, or is found now; what raises is not kept."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = study()
        with self._lock:
            self._known[key] = found
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found


def brief(text: str) -> str:
    """A result, cut if it is long."""
    return text if len(text) <= 160 else f"{text[:157]}..."
