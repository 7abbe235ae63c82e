"""Versions of one function beside each other: what each does with the same inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class VersionOutcome:
    """What one version does with one input.

    Attributes:
        text: The outcome in words, such as `returned 3`, `raised KeyError` or `did not end (time)`.
        returned: Whether it returned a value.
        group: The index of the first version with the same outcome for this input: results, classes of
            exceptions, changed arguments and printed text are compared. None if the outcome cannot be
            compared: it reached a limit, or another call of the same input did otherwise.
    """

    text: str
    returned: bool
    group: int | None

    @property
    def is_none(self) -> bool:
        """Whether it returned None, as a version does that has no answer for an input."""
        return self.text == "returned None"


@dataclass(frozen=True, slots=True)
class InputOutcomes:
    """What all versions do with one input.

    Attributes:
        call: The call, as text that can be pasted.
        given: Whether the input comes from an example, from the code, or from the caller; else it was drawn.
        outcomes: One for each version; the first is that of the document itself.
        like_given: Whether it is like the given inputs, argument by argument; None if none is given, and
            false then for an argument of which docstrings seldom speak, such as an empty one or NaN.
    """

    call: str
    given: bool
    outcomes: tuple[VersionOutcome, ...]
    like_given: bool | None = True


class FurtherInputs(Protocol):
    """Runs the versions on more inputs, so that one that shows a difference can be made simpler."""

    def simpler(self, call: str) -> Sequence[str]:
        """Calls one step simpler than one of the inputs, the simplest first; none if it is not known."""

    def outcomes(self, calls: Sequence[str], versions: Sequence[int]) -> tuple[InputOutcomes, ...]:
        """What some versions, by index, do with calls that `simpler` gave.

        Raises:
            SandboxError, Cancelled: as `Sandbox.run`.
        """


@dataclass(frozen=True, slots=True)
class VersionRuns:
    """What versions of a function do with many inputs.

    Attributes:
        inputs: The inputs, given ones first.
        troubles: For each version, the document itself first, why it could not be called (to the end); None
            if it was.
        further: Runs them on simpler inputs; None if there are none.
    """

    inputs: tuple[InputOutcomes, ...]
    troubles: tuple[str | None, ...]
    further: FurtherInputs | None = field(default=None, compare=False)
