"""The recorded behaviour of the original, for comparison with every candidate."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from counterlens.judging.base import Setting
from counterlens.judging.comparing import UNSTEADY, Untestable
from counterlens.python.judging.differential.domain import contract_of
from counterlens.python.judging.differential.inputs import Call, recorded_call
from counterlens.python.judging.differential.observed import find_node, why_not
from counterlens.python.judging.layout import Layout, layout_of
from counterlens.python.judging.recording import CallRecord, Recorder, Recording
from counterlens.python.syntax.parsing import parse_module, undisturbed
from counterlens.python.syntax.versions import parse_error
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

if TYPE_CHECKING:
    from counterlens.python.judging.differential.domain import Domain
    from counterlens.python.judging.differential.generation import CallPlan
    from counterlens.python.judging.differential.sampling import RecordedPlan

ROUND, ROUNDS = 100, 3  # inputs per round, and maximum rounds; rounds end when all branches are reached
STEPS = 100_000  # maximum lines of the program per call of the original
SECONDS = 1.0  # maximum seconds per call of the original
_ROOM = 16 << 20  # maximum bytes of a report
_ILL_TYPED = {"TypeError", "AttributeError"}
_TOO_FEW = "it returns a value for too few generated inputs"


@dataclass(frozen=True, slots=True)
class Original:
    """An unchanged function, and its behaviour.

    Attributes:
        text: The file.
        recorder: Calls it; seeded if it draws random numbers.
        calls: The inputs, without those that reach a limit, raise a type error, vary, or have an incomparable
            result.
        observations: The result of each call, when it is first made in a process.
        repeated: The same when all calls have been made once before, in the opposite order.
        reach: The coverage of the function by the calls.
        domain: Where the inputs stay; None if the tests do not say.
    """

    text: str
    recorder: Recorder
    calls: tuple[Call, ...]
    observations: tuple[CallRecord, ...]
    repeated: tuple[CallRecord, ...]
    reach: Reach
    domain: Domain | None = None

    def of_tests_size(self) -> Original | None:
        """The same with inputs of at most the tests' size, and one larger one; None if it has no more."""
        domain = self.domain
        larger = [at for at, call in enumerate(self.calls) if domain is not None and domain.is_larger(call)]
        left_out = set(sorted(larger, key=lambda at: self.calls[at].size)[1:])
        if not left_out:
            return None
        kept = [at for at in range(len(self.calls)) if at not in left_out]
        return replace(
            self,
            calls=tuple(self.calls[at] for at in kept),
            observations=tuple(self.observations[at] for at in kept),
            repeated=tuple(self.repeated[at] for at in kept),
        )


def study(
    document: Document,
    qualname: str,
    setting: Setting,
    *,
    seed: int = 0,
    more: Sequence[str] = (),
    recorded: Sequence[Any] = (),
    cancel: Event | None = None,
) -> Original | Untestable:
    """Find inputs for a function, and record its behaviour on them.

    Args:
        document: The original file.
        setting: Its sandbox and interpreter.
        seed: Random seed of the inputs.
        more: Further texts that may call it with literal arguments, such as its tests.
        recorded: Calls that its tests make; if there are any, inputs are drawn from their domain.

    Raises:
        Cancelled, SandboxError: as `Sandbox.run`.
    """
    planned = plan_calls(document, qualname, setting, more=more, recorded=recorded)
    if isinstance(planned, Untestable):
        return planned
    studied = planned.study(document.text, seed, cancel)
    if recorded and studied == Untestable(_TOO_FEW) and not _class_named(planned.module, qualname):
        # The tests make calls that raise, and no others: values of the same types are tried.
        by_types = plan_calls(document, qualname, setting, more=more, recorded=recorded, by_types=True)
        return by_types if isinstance(by_types, Untestable) else by_types.study(document.text, seed, cancel)
    return studied


@dataclass(frozen=True, slots=True)
class PlannedCalls:
    """How a function will be called.

    Attributes:
        module: Its file.
        lines: The lines of its body, 1-based; none of a class.
        plan: Where its inputs come from.
        recorder: Calls it.
    """

    module: ast.Module
    lines: range
    plan: CallPlan | RecordedPlan
    recorder: Recorder

    def study(self, text: str, seed: int, cancel: Event | None) -> Original | Untestable:
        """Draw inputs, and record what the function does on them."""
        return _Study(text, self.lines, self.plan, self.recorder, seed, cancel).result()


