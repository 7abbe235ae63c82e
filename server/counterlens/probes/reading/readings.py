"""Readings: versions of a function that a model writes from its name, signature and docstring alone.

The code and its readings run on the same inputs (Li et al. 2023, Differential Prompting; Liu et al. 2025,
TrickCatcher). Where most readings return the same value and the code returns another one, docstring and code
disagree. Nothing says which of the two is wrong. If the readings differ from each other, the model does not
know what the docstring means, and nothing is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Event

from counterlens.counting import plural
from counterlens.errors import SourceError
from counterlens.judging.base import Judge, Judgement, Setting
from counterlens.judging.languages import judging_of, run_versions
from counterlens.judging.registry import find_judge
from counterlens.judging.versions import InputOutcomes, VersionOutcome, VersionRuns
from counterlens.models.base import Capability, Completion, Draw
from counterlens.models.cache import NotCachedError, cache_of
from counterlens.probes.execution.translation import description, without_examples
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.function_text import behind_docstring
from counterlens.probes.prompts.gap import Gap, View
from counterlens.syntax.functions import Function, find_function

LEAST_WORDS = 4
"""Words of a description, without examples, below which nothing can be read from it."""
SAMPLES = 5
"""Readings that are drawn where the likeliest one differs from the code."""
TEMPERATURE = 0.8
"""At which they are drawn."""
_STEPS = 12
"""Maximum steps from a drawn input to a simpler one."""


@dataclass(frozen=True, slots=True)
class Majority:
    """How many readings must agree before docstring and code are said to disagree.

    Attributes:
        fewest: Their number.
        share: Their share of the readings that count, too.
    """

    fewest: int = 4
    share: float = 1.0

    def __str__(self) -> str:
        return f"{self.fewest} and {self.share:.0%}"

    def holds(self, agreeing: int, counted: int) -> bool:
        """Whether so many agree."""
        return agreeing >= max(self.fewest, self.share * counted)


@dataclass(frozen=True, slots=True)
class Consensus:
    """How many readings must agree, by what is known of a function's inputs.

    Attributes:
        given: Where an example, a test or a call gives some.
        drawn: Where none is given, so that a drawn one may be none that the docstring is about.
    """

    given: Majority = Majority()
    drawn: Majority = Majority(SAMPLES + 1)


USUAL = Consensus()
"""What the probe asks for, whatever the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocstringReading:
    """A version of the function that the model wrote.

    Attributes:
        body: Its body, as written.
        finish: `stop` or `length`, as in `Completion`.
        dropped: Why it does not count; empty if it does.
        alike: Whether it behaves like the code on every input.
    """

    body: str
    finish: str
    dropped: str
    alike: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An input on which most readings agree with each other and not with the code.

    Attributes:
        call: The input, as a call.
        given: Whether it comes from an example or a test; else it was drawn.
        code: The outcome of the code, in words.
        readings: The outcome of the readings that agree.
        agreeing: Number of readings that agree.
        of: Number of readings that count.
        reading: Index of the first of them.
    """

    call: str
    given: bool
    code: str
    readings: str
    agreeing: int
    of: int
    reading: int


@dataclass(frozen=True, slots=True)
class WrittenReadings:
    """The readings of a function, and the code and all of them on the same inputs.

    Attributes:
        completions: What the model wrote: the likeliest version first; others only if that one differs.
        programs: The whole file with each.
        judge: The judge by the function's tests and examples; None if there are none, or none was needed.
        dropped: For each, why it does not count; empty if it does.
    """

    completions: list[Completion]
    programs: list[str]
    runs: VersionRuns
    judge: Judge | None
    dropped: list[str]

    def is_alike(self, number: int) -> bool:
        """Whether a reading, from 1, has the outcome of the code for every input that can be compared."""
        return is_alike(self.runs, number)

    def disagreement(self, rule: Consensus = USUAL) -> Disagreement | None:
        """What `disagreement` says of the readings that count, on an input as simple as can be.

        Raises:
            SandboxError, Cancelled: as `FurtherInputs.outcomes`.
        """
        counted = [at for at, reason in enumerate(self.dropped, 1) if not reason]
        shown = disagreement(self.runs, counted, rule)
        return shown if shown is None else _simplest(shown, self.runs, counted, rule)


def require_readable(target: Target) -> Function:
    """The function of a target that can be read.

    Raises:
        SourceError: there is no such function, or its description is shorter than a sentence.
    """
    function = find_function(target.document, target.qualname)
    require_described(target, function)
    return function


def require_described(target: Target, function: Function) -> None:
    """Require that the description of a function is a sentence.

    Raises:
        SourceError: it is shorter.
    """
    words = without_examples(description(target, function) or "", function.name).split()
    if len(words) < LEAST_WORDS:
        raise SourceError("its docstring is shorter than a sentence", "Say in it what the function does")


def gap_of(target: Target, function: Function) -> Gap:
    """The hole of the function's body. The prompt shows what the function uses of its file before it."""
    view = View(target.description, used=True)
    return Gap.of(target.document, function, behind_docstring(target.document, function), view)


