"""The recorded behaviour of the original, for comparison with every candidate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from counterlens.judging.comparing import FEWEST, NOT_IMPORTED, UNSTEADY, Untestable
from counterlens.judging.pace import at_most
from counterlens.python.judging.differential.inputs import Call
from counterlens.python.judging.recording import CallRecord, Recorder, Recording
from counterlens.python.syntax.parsing import undisturbed

if TYPE_CHECKING:
    from counterlens.python.judging.differential.call_likeness import CallLikeness
    from counterlens.python.judging.differential.generation import CallPlan

ROUND, ROUNDS = 100, 3  # inputs per round, and maximum rounds; rounds end when all branches are reached
_ROUND_OF_TYPES = 60  # inputs per round if they are drawn from types alone, as boundary values are
STEPS = 100_000  # maximum lines of the program per call of the original
SECONDS = 1.0  # maximum seconds per call of the original
_BASES = 2  # inputs that get boundary values, besides the largest
_QUICK = 0.2  # maximum seconds per call of the original for an input that is much larger
_LONGEST = 3  # maximum seconds for all inputs that are much larger
_ILL_TYPED = {"TypeError", "AttributeError"}
_TOO_FEW = "it returns a value for too few generated inputs"
_IMPORTING = Lock()
"""coverage.py's modules import each other: two threads that import them at once can fail."""


@dataclass(frozen=True, slots=True)
class OriginalInput:
    """One input, and what the original does with it.

    Attributes:
        seen: The result, when the call is first made in a process.
        again: The same when all calls have been made once before, in the opposite order.
        departure: How the call differs from those of the tests, such as `negative`; None if it is like them,
            or if none of these is known.
        large: Whether it is much larger than the usual ones.
    """

    call: Call
    seen: CallRecord
    again: CallRecord
    departure: str | None = None
    large: bool = False


@dataclass(frozen=True, slots=True)
class Original:
    """An unchanged function, and its behaviour.

    Attributes:
        text: The file.
        recorder: Calls it; seeded if it draws random numbers.
        inputs: The inputs, without those that reach a limit, raise a type error, vary, or have an
            incomparable result; the large ones come last.
        reach: The coverage of the function by the inputs.
        likeness: What the calls of the tests have in common; None if none is known.
    """

    text: str
    recorder: Recorder
    inputs: tuple[OriginalInput, ...]
    reach: Reach
    likeness: CallLikeness | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls of all inputs."""
        return tuple(each.call for each in self.inputs)

    def is_like_tests(self, call: Call) -> bool:
        """Whether a call is like those of the tests; true if none of these is known."""
        return self.likeness is None or self.likeness.departure(call) is None

    def where(self, wanted: Callable[[OriginalInput], bool]) -> Original:
        """The same with some of the inputs."""
        return replace(self, inputs=tuple(filter(wanted, self.inputs)))

    def of_tests_size(self) -> Original | None:
        """The same with inputs of at most the tests' size, and one larger one; None if it has no more."""
        likeness = self.likeness
        larger = [each for each in self.inputs if likeness is not None and likeness.is_larger(each.call)]
        left_out = sorted(larger, key=lambda each: each.call.size)[1:]
        return self.where(lambda each: each not in left_out) if left_out else None