def plan_calls(
    document: Document,
    qualname: str,
    setting: Setting,
    *,
    more: Sequence[str] = (),
    recorded: Sequence[Any] = (),
    by_types: bool = False,
) -> PlannedCalls | Untestable:
    """Find out how a function, or the objects of a class, can be called; nothing runs.

    Args:
        more, recorded: As of `study`.
        by_types: Whether recorded calls only show types.
    """
    module = _module_of(document.text)
    if isinstance(module, Untestable):
        return module
    # Imported here: they use Hypothesis, whose import is a large part of a start, and few functions need it.
    from counterlens.python.judging.differential.generation import plan
    from counterlens.python.judging.differential.observed import calls_of, hints_of
    from counterlens.python.judging.differential.sampling import RecordedPlan
    from counterlens.python.judging.differential.shapes import Shapes, Unknown

    made = tuple(call for call in map(recorded_call, recorded) if call is not None)
    if definition := _class_named(module, qualname):
        made = tuple(call for call in made if call.steps) or made
        if not made:
            return Untestable("the tests make no object of it")
        like_tests = RecordedPlan(qualname, made, hints_of(definition, made))
        return PlannedCalls(module, range(0), like_tests, _recorder(document, module, qualname, setting))
    node, around = find_node(module, qualname)
    reason = why_not(node, around)
    if node is None or reason is not None:
        return Untestable(reason or "it is not in the file")
    owner = next((outer for outer in around if isinstance(outer, ast.ClassDef)), None)
    constructor = node.name in {"__init__", "__new__"} and owner is not None
    seen = calls_of(module, node, owner.name if constructor and owner else node.name, more)
    target = ".".join(qualname.split(".")[:-1] if constructor else qualname.split("."))
    lines = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
    hints = hints_of(node, made or seen)
    recorder = _recorder(document, module, target, setting)
    if made and (owner is not None or not by_types):
        like_tests = RecordedPlan(target, made, hints, contract_of(node))
        return PlannedCalls(module, lines, like_tests, recorder)
    try:
        how = plan(Shapes(module, hints), node, owner, [*made, *seen])
    except Unknown as error:
        return Untestable(str(error))
    return PlannedCalls(module, lines, how, replace(recorder, target=how.target))


def never_compared(document: Document, function: Function) -> str | None:
    """Why `study` finds nothing about a function, whatever the inputs; see `JudgedLanguage`."""
    module = _module_of(document.text)
    if isinstance(module, Untestable):
        return module.reason
    if _class_named(module, function.qualname):
        return None
    return why_not(*find_node(module, function.qualname))


def _module_of(text: str) -> ast.Module | Untestable:
    try:
        return parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Untestable(parse_error(text, error).message)


def _class_named(module: ast.Module, name: str) -> ast.ClassDef | None:
    """The class whose objects are meant by a name; the first one counts."""
    return next((each for each in module.body if isinstance(each, ast.ClassDef) and each.name == name), None)


def _recorder(document: Document, module: ast.Module, target: str, setting: Setting) -> Recorder:
    place = layout_of(document.path, document.text) if document.path else None
    room = replace(setting.limits, output_bytes=max(_ROOM, setting.limits.output_bytes))
    return Recorder(replace(setting, limits=room), place, target, _needs_project(module, place))


