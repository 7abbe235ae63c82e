"""Records of the execution probes: the answers about calls, and the functions that a model wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from msgspec import UNSET, UnsetType

from counterlens.attribution.base import Judgement
from counterlens.probes.execution.inputs import Origin
from counterlens.probes.prompts.literals import ABSOLUTE, RELATIVE, AnswerOutcome
from counterlens.probes.record import Record


class Form(StrEnum):
    """The version of a program to ask about."""

    STANDING = "as it stands"
    UNROLLED = "unrolled"  # its loops written out, for this input
    OWN = "own"  # as the model itself wrote it


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two equal floats may be apart."""

    relative: float = RELATIVE
    absolute: float = ABSOLUTE


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionAnswer:
    """The answer to the question what a call gives.

    Attributes:
        target: The function, as its record calls it.
        call: The call.
        input: Its origin.
        form: Which text of the program was shown.
        truth: The result of the call, as a literal.
        type: The class of that.
        style: How it was asked, see `STYLES`.
        said: The model's answer.
        finish: `stop` or `length`, as in `Completion`.
        answer: The literal in it; None if there is none.
        outcome: Whether it is right (Liu et al. 2024, equation 1).
        unread: Why there is no literal; None if there is one.
        same_type: Whether the literal is of the class of the truth.
        tags: The constructs of the function, see `Features`; these five are None if it does not parse.
        uses: Its kinds of operators and calls.
        apis: Its callees.
        complexity: Its cyclomatic complexity.
        lines: Its lines as they are shown, without blank ones.
        rounds: How often the bodies of all loops ran together; None if that could not be seen.
    """

    target: str
    call: str
    input: Origin
    form: Form
    truth: str
    type: str
    style: str
    said: str
    finish: str
    answer: str | None
    outcome: AnswerOutcome
    unread: str | None
    same_type: bool
    tags: tuple[str, ...] | None
    uses: tuple[str, ...] | None
    apis: tuple[str, ...] | None
    complexity: int | None
    lines: int | None
    rounds: int | None

    @property
    def right(self) -> bool:
        """Whether it is right."""
        return self.outcome is AnswerOutcome.RIGHT

    @property
    def truncated(self) -> bool:
        """Whether the limit of tokens ended it before its answer: it counts as neither right nor wrong."""
        return self.outcome is AnswerOutcome.TRUNCATED


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRecord(Record):
    """The model's answer on the result of a call of one function.

    Attributes:
        tolerance: How far two equal floats may be apart.
        answers: The answers, by style; first those about the unchanged function.
    """

    tolerance: Tolerance = Tolerance()
    answers: tuple[ExecutionAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """A function as a model wrote it, judged by the function's tests.

    Attributes:
        target: The function, as its record calls it.
        call: The call that is asked about.
        input: Its origin.
        program: The whole source with what the model wrote.
        finish: `stop` or `length`, as in `Completion`.
        judged_by: The judge, such as `3 doctests`.
        judgement: The judgement.
        failed: The case that failed; empty if none did.
        correct: Whether it passed.
        unasked: Why it is not asked about although it passed; empty if it is.
        complexity: Its cyclomatic complexity; None if it does not parse.
        reference_complexity: That of the unchanged function.
        s_der: The dependent execution reasoning score by style (Liu et al. 2024, equation 2).
    """

    target: str
    call: str
    input: Origin
    program: str
    finish: str
    judged_by: str
    judgement: Judgement
    failed: str
    correct: bool
    unasked: str
    complexity: int | None
    reference_complexity: int | None
    s_der: Mapping[str, int]

    @property
    def truncated(self) -> bool:
        """Whether the limit of tokens ended it before it could pass: it is neither right nor wrong."""
        return self.finish == "length" and not self.correct


@dataclass(frozen=True, slots=True, kw_only=True)
class DependentExecutionRecord(Record):
    """A model's implementation of one function, and its answers on this code and on the reference.

    Attributes:
        tolerance: How far two equal floats may be apart.
        translated_from: The id of the language that the function was translated from; unset if it was
            written from a description.
        syntheses: Its text; one.
        answers: The answers about the reference and about its own code.
    """

    tolerance: Tolerance = Tolerance()
    translated_from: str | UnsetType = UNSET
    syntheses: tuple[Synthesis, ...]
    answers: tuple[ExecutionAnswer, ...]


@dataclass(frozen=True, slots=True)
class SpecifiedProgram:
    """A program that a model wrote from one specification, run on one input.

    Attributes:
        passed: Whether it gives what the specification showed; where that showed nothing, what is right.
        gave: Its output, as a literal; None if it gives none.
        failed: Why it gives none.
        finish: `stop` or `length`, as in `Completion`.
        program: The whole source.
    """

    passed: bool
    gave: str | None
    failed: str | None
    finish: str
    program: str

    @property
    def truncated(self) -> bool:
        """Whether the limit of tokens ended it before it could pass: it is neither right nor wrong."""
        return self.finish == "length" and not self.passed


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecifiedFunction:
    """A function that a model wrote without a test, with one, and with a misleading one.

    Attributes:
        target: The function, as its record calls it.
        call: The call of the test.
        input: Its origin.
        gives: The output of the reference, as a literal.
        misleading: The wrong output of the misleading test.
        specification: The description without examples; the program to translate, if there is one.
        lines_of_examples_removed: How many lines were taken out of the description.
        settings: The programs, by the ids of `SETTINGS`.
        s_sr: The specification reasoning score (Liu et al. 2024, equation 5).
    """

    target: str
    call: str
    input: Origin
    gives: str
    misleading: str
    specification: str
    lines_of_examples_removed: int
    settings: Mapping[str, SpecifiedProgram]
    s_sr: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecificationRecord(Record):
    """A model's implementations of one function from three specifications.

    Attributes:
        tolerance: How far two equal floats may be apart.
        translated_from: As in `DependentExecutionRecord`.
        functions: The function; one.
    """

    tolerance: Tolerance = Tolerance()
    translated_from: str | UnsetType = UNSET
    functions: tuple[SpecifiedFunction, ...]


@dataclass(frozen=True, slots=True)
class StateAnswer:
    """The answer to the question what a variable is at one point of an execution.

    Attributes:
        line: The line that has just run, 1-based.
        times: How often it has.
        variable: The variable.
        truth: Its value, as a literal.
        said: The model's answer.
        finish: `stop` or `length`, as in `Completion`.
        answer: The literal in it; None if there is none.
        outcome: Whether it is right.
        unread: Why there is no literal; None if there is one.
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

    @property
    def right(self) -> bool:
        """Whether it is right."""
        return self.outcome is AnswerOutcome.RIGHT

    @property
    def truncated(self) -> bool:
        """Whether the answer is truncated, as `ExecutionAnswer.truncated`."""
        return self.outcome is AnswerOutcome.TRUNCATED


@dataclass(frozen=True, slots=True, kw_only=True)
class CoherenceCall(ExecutionAnswer):
    """The answer about the output of a call, and those about states on the way.

    Attributes:
        states: The answers about states, in the order in which they come about.
    """

    states: tuple[StateAnswer, ...]

    @property
    def states_right(self) -> bool:
        """Whether all states are right."""
        return all(state.right for state in self.states)

    @property
    def unended(self) -> bool:
        """Whether any of its answers was truncated, so that the two cannot be compared."""
        return self.truncated or any(state.truncated for state in self.states)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoherenceRecord(Record):
    """The model's answers on the output and the states of a call of one function.

    Attributes:
        tolerance: How far two equal floats may be apart.
        calls: The call; one.
    """

    tolerance: Tolerance = Tolerance()
    calls: tuple[CoherenceCall, ...]