class OriginalStudy:
    """Finds inputs for a function, and records its behaviour on them.

    Args:
        text: The file.
        lines: The lines of the function's body, 1-based; none of a class.
        plan: Where its inputs come from.
        recorder: Calls it.
        seed: Random seed of the inputs.
    """

    def __init__(
        self,
        text: str,
        lines: range,
        plan: CallPlan,
        recorder: Recorder,
        seed: int,
    ) -> None:
        self._text, self._lines, self.plan, self.recorder = text, lines, plan, recorder
        self._seed, self._cancel = seed, recorder.setting.cancel
        self._calls: dict[str, Call] = {}
        self._observations: list[CallRecord] = []
        self._arcs: set[tuple[int, int]] = set()
        self._likeness: CallLikeness | None = None
        self._returning_count = 0  # calls of the tests on which the function returns

    def result(self) -> Original | Untestable:
        """The behaviour of the function, or why it cannot be compared.

        Raises:
            Cancelled, SandboxError: as `Sandbox.run`.
        """
        drawn = self._draw()
        if isinstance(drawn, Untestable):
            return drawn
        reached = reach(self._text, self._lines, self._arcs)
        if reached.all_lines and not reached.lines:
            return Untestable("calling it runs none of its lines: its name refers to another function")
        usual = self._go_beyond()
        return self._checked(reach(self._text, self._lines, self._arcs), usual)

    def _draw(self) -> Untestable | None:
        """Make the known calls, and drawn ones until they reach all branches."""
        # Imported here: they use Hypothesis, whose import is a large part of a start.
        from counterlens.python.judging.differential.call_likeness import CallLikeness
        from counterlens.python.judging.differential.generation import draw

        trouble = self._observe(self.plan.seen)
        if trouble is not None:
            return trouble
        returning_calls = self._returned() if self.plan.recorded else []
        self._returning_count = len(returning_calls)
        if returning_calls:
            self._likeness = CallLikeness(returning_calls, self.plan.shapes.hints)
            strategies = [self.plan.like(self._likeness, returning_calls)]
        else:
            combinations = self._combinations()
            if isinstance(combinations, Untestable):
                return combinations
            strategies = [self.plan.of_types(combination) for combination in combinations]
        inputs = ROUND if returning_calls else _ROUND_OF_TYPES
        for number in range(ROUNDS):
            share, first = max(inputs // len(strategies), 8), self._seed * 1000 + number * 40
            drawn = [draw(strategy, share, first + at) for at, strategy in enumerate(strategies)]
            before = len(self._calls)
            trouble = self._observe([call for calls in drawn for call in calls])
            if trouble is not None:
                return trouble
            if reach(self._text, self._lines, self._arcs).share == 1.0 or len(self._calls) == before:
                break
        return None

    def _go_beyond(self) -> int:
        """Make calls at the boundaries of the types, and much larger ones until one takes too long.

        Returns:
            The number of all calls before the much larger ones.
        """
        from counterlens.python.judging.differential.boundaries import (
            boundary_calls,
            larger_calls,
            literal_calls,
        )

        returned = self._returned()
        by_size = sorted(returned, key=lambda call: call.size)
        bases = {call.written(""): call for call in (*returned[:_BASES], *by_size[-1:])}
        self._observe_more(literal_calls(list(bases.values()), self.plan.shapes.hints.integers), SECONDS)
        self._observe_more(boundary_calls(list(bases.values())), SECONDS)
        usual = len(self._calls)
        with at_most(_LONGEST):
            self._observe_more(larger_calls(by_size[-1:]), _QUICK, stop=True)
        return usual

    def _returned(self) -> list[Call]:
        calls = zip(self._calls.values(), self._observations, strict=True)
        return [call for call, seen in calls if seen.returned and seen.comparable]

    def _combinations(self) -> list[tuple[int, ...]] | Untestable:
        """The combinations of types that it accepts: those on which it mostly returns."""
        from counterlens.python.judging.differential.generation import draw

        if isinstance(self.plan.parameters, str):
            return Untestable(self.plan.parameters)
        combinations = self.plan.combinations
        if len(combinations) == 1:
            return combinations
        drawn = [
            (combination, call)
            for combination in combinations
            for call in draw(self.plan.of_types(combination), 4, self._seed)
        ]
        recording = self._record([call for _, call in drawn])
        if not recording.observations:
            return _trouble(recording)
        ends: dict[tuple[int, ...], list[float]] = {combination: [] for combination in combinations}
        for (combination, _), seen in zip(drawn, recording.observations, strict=False):
            well = seen.limit is None and seen.exception not in _ILL_TYPED
            ends[combination].append(1.0 if seen.returned else 0.3 if well else 0.0)
        scores = {combination: sum(values) / len(values) for combination, values in ends.items() if values}
        best = max(scores.values(), default=0.0)
        kept = [combination for combination, score in scores.items() if score and score >= best - 0.25]
        return sorted(kept, key=lambda combination: -scores[combination])[:6] or Untestable(
            "the types of its arguments are unknown, and no tried type works"
        )

    def _record(self, calls: Sequence[Call], seconds: float = SECONDS, *, stop: bool = False) -> Recording:
        tasks = [call.task() for call in calls]
        return self.recorder.record(
            self._text, tasks, seconds=seconds, steps=STEPS, stop=stop, cancel=self._cancel
        )

    def _observe(self, calls: Sequence[Call]) -> Untestable | None:
        """Make calls; return the reason why the function cannot be judged, if there is one."""
        calls = self._unseen(calls)
        if not calls:
            return None
        recording = self._record(calls)
        if not recording.observations:
            return _trouble(recording)
        for call, seen in zip(calls, recording.observations, strict=False):
            if seen.outside and self._departure(call) is None:
                return Untestable(f"it {seen.outside}")
            self._keep(call, seen)
        return None

    def _observe_more(self, calls: Sequence[Call], seconds: float, *, stop: bool = False) -> None:
        """Make calls that need not be of use."""
        calls = self._unseen(calls)
        recorded = self._record(calls, seconds, stop=stop).observations if calls else ()
        for call, seen in zip(calls, recorded, strict=False):
            self._keep(call, seen)

    def _unseen(self, calls: Sequence[Call]) -> list[Call]:
        return list({text: call for call in calls if (text := call.written("")) not in self._calls}.values())

    def _keep(self, call: Call, seen: CallRecord) -> None:
        if not seen.outside:
            self._arcs |= seen.arcs
            self._calls[call.written("")] = call
            self._observations.append(seen)

    def _departure(self, call: Call) -> str | None:
        return self._likeness.departure(call) if self._likeness is not None else None

    def _checked(self, reached: Reach, usual: int) -> Original | Untestable:
        """Keep only results that can be compared, and are the same in another process, in another order."""
        seen = zip(self._calls.values(), self._observations, strict=True)
        tried = [
            OriginalInput(call, record, record, self._departure(call), large=at >= usual)
            for at, (call, record) in enumerate(seen)
        ]
        well = [each for each in tried if each.seen.limit is None and each.seen.exception not in _ILL_TYPED]
        whole = [each for each in well if each.seen.comparable]
        fewest = min(FEWEST, self._returning_count or len(tried))
        if well and len(whole) < fewest:
            return Untestable("it returns values that cannot be compared, such as functions or files")
        twice = [each.call.task() for each in [*reversed(whole), *whole]]
        again = self.recorder.record(self._text, twice, seconds=SECONDS * 2, cancel=self._cancel)
        back, forth = again.observations[: len(whole)][::-1], again.observations[len(whole) :]
        steady = [
            replace(each, again=third)
            for each, second, third in zip(whole, back, forth, strict=False)
            if each.seen.like(second) and third.comparable
        ]
        like = [each for each in whole if each.departure is None]
        lost = len(like) - sum(each.departure is None for each in steady)
        if len(again.observations) < len(twice) or lost > UNSTEADY * len(like):
            return self._in_one_order([each.call for each in like if not each.large], reached)
        if sum(each.seen.returned and each.departure is None for each in steady) < fewest:
            return Untestable(_TOO_FEW)
        return Original(self._text, self.recorder, tuple(steady), reached, self._likeness)

    def _in_one_order(self, calls: Sequence[Call], reached: Reach) -> Original | Untestable:
        """The results of a function with memory, which are the same only if all calls are made in one order.

        If that is not enough, random numbers are the same for the same call. Results that still vary cannot
        be compared, nor can those of a function that no test calls: it may depend on anything.
        """
        tasks = [call.task() for call in [*reversed(calls), *calls]]
        for seeded in (False, True) if self._likeness is not None else ():
            recorder = replace(self.recorder, seeded=seeded)
            first, second = (
                recorder.record(self._text, tasks, seconds=SECONDS * 2, cancel=self._cancel).observations
                for _ in range(2)
            )
            if len(first) == len(second) == len(tasks) and all(
                seen.comparable and seen.like(other) for seen, other in zip(first, second, strict=True)
            ):
                back, forth = first[: len(calls)][::-1], first[len(calls) :]
                if not any(seen.returned for seen in back):
                    return Untestable(_TOO_FEW)
                inputs = tuple(map(OriginalInput, calls, back, forth))
                return Original(self._text, recorder, inputs, reached)
        return Untestable("it returns different results for the same input")


def _trouble(recording: Recording) -> Untestable:
    trouble = recording.trouble
    if trouble is None:
        return Untestable("calling it returned no result")
    words = {
        "import": f"{NOT_IMPORTED}: ",
        "missing": "its module lacks it: ",
        "invalid": "its file does not compile: ",
    }
    return Untestable(words.get(trouble.kind, "") + trouble.message)


@dataclass(frozen=True, slots=True)
class Reach:
    """Coverage of a function.

    Attributes:
        taken: Branches that were taken; a branch is one of several exits of a line.
        total: All branches.
        lines: Executed lines.
        all_lines: Executable lines.
    """

    taken: int
    total: int
    lines: int
    all_lines: int

    @property
    def share(self) -> float:
        """The share of branches taken, or of lines executed if there are no branches; between 0 and 1."""
        if self.total:
            return self.taken / self.total
        return self.lines / self.all_lines if self.all_lines else 1.0

    def __str__(self) -> str:
        if self.total:
            return f"{self.taken} of {self.total} branches"
        return f"{self.lines} of {self.all_lines} lines, no branches"


def reach(text: str, lines: range, arcs: Iterable[tuple[int, int]]) -> Reach:
    """The coverage of some lines.

    Args:
        text: The source.
        lines: The lines of the function's body, 1-based.
        arcs: Pairs of consecutively executed lines; negative numbers are entries and exits.
    """
    # Imported here, so that starts that do not need it are not slowed.
    with _IMPORTING:
        from coverage.exceptions import CoverageException
        from coverage.parser import PythonParser

    parser = PythonParser(text=text)
    try:
        with undisturbed():
            parser.parse_source()
    except CoverageException:
        return Reach(0, 0, 0, 0)
    possible = {arc for arc in parser.arcs() if arc[0] in lines}
    ways = parser.exit_counts()
    deciding = {arc for arc in possible if ways.get(arc[0], 0) > 1}
    seen = parser.translate_arcs(arcs)
    entered = {line for arc in seen for line in arc if line in lines}
    statements = {line for line in parser.statements if line in lines}
    return Reach(len(deciding & seen), len(deciding), len(statements & entered), len(statements))