class _Study:
    def __init__(
        self,
        text: str,
        lines: range,
        how: CallPlan | RecordedPlan,
        recorder: Recorder,
        seed: int,
        cancel: Event | None,
    ) -> None:
        self._text, self._lines, self._plan, self._recorder = text, lines, how, recorder
        self._seed, self._cancel = seed, cancel
        self._calls: dict[str, Call] = {}
        self._observations: list[CallRecord] = []
        self._arcs: set[tuple[int, int]] = set()

    def result(self) -> Original | Untestable:
        combinations = self._plan.combinations
        if len(combinations) > 1:
            learned = self._learn(combinations)
            if isinstance(learned, Untestable):
                return learned
            combinations = learned
        reached = Reach(0, 0, 0, 0)
        for number in range(ROUNDS):
            calls = self._draw(combinations, number)
            trouble = self._observe(calls)
            if trouble is not None:
                return trouble
            reached = reach(self._text, self._lines, self._arcs)
            if reached.share == 1.0 or not calls:
                break
        if reached.all_lines and not reached.lines:
            return Untestable("calling it runs none of its lines: its name refers to another function")
        return self._checked(reached)

    def _draw(self, combinations: Sequence[tuple[int, ...]], number: int) -> list[Call]:
        drawn = [] if number else list(self._plan.seen)
        for at, combination in enumerate(combinations):
            share = max(ROUND // len(combinations), 8)
            drawn += self._plan.draw(combination, share, self._seed * 1000 + number * 40 + at)
        return list({text: call for call in drawn if (text := call.written("")) not in self._calls}.values())

    def _learn(self, combinations: list[tuple[int, ...]]) -> list[tuple[int, ...]] | Untestable:
        """The combinations of types that it accepts: those on which it mostly returns."""
        drawn = [
            (combination, call)
            for combination in combinations
            for call in self._plan.draw(combination, 4, self._seed)
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

    def _record(self, calls: Sequence[Call]) -> Recording:
        return self._recorder.record(
            self._text,
            [call.task() for call in calls],
            seconds=SECONDS,
            steps=STEPS,
            cancel=self._cancel,
        )

    def _observe(self, calls: Sequence[Call]) -> Untestable | None:
        """Make calls; return the reason why the function cannot be judged, if there is one."""
        if not calls:
            return None
        recording = self._record(calls)
        if not recording.observations:
            return _trouble(recording)
        for call, seen in zip(calls, recording.observations, strict=False):
            if seen.outside:
                return Untestable(f"it {seen.outside}")
            self._arcs |= seen.arcs
            self._calls[call.written("")] = call
            self._observations.append(seen)
        return None

    def _checked(self, reached: Reach) -> Original | Untestable:
        """Keep only results that can be compared, and are the same in another process, in another order."""
        pairs = [
            (call, seen)
            for call, seen in zip(self._calls.values(), self._observations, strict=True)
            if seen.limit is None and seen.exception not in _ILL_TYPED
        ]
        whole = [(call, seen) for call, seen in pairs if seen.comparable]
        fewest = min(self._plan.fewest, len(self._calls))
        if pairs and len(whole) < fewest:
            return Untestable("it returns values that cannot be compared, such as functions or files")
        calls = [call for call, _ in whole]
        twice = [call.task() for call in [*reversed(calls), *calls]]
        again = self._recorder.record(self._text, twice, seconds=SECONDS * 2, cancel=self._cancel)
        back, forth = again.observations[: len(whole)][::-1], again.observations[len(whole) :]
        steady = [
            (call, first, third)
            for (call, first), second, third in zip(whole, back, forth, strict=False)
            if first.like(second) and third.comparable
        ]
        recorder, domain = self._recorder, self._plan.domain
        ended = len(again.observations) < len(twice)
        if ended or len(whole) - len(steady) > UNSTEADY * len(whole):
            recorder, steady = self._in_one_order(calls) if self._plan.like_tests else (recorder, [])
            domain = None
            if not steady:
                return Untestable("it returns different results for the same input")
        if sum(seen.returned for _, seen, _ in steady) < fewest:
            return Untestable(_TOO_FEW)
        return Original(
            self._text,
            recorder,
            tuple(call for call, _, _ in steady),
            tuple(seen for _, seen, _ in steady),
            tuple(seen for _, _, seen in steady),
            reached,
            domain,
        )

    def _in_one_order(
        self, calls: Sequence[Call]
    ) -> tuple[Recorder, list[tuple[Call, CallRecord, CallRecord]]]:
        """The results of a function with memory, which are the same only if all calls are made in one order.

        If that is not enough, random numbers are the same for the same call. Nothing if results still vary.
        """
        tasks = [call.task() for call in [*reversed(calls), *calls]]
        for recorder in (self._recorder, replace(self._recorder, seeded=True)):
            first, second = (
                recorder.record(self._text, tasks, seconds=SECONDS * 2, cancel=self._cancel).observations
                for _ in range(2)
            )
            if len(first) == len(second) == len(tasks) and all(
                seen.comparable and seen.like(other) for seen, other in zip(first, second, strict=True)
            ):
                back, forth = first[: len(calls)][::-1], first[len(calls) :]
                return recorder, list(zip(calls, back, forth, strict=True))
        return self._recorder, []


def _trouble(recording: Recording) -> Untestable:
    trouble = recording.trouble
    if trouble is None:
        return Untestable("calling it returned no result")
    words = {
        "import": "its file cannot be imported: ",
        "missing": "its module lacks it: ",
        "invalid": "its file does not compile: ",
    }
    return Untestable(words.get(trouble.kind, "") + trouble.message)


def _needs_project(module: ast.Module, place: Layout | None) -> bool:
    """Whether a file imports from its own project, so that it must be able to read it."""
    if place is None:
        return False
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.level:
            return True
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            top = name.partition(".")[0]
            if any((root / top).is_dir() or (root / f"{top}.py").is_file() for root in place.roots):
                return True
    return "." in place.module


_IMPORTING = Lock()
"""coverage.py's modules import each other: two threads that import them at once can fail."""


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