def write_readings(
    context: Context, gap: Gap, draws: Sequence[Draw | None], max_tokens: int, what: str
) -> list[Completion]:
    """Have the model write bodies, all in one call so that the prompt is read once; no draw is greedy.

    Args:
        what: The name of the step, for progress.

    Raises:
        ModelError, Cancelled: as `Model.complete`.
    """
    return context.complete_all(what, [gap.own_prompt(max_tokens, draw) for draw in draws])


def read(
    context: Context,
    target: Target,
    function: Function,
    setting: Setting,
    *,
    samples: int,
    seed: int,
    max_tokens: int,
    check_first: Callable[[Completion], None] = lambda _: None,
) -> WrittenReadings:
    """Have the model read a docstring: the likeliest version and, if that one differs, samples in one call.

    Args:
        check_first: Called with the likeliest version before anything runs.

    Raises:
        SourceError: there are no inputs.
        ModelError, SandboxError, Cancelled: as `write_readings` and `run_readings`.
    """
    gap, steps = gap_of(target, function), context.steps
    what = f"reading the docstring of {target.name}"
    try:
        cached = replace(context, model=cache_of(context.model))
        completions = write_readings(cached, gap, [None], max_tokens, what)
    except NotCachedError:
        steps.next(f"looking for inputs of {target.name}")
        run_readings(target, function, setting, [])  # the model writes for many times as long as this takes
        completions = write_readings(context, gap, [None], max_tokens, what)
    check_first(completions[0])
    steps.next(f"running {target.name} beside what was read")
    programs = [gap.fill(completions[0].text)]
    runs = run_readings(target, function, setting, programs)
    if is_alike(runs, 1):
        return WrittenReadings(completions, programs, runs, None, [""])
    if context.model.offers(Capability.SAMPLE, cancel=context.cancel):
        draws = [Draw(TEMPERATURE, seed, number) for number in range(samples)]
        completions += write_readings(context, gap, draws, max_tokens, f"{what} again")
        programs = [gap.fill(completion.text) for completion in completions]
        steps.next(f"running {target.name} beside {plural(len(programs), 'version')}")
        runs = run_readings(target, function, setting, programs)
    judge = judge_of(target, function, setting)
    dropped = reasons_to_drop(target, function, judge, completions, programs, runs, setting.cancel)
    return WrittenReadings(completions, programs, runs, judge, dropped)


def run_readings(
    target: Target, function: Function, setting: Setting, programs: Sequence[str]
) -> VersionRuns:
    """Run the code and its readings on the same inputs.

    Raises:
        SourceError: there are no inputs.
        SandboxError, Cancelled: as `run_versions`.
    """
    runs = run_versions(target.document, function, programs, setting)
    if isinstance(runs, str):
        raise SourceError(f"no inputs can compare it with its readings: {runs}")
    if all(each.outcomes[0].group is None for each in runs.inputs):
        why = runs.troubles[0] or "its outcome is known for none"
        raise SourceError(f"no inputs can compare it with its readings: {why}")
    return runs


def judge_of(target: Target, function: Function, setting: Setting) -> Judge | None:
    """The judge of readings by the tests and examples of the function; None if there are none.

    Raises:
        SandboxError, Cancelled: as `find_judge`.
    """
    return find_judge(target.document, function, setting, fallback=False, witnessed=False)


