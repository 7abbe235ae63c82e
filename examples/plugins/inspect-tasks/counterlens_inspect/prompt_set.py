"""Prompts for a harness that has its own model: originals, counterfactuals and placebos, and their judge.

Nothing here sends requests to a model, or depends on the harness. Prompts and replies have the format of chat
models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock

from counterlens.errors import DataError, SourceError
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.settings import RunSettings
from counterlens.judging.base import Judgement
from counterlens.metrics.effects import Effect, Proportion, average_mutation_effect, pooled_share
from counterlens.models.callback import CallbackModel
from counterlens.models.chat.turn import Turn
from counterlens.mutations import Counterfactual
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.preparing import CompletionOptions, PreparedPairs, prepare
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.runner import UNOPENED
from counterlens.sandbox.base import Sandbox

TASK = "completion"
ORIGINAL, COUNTERFACTUAL, PLACEBO = "original", "counterfactual", "placebo"


@dataclass(frozen=True, slots=True)
class PromptSample:
    """One prompt.

    Attributes:
        id: `PROBLEM:original`, with a number from the second cut on, or `PROBLEM:MUTATION:NUMBER`.
        problem: The function's name in the data.
        which: `original`, `counterfactual` or `placebo`.
        original: Id of the original with which it is compared; its own id for an original.
        mutation: The id of the mutation or placebo; empty for an original.
        description: The change, in one sentence.
        messages: Role (`system` or `user`) and text of each message to a chat model.
    """

    id: str
    problem: str
    which: str
    original: str
    mutation: str
    description: str
    messages: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ReplyVerdict:
    """The verdict on a reply.

    Attributes:
        completion: The code in the reply, up to the end of the function.
        right: Whether the program passes; None if it could not be judged.
        explanation: The verdict in words, with the test that failed.
    """

    completion: str
    right: bool | None
    explanation: str


@dataclass(frozen=True, slots=True)
class ScoredSample:
    """A sample with a verdict, as input for figures.

    Attributes:
        which: See `PromptSample`.
        original: See `PromptSample`.
        problem: See `PromptSample`.
        right: Whether the program passed.
    """

    id: str
    which: str
    original: str
    problem: str
    right: bool


@dataclass(frozen=True)
class PromptSet:
    """The prompts of a dataset or a repository.

    Attributes:
        samples: The prompts, in the order of the data; each counterfactual after its original.
        left_out: Functions without prompts, with the reason.
        max_tokens: Maximum number of tokens of a reply.
    """

    samples: tuple[PromptSample, ...]
    left_out: Mapping[str, str]
    max_tokens: int
    _holes: Mapping[str, _Hole] = field(repr=False)

    @classmethod
    def of(cls, settings: RunSettings, sandbox: Sandbox) -> PromptSet:
        """Read the data, find the judge of each function, and create its prompts.

        Args:
            settings: A run of the task `completion`; its models are not used.
            sandbox: The sandbox for programs.

        Raises:
            DataError: the data is missing, or none of its functions can be probed.
        """
        plan, options = make_plan(settings, sandbox), settings.options_of(TASK)
        if not isinstance(options, CompletionOptions):
            raise TypeError(f"{TASK} has other options")
        context = Context(UNOPENED, lambda: sandbox, unjudged=False, vetted=True, surveyed=True)
        holes: dict[str, _Hole] = {}
        left_out: dict[str, str] = {}
        for name, target in plan.targets[TASK].items():
            try:
                target_holes = list(_holes(name, target, prepare(context, target, options), options))
            except SourceError as error:
                left_out[name] = error.message
                continue
            if not target_holes:
                left_out[name] = "no counterfactual could be probed"
            holes |= {hole.sample.id: hole for hole in target_holes}
        if not holes:
            why = next(iter(left_out.values()), "it has no function")
            raise DataError(f"no function of {settings.data} can be probed: {why}", "Choose other data")
        samples = tuple(hole.sample for hole in holes.values())
        longest = max(Turn(hole.gap.prompt(options.max_tokens)).max_tokens for hole in holes.values())
        return cls(samples, left_out, longest, holes)

    def judge(self, sample: str, reply: str) -> ReplyVerdict:
        """Judge a model's reply to a sample; from any thread.

        Args:
            sample: The id of the sample.
            reply: The whole reply.
        """
        return self._holes[sample].judge(reply)


@dataclass(frozen=True)
class _Hole:
    """A sample, the source with its hole, and the judge of its function; one program at a time."""

    sample: PromptSample
    gap: Gap
    judging: Judging
    max_tokens: int
    lock: Lock

    def judge(self, reply: str) -> ReplyVerdict:
        model = CallbackModel("reply", "reply", "harness", lambda _request, _cancel: reply)
        (completion,) = model.complete([self.gap.prompt(self.max_tokens)])
        with self.lock:
            verdict = self.judging.verdict(self.gap.fill(completion.text))
        evidence = verdict.evidence
        words = (f"{verdict.judgement} by {evidence.attribution}", evidence.failed, evidence.message)
        right = None if verdict.judgement is Judgement.REFUSED else verdict.passed
        return ReplyVerdict(completion.text, right, "; ".join(filter(None, words)))


def _holes(name: str, target: Target, prepared: PreparedPairs, options: CompletionOptions) -> Iterator[_Hole]:
    """The holes of a function: each original once, and the counterfactuals and placebos."""
    originals: dict[str, str] = {}
    lock = Lock()

    def hole(gap: Gap, *about: str) -> _Hole:
        messages = Turn(gap.prompt(options.max_tokens)).messages
        id_, which, original, mutation, description = about
        sample = PromptSample(id_, name, which, original, mutation, description, messages)
        return _Hole(sample, gap, prepared.judging, options.max_tokens, lock)

    made: list[Counterfactual] = [*prepared.asked, *prepared.controls]
    for number, (counterfactual, (before, after)) in enumerate(zip(made, prepared.gaps, strict=True)):
        if before.shown not in originals:
            more = f":{len(originals) + 1}" if originals else ""
            id_ = originals[before.shown] = f"{name}:{ORIGINAL}{more}"
            yield hole(before, id_, ORIGINAL, id_, "", f"{target.qualname} as it stands")
        which = COUNTERFACTUAL if number < len(prepared.asked) else PLACEBO
        about = (f"{name}:{counterfactual.mutation}:{number}", which, originals[before.shown])
        yield hole(after, *about, counterfactual.mutation, counterfactual.description)


def share_right(scored: Iterable[ScoredSample], which: str) -> Proportion:
    """The share of the samples of one kind that passed, with its 95 % interval over functions."""
    return pooled_share((sample.problem, sample.right) for sample in scored if sample.which == which)


def effect_of(scored: Iterable[ScoredSample], which: str = COUNTERFACTUAL) -> Proportion:
    """The average mutation effect over the informative pairs; for placebos, the noise floor.

    Args:
        scored: The samples with a verdict; a pair with only one of them does not count.
        which: `counterfactual` or `placebo`.
    """
    samples = list(scored)
    originals = {sample.id: sample.right for sample in samples if sample.which == ORIGINAL}
    pairs = [
        (Effect(originals[sample.original], sample.right), sample.problem)
        for sample in samples
        if sample.which == which and sample.original in originals
    ]
    informative = [(effect, problem) for effect, problem in pairs if effect.informative]
    return average_mutation_effect(
        (effect for effect, _ in informative), (problem for _, problem in informative)
    )
