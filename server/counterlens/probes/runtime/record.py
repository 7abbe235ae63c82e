"""Records of the runtime task: the answers about the lines, the output and the input of a call."""

from __future__ import annotations

from dataclasses import dataclass, field

from counterlens.probes.execution.record import (
    ExecutionAnswer,
    OutcomeAnswer,
    OutputChoice,
    Tolerance,
)
from counterlens.probes.prompts.literals import AnswerOutcome
from counterlens.probes.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class LineAnswer:
    """The answer to the question whether a line runs.

    Attributes:
        line: The line, 1-based.
        yes: Whether the model says so; None if the answer is neither yes nor no.
        probability: The probability of yes; None if the model gives none.
    """

    line: int
    truth: bool
    yes: bool | None
    probability: float | None = None

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.yes is self.truth


@dataclass(frozen=True, slots=True)
class StateAnswer(OutcomeAnswer):
    """The answer to a question about the value of a variable at one point of an execution.

    Attributes:
        line: The line that has just run, 1-based.
        times: The number of runs of the line so far.
        truth: Its value, as a literal.
        said: The model's text.
        finish: `stop` or `length`, as in `Completion`.
        answer: The literal in the text; None if there is none.
        outcome: Whether the answer is right.
        unread: Why there is no literal; None if there is one.
        copied: As in `ExecutionAnswer`.
    """

    line: int
    times: int
    variable: str
    truth: str
    said: str
    finish: str
    answer: str | None
    outcome: AnswerOutcome
    unread: str | None
    copied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLineAnswer:
    """The answer to the question which line runs next, by the numbers in the question; 0: it returns.

    Attributes:
        line: The line that has just run, 1-based in the document.
        times: The number of its runs so far.
        said: The model's text.
        answer: The number that it names; None if it names none.
        asked: The number of the line that has just run.
        candidates: The numbers of the lines of the body, and 0.
        logprobs: The log-probability of each, in nats, given that one of them is the answer; empty if the
            model gives none.
    """

    line: int
    times: int
    truth: int
    said: str
    answer: int | None
    asked: int = 0
    candidates: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.answer == self.truth


@dataclass(frozen=True, slots=True, kw_only=True)
class SoughtInput:
    """The answer to the question for an input that gives an output; any that gives it is right.

    Attributes:
        said: The model's text.
        call: The call in it; None if there is none with literal arguments.
        gave: The output of this call; None if it fails.
        right: Whether it is the wanted one.
    """

    output: str
    said: str
    call: str | None
    gave: str | None
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeCall(ExecutionAnswer):
    """The answers about the output and the states of a call, and about its lines.

    Attributes:
        states: The answers about intermediate states, in execution order.
        covered: Whether lines run; over all calls of the function, as many run as not.
        next_lines: Which lines run next, after those of the states; empty if the trace does not tell.
        sought: An input for the output; None if none can be asked for.
        chosen: The output, among others; None if other calls have the same, or the model gives no
            probabilities.
    """

    states: tuple[StateAnswer, ...]
    covered: tuple[LineAnswer, ...]
    next_lines: tuple[NextLineAnswer, ...]
    sought: SoughtInput | None
    chosen: OutputChoice | None = None

    @property
    def states_right(self) -> bool:
        """Whether the answers about all states are right."""
        return all(state.right for state in self.states)

    @property
    def unended(self) -> bool:
        """Whether an answer was truncated, so that output and states cannot be compared."""
        return self.truncated or any(state.truncated for state in self.states)

    @property
    def ladders(self) -> list[tuple[bool, ...]]:
        """What is right for each state, from the easiest: the line runs, its state, the next, the output."""
        runs = {each.line: each.right for each in self.covered}
        following = {(each.line, each.times): each.right for each in self.next_lines}
        chains = (
            (runs.get(state.line), state.right, following.get((state.line, state.times)), self.right)
            for state in self.states
        )
        return [tuple(right for right in chain if right is not None) for chain in chains]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeRecord(Record):
    """The model's answers about what happens during some calls of one function.

    Attributes:
        tolerance: The tolerances within which two floats are equal.
        calls: The calls, at least one, those that tell most first.
    """

    tolerance: Tolerance = field(default_factory=Tolerance)
    calls: tuple[RuntimeCall, ...]