def reasons_to_drop(
    target: Target,
    function: Function,
    judge: Judge | None,
    completions: Sequence[Completion],
    programs: Sequence[str],
    runs: VersionRuns,
    cancel: Event | None = None,
) -> list[str]:
    """For each reading, why it does not count; empty if it does.

    A reading that is empty or did not end, that cannot be called, that fails an example of the docstring or a
    test of the function, or that raises where the code and all others return, shows nothing about the code.

    Args:
        completions: What the model wrote.
        programs: The whole file with each of them.
        runs: The code and all of them on the same inputs.

    Raises:
        SandboxError, Cancelled: as `Judge.judge`.
    """
    language = judging_of(target.document.language)
    stated = language.stated_examples(description(target, function) or "", function.name)
    reasons: list[str] = []
    for number, (completion, program) in enumerate(zip(completions, programs, strict=True), 1):
        trouble = unwritten(completion) or runs.troubles[number]
        if trouble is None and _raises_alone(runs, number):
            trouble = "it raises where all others return"
        if trouble is None and any(
            language.contradicts(stated, each.call, each.outcomes[number].text) for each in runs.inputs
        ):
            trouble = "it contradicts an example in the docstring"
        if trouble is None and judge is not None:
            judgement = judge.judge(program, cancel=cancel).judgement
            trouble = None if judgement in {Judgement.PASSED, Judgement.REFUSED} else "it fails a test"
        reasons.append(trouble or "")
    return reasons


def unwritten(completion: Completion) -> str | None:
    """Why what a model wrote is no version of a function; None if it is one."""
    if completion.finish == "length":
        return "it did not end"
    return None if completion.text.strip() else "nothing was written"


def _raises_alone(runs: VersionRuns, number: int) -> bool:
    return any(
        not each.outcomes[number].returned
        and all(outcome.returned for at, outcome in enumerate(each.outcomes) if at != number)
        for each in runs.inputs
        if len(each.outcomes) > 2
    )


def is_alike(runs: VersionRuns, number: int) -> bool:
    """Whether a reading has the outcome of the code for every input that can be compared."""
    compared = [each for each in runs.inputs if each.outcomes[0].group is not None]
    return bool(compared) and all(each.outcomes[number].group == 0 for each in compared)


def disagreement(runs: VersionRuns, counted: Sequence[int], rule: Consensus = USUAL) -> Disagreement | None:
    """The most telling input on which enough readings agree, and the code does otherwise.

    Given inputs come first, then those on which more readings agree, then shorter calls. An input on which
    a reading of the majority raises does not count, nor one that was drawn and on which the code raises: the
    docstring may not speak of it. Nor may it of one that is unlike the given ones, or for which the readings
    return None.

    Args:
        counted: The readings that count, from 1.
        rule: How many of them must agree.
    """
    telling = [
        majority for outcomes in runs.inputs if (majority := _majority(outcomes, counted, rule)) is not None
    ]
    return min(
        telling,
        key=lambda majority: (not majority.given, -majority.agreeing, len(majority.call)),
        default=None,
    )


def _simplest(
    shown: Disagreement, runs: VersionRuns, counted: Sequence[int], rule: Consensus
) -> Disagreement:
    """The same disagreement on a simpler drawn input, on which enough readings agree, too.

    Steps are tried with the code and one reading alone, then all run on the inputs that were found.
    """
    if shown.given or runs.further is None:
        return shown
    call, steps = shown.call, list[str]()
    for _ in range(_STEPS):
        tried = runs.further.outcomes(runs.further.simpler(call), (0, shown.reading + 1))
        apart = (each.call for each in tried if _are_apart(*each.outcomes))
        call = next(apart, "")
        if not call:
            break
        steps.append(call)
    versions = range(len(runs.troubles))
    simplest_first = runs.further.outcomes(steps[::-1], versions)
    again = (_majority(each, counted, rule) for each in simplest_first)
    return next((each for each in again if each is not None), shown)


def _are_apart(code: VersionOutcome, reading: VersionOutcome) -> bool:
    comparable = code.returned and reading.returned and None not in (code.group, reading.group)
    return comparable and code.text != reading.text


def _majority(outcomes: InputOutcomes, counted: Sequence[int], rule: Consensus) -> Disagreement | None:
    code = outcomes.outcomes[0]
    if code.group is None or not (outcomes.given or (code.returned and outcomes.like_given is not False)):
        return None
    groups = Counter(
        outcome.group
        for number in counted
        if (outcome := outcomes.outcomes[number]).returned
        and outcome.group is not None
        and (outcomes.given or not outcome.is_none)
    )
    group, agreeing = groups.most_common(1)[0] if groups else (0, 0)
    # The same value with another effect: of effects, docstrings seldom speak.
    alike = outcomes.outcomes[group].text == code.text
    majority = rule.drawn if outcomes.like_given is None else rule.given
    if alike or not majority.holds(agreeing, len(counted)):
        return None
    return Disagreement(
        call=outcomes.call,
        given=outcomes.given,
        code=code.text,
        readings=outcomes.outcomes[group].text,
        agreeing=agreeing,
        of=len(counted),
        reading=group - 1,
    )
