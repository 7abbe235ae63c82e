"""Records of the execution probes: the answers about calls, and the functions that a model wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from msgspec import UNSET, UnsetType

from counterlens.judging.base import Judgement
from counterlens.probes.execution.printing import Origin
from counterlens.probes.prompts.literals import ABSOLUTE, RELATIVE, AnswerOutcome
from counterlens.probes.record import Record


class Form(StrEnum):
    """The version of the program in a question."""

    STANDING = "as it stands"
    UNROLLED = "unrolled"  # with its loops unrolled for this input
    OWN = "own"  # written by the model itself
    MUTATED = "mutated"  # changed without changing its results


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The tolerances within which two floats are equal."""

    relative: float = RELATIVE
    absolute: float = ABSOLUTE


class OutcomeAnswer:
    """An answer with an outcome."""

    __slots__ = ()
    outcome: AnswerOutcome

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.outcome is AnswerOutcome.RIGHT

    @property
    def truncated(self) -> bool:
        """Whether the token limit ended the text before the answer: it is neither right nor wrong."""
        return self.outcome is AnswerOutcome.TRUNCATED


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionAnswer(OutcomeAnswer):
    """The answer to a question about the result of a call.

    Attributes:
        target: The name of the function, as in `Record.target`.
        form: The version of the program in the question.
        truth: The result of the call, as a literal.
        type: The name of the result's type.
        style: The style of the question, an id of `STYLES`.
        said: The model's text.
        finish: `stop` or `length`, as in `Completion`.
        answer: The literal in the text; None if there is none.
        outcome: Whether the answer is right (Liu et al. 2024, equation 1).
        unread: Why there is no literal; None if there is one.
        same_type: Whether the literal has the type of the truth.
        tags: The constructs of the function, as in `Features`; this field and the next four are None if the
            function does not parse.
        uses: Its kinds of operators and calls.
        apis: Its callees.
        complexity: Its cyclomatic complexity.
        lines: The number of its lines in the question, without blank ones.
        rounds: The total number of rounds of all loops during the call; None if unknown.
        copied: Whether it is wrong, and the literal is that of the prompt's worked example.
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
    copied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionAnswer(ExecutionAnswer):
    """The answer to the same question about a mutated version of the function.

    Attributes:
        mutation: The id of the mutation, which was made at all of its sites at once.
        program: The program in the question.
    """

    mutation: str
    program: str


@dataclass(frozen=True, slots=True)
class OutputChoice:
    """The output of a call, chosen among those of other calls of the function.

    Attributes:
        candidates: The outputs, as literals, in alphabetical order.
        logprobs: The log-probability of each, in nats, given that one of them is the answer.
        call: The call; empty if the record has one.
        truth: Its output; empty if the record has one.
    """

    candidates: tuple[str, ...]
    logprobs: tuple[float, ...]
    call: str = ""
    truth: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRecord(Record):
    """The model's answers about the result of a call of one function.

    Attributes:
        tolerance: The tolerances within which two floats are equal.
        answers: The answers, by style; first those about the unchanged function.
        choices: The outputs of several calls, chosen among all of them; empty if the model gives no
            probabilities, or nothing else is returned.
        versions: The answers about mutated versions, if a protocol asks for some.
    """

    tolerance: Tolerance = Tolerance()
    answers: tuple[ExecutionAnswer, ...]
    choices: tuple[OutputChoice, ...] = ()
    versions: tuple[VersionAnswer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """A model's implementation of a function, judged by the function's tests.

    Attributes:
        target: The name of the function, as in `Record.target`.
        call: The call in the question.
        input: The origin of the call.
        program: The whole source with the model's implementation.
        finish: `stop` or `length`, as in `Completion`.
        judged_by: The judge, such as `3 doctests`.
        failed: The case that failed; empty if none did.
        correct: Whether the implementation passed.
        unasked: Why there is no question about it although it passed; empty if there is one.
        complexity: Its cyclomatic complexity; None if it does not parse.
        reference_complexity: The cyclomatic complexity of the unchanged function.
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
        """Whether the token limit ended it before it could pass: it is neither right nor wrong."""
        return self.finish == "length" and not self.correct


@dataclass(frozen=True, slots=True, kw_only=True)
class DependentExecutionRecord(Record):
    """A model's implementation of one function, and its answers about this code and the reference.

    Attributes:
        tolerance: The tolerances within which two floats are equal.
        translated_from: The id of the source language of a translation; unset if the function was written
            from a description.
        syntheses: The implementation; exactly one.
    """

    tolerance: Tolerance = Tolerance()
    translated_from: str | UnsetType = UNSET
    syntheses: tuple[Synthesis, ...]
    answers: tuple[ExecutionAnswer, ...]


@dataclass(frozen=True, slots=True)
class SpecifiedProgram:
    """A program that a model wrote from one specification, run on one input.

    Attributes:
        passed: Whether its output is the one in the specification, or the right one if there is none.
        gave: Its output, as a literal; None if there is none.
        failed: Why there is no output; None if there is one.
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
        """Whether the token limit ended it before it could pass: it is neither right nor wrong."""
        return self.finish == "length" and not self.passed


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecifiedFunction:
    """A function that a model wrote with no test, with one, and with a misleading one.

    Attributes:
        target: The name of the function, as in `Record.target`.
        input: The origin of the call.
        gives: The output of the reference, as a literal.
        misleading: The wrong output of the misleading test, as a literal.
        specification: The description without examples, or the program to translate.
        lines_of_examples_removed: Number of lines removed from the description.
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
        tolerance: The tolerances within which two floats are equal.
        translated_from: As in `DependentExecutionRecord`.
        functions: The function; exactly one.
    """

    tolerance: Tolerance = Tolerance()
    translated_from: str | UnsetType = UNSET
    functions: tuple[SpecifiedFunction, ...]
