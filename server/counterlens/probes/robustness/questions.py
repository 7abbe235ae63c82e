"""Options and questions of the robustness probes, and their result on one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from counterlens.models.base import Prompt
from counterlens.probes.common_options import (
    DEFAULT_MAP_TIMEOUT,
    DEFAULT_TIMEOUT,
    ExcludedTests,
    MapTimeout,
    MaxTokens,
    Mutations,
    Timeout,
    Without,
)
from counterlens.probes.options import PromptedOptions, protocols
from counterlens.probes.record import Record
from counterlens.probes.robustness.published import EMPICA
from counterlens.probes.robustness.versions import Code, CodeOption, Standing, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessOptions(PromptedOptions):
    """Options of the robustness probes; there is no prefix ratio, because functions are not cut."""

    mutations: Mutations = ()
    without: Without = ()
    code: CodeOption = Code.GIVEN
    max_tokens: MaxTokens = 64
    timeout: Timeout = DEFAULT_TIMEOUT
    map_timeout: MapTimeout = DEFAULT_MAP_TIMEOUT
    excluded_tests: ExcludedTests = ()
    protocol: Annotated[str | None, protocols(EMPICA)] = None


@dataclass(frozen=True, slots=True)
class VersionQuestion:
    """The question about a program, and the same question about one version of it.

    Attributes:
        standing: The kind of the version; with a call, its kind for this call.
        call: The call in the question, if any.
        original: The question about the unchanged program.
    """

    version: Version
    standing: Standing
    call: str | None
    original: Prompt
    changed: Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPair:
    """The answers about a program and about one version of it.

    Attributes:
        target: The name of the program: the given function, its buggy variant, or the model's implementation.
        correct: Whether the program passes its tests; None if unknown.
        mutation: The id of the mutation.
        line: The line of the change, 1-based.
        preserving: Whether the mutation should keep the meaning.
        standing: The kind of the version; with a call, its kind for this call.
        call: The call in the question, if any.
        original: The answer about the unchanged program.
        similarity: The similarity of the two answers, 0 to 1, by the name of the measure.
        copied: Number of the two answers, 0 to 2, that repeat a worked example of the prompt.
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
    copied: int = 0

    @property
    def published(self) -> Standing:
        """The kind of the version as in the paper: it follows from the operator; nothing is run."""
        return Standing.PRESERVING if self.preserving else Standing.BREAKING


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessRecord(Record):
    """The answers about one function and its versions.

    Attributes:
        note: A note on the similarities.
        measures: The names of the similarities, the main one first.
        passed: Whether the model's own implementation passes the function's tests; False if it is not a
            function; None if no implementation was requested, or there are no tests.
    """

    note: str
    measures: tuple[str, ...]
    pairs: tuple[AnswerPair, ...]
    passed: bool | None = None
