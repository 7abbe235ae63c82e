"""`ComparingJudge`: the common base of judges by differential execution, for any language."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Event, Lock
from typing import Generic, TypeVar

from counterlens.attribution.base import Agreement, Comparison, Verdict
from counterlens.counting import plural

ID = "differential"
FEWEST = 3
"""Minimum number of inputs on which the original must return."""
UNSTEADY = 0.05
"""Maximum share of the inputs on which a second run of the original may give another result."""
_KEPT = 128

OriginalT = TypeVar("OriginalT")


@dataclass(frozen=True, slots=True)
class Untestable:
    """The reason why a function cannot be judged by its behaviour on inputs."""

    reason: str


@dataclass(frozen=True, slots=True)
class Distinction:
    """The smallest input found on which a program behaves differently from the original.

    Attributes:
        call: The call, as text.
        original: The behaviour of the original.
        other: The behaviour of the program.
        apart: Number of inputs that distinguish them.
        tried: Number of inputs that were tried.
        refused: Whether the original refuses every input that distinguishes them: it raises.
    """

    call: str
    original: str
    other: str
    apart: int
    tried: int
    refused: bool = False

    @property
    def comparison_text(self) -> str:
        """Both results, and the number of inputs that distinguish them."""
        how_many = f"{self.apart} of {plural(self.tried, 'input')} distinguish them"
        how_many += ", this is the smallest" if self.tried > 1 else ""
        return f"original: {brief(self.original)}\nthis one: {brief(self.other)}\n{how_many}"


class ComparingJudge(ABC):
    """Compares a program with the original, call by call."""

    attribution = ID

    @property
    @abstractmethod
    def tests(self) -> int:
        """The number of inputs."""

    @property
    @abstractmethod
    def share(self) -> float:
        """The share of the original that they reach; 0 if unknown."""

    @property
    @abstractmethod
    def reached(self) -> str:
        """The part of the original that they reach, such as `3 of 4 branches`."""

    @abstractmethod
    def judge(self, program: str, *, cancel: Event | None = None) -> Verdict:
        """Compare a program with the original; see `Judge.judge`."""

    def compare(self, program: str, *, cancel: Event | None = None) -> Comparison:
        """What the original says about a program; arguments and errors as for `judge`."""
        verdict = self.judge(program, cancel=cancel)
        evidence = verdict.evidence
        if verdict.passed:
            return Comparison(Agreement.AGREES, evidence.tests)
        return Comparison(Agreement.DIFFERS, evidence.tests, evidence.failed, other=brief(evidence.message))

    @property
    def basis(self) -> str:
        """The number of inputs, and the part of the original that they reach."""
        return f"{plural(self.tests, 'input')} reach {self.reached} of the original"

    @property
    def described(self) -> str:
        """A description of the judge, with its number of inputs and what they reach."""
        return f"{plural(self.tests, 'input')} (differential execution, {self.reached} reached)"


class Studies(Generic[OriginalT]):
    """The studied behaviour of functions, cached for the most recently used ones."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, OriginalT | Untestable] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Hashable, study: Callable[[], OriginalT | Untestable]) -> OriginalT | Untestable:
        """The cached result for a key, else the result of `study`; exceptions are not cached."""
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
    """A result, truncated if it is long."""
    return text if len(text) <= 160 else f"{text[:157]}..."
