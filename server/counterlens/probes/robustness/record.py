"""The result of a robustness probe (summary, name, output) on one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from counterlens.probes.record import Record
from counterlens.probes.robustness.versions import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPair:
    """The answers about a program and about one version of it.

    Attributes:
        target: The program: the function as it is given, with its bug, or as the model writes it.
        correct: Whether the program passes its tests; None if that is not known.
        mutation: The change.
        line: Where, 1-based.
        preserving: Whether the mutation should keep the meaning.
        standing: The kind of the version; with a call, its kind for this call.
        call: The call that was asked about, if any.
        original: The answer about the unchanged program.
        answer: The answer about the version.
        similarity: How alike they are, 0 to 1, by the name of the measure.
    """

    target: str
    correct: bool | None
    mutation: str
    line: int
    preserving: bool
    standing: Standing
    call: str | None
    original: str
    answer: str
    similarity: Mapping[str, float]

    @property
    def published(self) -> Standing:
        """The kind of the version in the paper: by the operator alone, nothing is run."""
        return Standing.PRESERVING if self.preserving else Standing.BREAKING


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessRecord(Record):
    """The answers about one function and its versions.

    Attributes:
        note: A note on the similarities.
        measures: The names of the similarities, the one that counts first.
        pairs: The answers, version by version.
        passed: Whether what the model itself wrote of the function passes its tests, which it does not where
            it is no function; None if it was not asked to write it, or there are no tests.
    """

    note: str
    measures: tuple[str, ...]
    pairs: tuple[AnswerPair, ...]
    passed: bool | None = None
