"""The result of the operator probe on one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from counterlens.probes.operator.forms import SwapForm, is_published
from counterlens.probes.record import Record
from counterlens.syntax.operators import Family


@dataclass(frozen=True, slots=True)
class Window:
    """The context of a gap before and after it, in lexical tokens; None for all of it."""

    before: int | None
    after: int | None

    def __str__(self) -> str:
        if self.after is None:
            return "complete"
        return f"±{self.after}" if self.before else f"+{self.after}"


COMPLETE = Window(None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorAnswer:
    """An operator, and the model's belief about it.

    Attributes:
        line: Its line, 1-based.
        start: Its first byte.
        end: The byte after its last.
        span: The bytes of the operation.
        text: The operation, such as `a < b`.
        family: The family of candidate operators.
        operator: The existing operator.
        predicted: The likeliest operator.
        correct: Whether the likeliest operator is the existing one.
        entropy: Entropy over the candidates, in nats.
        logprob: The log-probability of the text with each candidate, in nats.
        probability: The share of each candidate in the probability of all of them.
        nll: The negative log-likelihood of the existing operator, in nats, among the candidates and given
            both sides: called entropy by Ahmed et al. 2024, section 4.3. None in older records.
        surprisal: The negative log-likelihood of its own tokens over the whole vocabulary, in nats, given
            only the text before them.
    """

    line: int
    start: int
    end: int
    span: tuple[int, int]
    text: str
    family: Family
    operator: str
    predicted: str
    correct: bool
    entropy: float
    candidates: tuple[str, ...]
    logprob: Mapping[str, float]
    probability: Mapping[str, float]
    nll: float | None = None
    surprisal: float | None = None

    @property
    def expected(self) -> float:
        """The share of the existing operator."""
        return self.probability[self.operator]

    @property
    def highest(self) -> float:
        """The share of the likeliest operator."""
        return self.probability[self.predicted]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorPair:
    """An operator before and after a change that keeps the meaning, and the model's beliefs about both.

    Attributes:
        change: The id of the change, see `CHANGES`.
        both: Whether the model knew both operators.
        found: Whether the operations before and after are in the corpus; None without a corpus.
        form: The construct that the operator of a swap decides; None for other changes, and in older records.
    """

    change: str
    window: Window
    original: OperatorAnswer
    transformed: OperatorAnswer
    both: bool
    found: tuple[bool, bool] | None = None
    form: SwapForm | None = None

    @property
    def published(self) -> bool:
        """Whether Ahmed et al. 2024 have such pairs."""
        return is_published(self.form, self.original.family)

    @property
    def changes_operator(self) -> bool:
        """Whether the operator after the change is another one."""
        return self.original.operator != self.transformed.operator

    @property
    def complete(self) -> bool:
        """Whether the model saw the whole context."""
        return self.window == COMPLETE


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledGap:
    """The operator that a model writes into a gap, given both sides.

    Attributes:
        line: The line of the gap, 1-based.
        family: The family of candidate operators.
        operator: The existing operator.
        said: The model's text.
        written: The candidate that the text begins with; None if it begins with none.
    """

    line: int
    family: Family
    operator: str
    said: str
    written: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRecord(Record):
    """The operators of one function.

    Attributes:
        corpus: The corpus of the counts, as the user named it; None for the function itself.
        frequency: Count of each operator there.
        operators: Every operator of the unchanged function.
        pairs: Operators before and after changes.
        filled: The filled-in operators, for fill-in-the-middle models.
    """

    corpus: str | None
    frequency: Mapping[str, float]
    operators: tuple[OperatorAnswer, ...]
    pairs: tuple[OperatorPair, ...]
    filled: tuple[FilledGap, ...] = ()
