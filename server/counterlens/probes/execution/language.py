"""The interface of a language for questions about calls: finding them, running them, and hiding answers."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from counterlens.counting import plural
from counterlens.judging.base import Setting
from counterlens.languages.part import LanguagePart
from counterlens.languages.registry import LANGUAGES
from counterlens.mutations.mutation import AnyMutation
from counterlens.probes.prompts.literals import Literal, Values
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

MARK = "HERE"
"""The comment that marks the line in a question."""
MOST_POINTS = 3
"""Maximum number of states per call."""
MOST_TIMES = 5
"""Maximum number of runs of a line up to a state in a question."""
TAGS = ("for", "while", "nested loop", "if", "nested if", "match", "try", "basic")
USES = (
    "arithmetic",
    "comparison",
    "membership",
    "boolean",
    "bitwise",
    "builtin call",
    "method call",
    "other call",
)
MOST_BYTES = 200
"""Maximum bytes of a call: with a longer one, reading the input would be the task, not running the code."""


@dataclass(frozen=True, slots=True)
class Point:
    """One state to ask about: the value of a variable after the k-th run of a line.

    Attributes:
        line: The line, 1-based.
        times: The number of runs of the line so far.
        variable: The variable, which the line has just changed.
    """

    line: int
    times: int
    variable: str
    truth: Literal


def points(
    document: Document, function: Function, steps: Sequence[Step], lines: Collection[int], *, seed: int
) -> list[Point]:
    """Random states to ask about: at most `MOST_POINTS`, at distinct lines or variables, in execution order.

    Args:
        function: The traced function.
        steps: The trace of the function.
        lines: The lines that can be marked, 1-based.
        seed: Random seed of the choice.
    """
    read = execution_of(document.language).values.literal
    times: Counter[int] = Counter()
    states: dict[tuple[int, str], list[tuple[int, Point]]] = {}
    for number, step in enumerate(steps):
        times[step.line] += 1
        if step.line not in lines or times[step.line] > MOST_TIMES:
            continue
        for variable, written in step.changed.items():
            value = read(written)
            if value is not None:
                point = Point(step.line, times[step.line], variable, value)
                states.setdefault((step.line, variable), []).append((number, point))
    rng = random.Random(f"{seed} {function.qualname}")  # noqa: S311 - no secret
    places = sorted(states)
    chosen = rng.sample(places, min(MOST_POINTS, len(places)))
    drawn = sorted((rng.choice(states[place]) for place in chosen), key=lambda state: state[0])
    return [point for _, point in drawn]


def add_mark(document: Document, line: int) -> Document:
    """The document with a mark after a line, 1-based."""
    lines = document.text.splitlines(keepends=True)
    text = lines[line - 1]
    kept, mark = text.rstrip("\r\n"), f"{LANGUAGES[document.language].comment} {MARK}"
    lines[line - 1] = f"{kept.rstrip()}  {mark}{text[len(kept) :]}"
    return replace(document, text="".join(lines))


def times_in_words(times: int) -> str:
    """The number of times in words: `1 time`, `2 times`."""
    return plural(times, "time")


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a function.

    Attributes:
        tags: Some of `TAGS`; `basic` if it has no other.
        complexity: Cyclomatic complexity (McCabe 1976): the number of decisions plus one.
        lines: Lines without blank ones.
        uses: Some of `USES`: kinds of operators and of calls.
        apis: Its callees, each once: `len`, `.append`, `math.sqrt` (Liu et al. 2024, API calls).
    """

    tags: tuple[str, ...]
    complexity: int
    lines: int
    uses: tuple[str, ...]
    apis: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One line that ran.

    Attributes:
        line: The line, 1-based.
        changed: The variables that it bound or changed, as literals.
    """

    line: int
    changed: dict[str, str]


class ExecutedLanguage(ABC):
    """A language that execution questions support.

    Attributes:
        id: Its id, as in documents.
        values: Reads its values from answers, and compares them.
        stops: The stop texts of a completion, by the style of the question.
        unrolls: The id of the mutation that unrolls its loops; empty if there is none.
        traces_headers: Whether its traces also have the headers of branches and loops.
    """

    id: ClassVar[str]
    values: ClassVar[Values]
    stops: ClassVar[Mapping[str, tuple[str, ...]]]
    unrolls: ClassVar[str] = ""
    traces_headers: ClassVar[bool] = True

    @abstractmethod
    def require_reachable(self, document: Document, function: Function) -> None:
        """Check that a standalone call can reach a function.

        Raises:
            SourceError: none can; the message says why.
        """

    @abstractmethod
    def calls_in(self, tests: str, qualname: str) -> list[str]:
        """The distinct calls of a function with literal arguments in the text of a dataset's tests."""

    @abstractmethod
    def in_examples(self, document: Document, function: Function) -> list[str]:
        """The calls in the examples of a function's documentation."""

    @abstractmethod
    def in_tests(self, document: Document, function: Function) -> list[str]:
        """The calls in the tests beside a function's file."""

    def calls_of(self, document: Document, function: Function) -> list[str]:
        """The calls in the examples of a function, then those in the tests beside its file."""
        return list(
            dict.fromkeys([*self.in_examples(document, function), *self.in_tests(document, function)])
        )

    @abstractmethod
    def generated(self, document: Document, function: Function, setting: Setting) -> Sequence[str]:
        """Calls with generated inputs on which a function returned.

        Raises:
            SandboxError, Cancelled: as the sandbox.
        """

    @abstractmethod
    def output_of(self, document: Document, call: str, setting: Setting) -> Literal:
        """The result of a call, run in the sandbox.

        Raises:
            SourceError: the call fails, times out, or its result is not a literal, or varies; the message
                says which.
            SandboxError, Cancelled: as `Sandbox.run`.
        """

    @abstractmethod
    def require_ordered(self, document: Document, call: str, gives: Literal, setting: Setting) -> None:
        """Refuse an unpredictable result of a call, which depends on a random order.

        Raises:
            SourceError: the result has no order, or a random one.
            SandboxError, Cancelled: as `Sandbox.run`.
        """

    @abstractmethod
    def rounds_of(self, document: Document, call: str, setting: Setting) -> int:
        """The total number of rounds of all loops during a call; errors as for `output_of`."""

    def unrolling(self, document: Document, call: str, setting: Setting) -> AnyMutation:
        """The mutation that unrolls the loops as a call runs them, in languages whose loops can be unrolled.

        Raises:
            SourceError: the call is not an expression, fails, or times out.
            SandboxError, Cancelled: as `Sandbox.run`.
        """
        raise NotImplementedError

    @abstractmethod
    def trace(self, document: Document, call: str, setting: Setting) -> list[Step]:
        """The changes by each line of the called function; errors as for `output_of`."""

    @abstractmethod
    def simple_lines(self, document: Document, function: Function) -> set[int]:
        """The lines of a function that are one whole simple statement, after which a mark can be placed.

        A statement that leaves the function, such as `return`, has nothing after it.
        """

    @abstractmethod
    def written_out(self, document: Document, function: Function, call: str, setting: Setting) -> Document:
        """A document with a function whose loops are unrolled for a call.

        Raises:
            SourceError: there are no loops, or not all can be unrolled; the message says why.
            SandboxError, Cancelled: as the sandbox.
        """

    @abstractmethod
    def unanswered(self, document: Document, function: Function, call: str) -> Document:
        """A document without the parts that show the answer to a question.

        Raises:
            SourceError: removing them would change the program.
        """

    @abstractmethod
    def features(self, text: str) -> Features | None:
        """The features of a function's text; None if it does not parse."""

    @abstractmethod
    def described(self, document: Document, function: Function) -> str | None:
        """The documentation of a function; None or empty if there is none."""

    @abstractmethod
    def without_comments(self, document: Document) -> Document:
        """A document without its comments; unchanged if it cannot be parsed."""

    def code_alone(self, document: Document) -> Document:
        """A document without its comments and documentation; unchanged if it cannot be parsed."""
        return self.without_comments(document)


EXECUTED: LanguagePart[ExecutedLanguage] = LanguagePart(
    "execution", ExecutedLanguage, "questions about calls in {0} are not supported", "Those in {0} are"
)
"""The support of execution questions, by language."""


execution_of = EXECUTED.require
"""How a language is executed; a `SourceError` if it is not supported."""
