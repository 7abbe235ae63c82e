"""The result of the operator probe on one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from counterlens.probes.operator.forms import SwapForm, is_published
from counterlens.probes.record import Record
from counterlens.syntax.operators import Family


@dataclass(frozen=True, slots=True)
class Window:
    """How much the model sees of what surrounds a gap, in lexical tokens; None for all of it."""

    before: int | None
    after: int | None

    def __str__(self) -> str:
        if self.after is None:
            return "complete"
        return f"±{self.after}" if self.before else f"+{self.after}"


COMPLETE = Window(None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorAnswer:
    """An operator, and what the model believes of it.

    Attributes:
        line: Its line, 1-based.
        start: Its first byte.
        end: The byte behind it.
        span: The bytes of the operation.
        text: The operation, such as `a < b`.
        family: Which operators could stand there.
        operator: The one that does.
        predicted: The likeliest.
        correct: Whether that is the existing one.
        entropy: In nats, over the candidates.
        candidates: The alternatives.
        logprob: The log-probability of the text with each candidate, in nats.
        probability: Its share of the probability of all candidates.
        nll: The negative log-likelihood of the existing operator, in nats, among the candidates and given
            both sides: what Ahmed et al. 2024, section 4.3, call entropy. None in records of before.
        surprisal: The same of its own tokens over the whole vocabulary, given only what stands before them.
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
        """The share of the likeliest."""
        return self.probability[self.predicted]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorPair:
    """An operator before and after a change that keeps the meaning, and what the model believes of both.

    Attributes:
        change: The id of the change, see `CHANGES`.
        window: How much was seen.
        original: Before.
        transformed: After.
        both: Whether the model knew both operators.
        found: Whether the operation before, and that after, stand in the corpus; None without one.
        form: The construct that the operator of a swap decides; None of other changes, and in records of
            before.
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
    def exchanged(self) -> bool:
        """Whether another operator stands there after the change."""
        return self.original.operator != self.transformed.operator

    @property
    def complete(self) -> bool:
        """Whether everything around the gap was seen."""
        return self.window == COMPLETE


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledGap:
    """The operator that a model writes into a gap, given both sides.

    Attributes:
        line: The line of the gap, 1-based.
        family: Which operators could stand there.
        operator: The one that does.
        said: The model's text.
        written: The operator that this begins with; None if it is no candidate.
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
        frequency: How often each operator stands there.
        operators: Every operator, as the function stands.
        pairs: Operators before and after changes.
        filled: The filled-in operator, for models that fill in the middle.
    """

    corpus: str | None
    frequency: Mapping[str, float]
    operators: tuple[OperatorAnswer, ...]
    pairs: tuple[OperatorPair, ...]
    filled: tuple[FilledGap, ...] = ()
