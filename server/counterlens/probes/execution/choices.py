"""The output of a call, chosen among those of other calls: closed questions, for which nothing is written.

Each output of a function is the truth of one question and a candidate of all, so that no output is right more
often than others. If all calls return the same, versions that break the function give the other candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from counterlens.errors import SourceError
from counterlens.metrics.closed import Closed
from counterlens.mutations import survey
from counterlens.mutations.base import WHOLE_PROGRAM
from counterlens.mutations.languages import MUTATED
from counterlens.probes.execution.calls import WorthwhileCall
from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.questions import Asking, ExecutionQuestion, prompt_of, question_about
from counterlens.probes.execution.record import OutputChoice
from counterlens.probes.pairs.counterfactuals import alternate_mutations
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.closed import AnswerSource, WeighedQuestion, how
from counterlens.probes.prompts.closed_figures import BY_MODEL
from counterlens.probes.prompts.literals import Literal
from counterlens.sandbox.base import Limits

AMONG_OTHERS = "output among others"
MOST_CHOICES = 4
"""Maximum number of outputs of a function, and of questions for them."""
_MOST_VERSIONS = 6  # that run, if all calls return the same


@dataclass(frozen=True, slots=True)
class OutputQuestion:
    """The question for an output, with the candidates."""

    question: ExecutionQuestion
    candidates: tuple[str, ...]


def output_questions(
    context: Context, target: Target, calls: Sequence[WorthwhileCall], *, seed: int, limits: Limits
) -> list[OutputQuestion]:
    """The questions for the outputs of some calls; none if there is one output, or the model only writes.

    Args:
        calls: The calls of the function, those that tell most first.
        seed: Random seed of the choice of versions.

    Raises:
        SandboxError, Cancelled: as the sandbox.
    """
    if how(context.model, context.cancel) is AnswerSource.TEXT:
        return []
    values, questions = execution_of(target.document.language).values, list[ExecutionQuestion]()
    for call in calls:
        if len(questions) == MOST_CHOICES:
            break
        if any(values.equal(call.gives.value, each.truth.value) for each in questions):
            continue
        try:
            document, name = target.document, target.qualname
            questions.append(question_about(context, target.name, document, name, call.input, limits=limits))
        except SourceError:
            continue
    outputs = [Literal(each.truth.value, each.truth.written) for each in questions]
    if len(outputs) == 1:
        for other in _outputs_of_versions(context, target, questions[0].call, seed=seed, limits=limits):
            if not any(values.equal(other.value, output.value) for output in outputs):
                outputs.append(other)
            if len(outputs) == MOST_CHOICES:
                break
    candidates = tuple(sorted({output.written for output in outputs}))
    return [OutputQuestion(each, candidates) for each in questions] if len(candidates) > 1 else []


def _outputs_of_versions(
    context: Context, target: Target, call: str, *, seed: int, limits: Limits
) -> Iterator[Literal]:
    """What a call returns in versions that are meant to break the function."""
    document, mutated_language = target.document, MUTATED.get(target.document.language)
    if mutated_language is None:
        return
    breaking = [
        mutated_language.shown.get(name, name)
        for name, mutation in mutated_language.mutations.items()
        if not mutation.preserving and not mutation.needs_observation
    ]
    surveyed = survey(
        document.text,
        mutations=breaking,
        function=target.qualname,
        seed=seed,
        without=(WHOLE_PROGRAM,),
        language=document.language,
    )
    language, setting = execution_of(target.document.language), context.setting(limits)
    for made in alternate_mutations(surveyed.counterfactuals, seed)[:_MOST_VERSIONS]:
        try:
            yield language.output_of(replace(target.document, text=made.source), call, setting)
        except SourceError:
            continue


def weighed_outputs(
    context: Context, asked: Sequence[OutputQuestion], asking: Asking
) -> list[WeighedQuestion]:
    """Some questions for outputs as the model gets them."""
    info = context.model.info
    return [
        WeighedQuestion(prompt_of(info, each.question, "direct", asking), each.candidates, ended=True)
        for each in asked
    ]


def output_choices(
    asked: Sequence[OutputQuestion], logprobs: Sequence[tuple[float, ...]]
) -> list[OutputChoice]:
    """The answers to some questions for outputs, given those of `choose`."""
    return [
        OutputChoice(each.candidates, values, each.question.call, each.question.truth.written)
        for each, values in zip(asked, logprobs, strict=True)
    ]


def ranked_outputs(
    function: str, call: str, truth: str, candidates: tuple[str, ...], logprobs: tuple[float, ...]
) -> Mapping[str, Closed]:
    """The candidates by the model's probabilities, and by what needs no model."""
    right = frozenset({candidates.index(truth)})
    alike = tuple(SequenceMatcher(None, call, output).ratio() for output in candidates)
    shortest = tuple(-float(len(output)) for output in candidates)
    ways = {BY_MODEL: logprobs, "like the call": alike, "shortest": shortest}
    return {way: Closed(function, candidates, scores, right) for way, scores in ways.items()}
