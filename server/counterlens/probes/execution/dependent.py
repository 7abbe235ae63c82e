"""The dependent execution probe (Liu et al. 2024, definition 2): does it know the output of its own code?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from counterlens.counting import plural
from counterlens.errors import SourceError
from counterlens.judging.base import Judge, Judgement, lasting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.metrics.table import Table
from counterlens.models.base import Model
from counterlens.probes.common_options import (
    DEFAULT_MAP_TIMEOUT,
    DEFAULT_TIMEOUT,
    ExcludedTests,
    MapTimeout,
    Timeout,
)
from counterlens.probes.execution.dependent_tables import (
    answers_of,
    synthesis_rate,
)
from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.methods import METHODS
from counterlens.probes.execution.prompts import STEPS, STYLES, WRITTEN_TOKENS, StyleTokens, most_tokens
from counterlens.probes.execution.published import PROTOCOL
from counterlens.probes.execution.questions import (
    ExecutionQuestion,
    agrees,
    ask_all,
    question_about,
    question_of,
    reachable,
)
from counterlens.probes.execution.record import DependentExecutionRecord, ExecutionAnswer, Form, Synthesis
from counterlens.probes.execution.tables import baselines, ended_answers, pick
from counterlens.probes.execution.translation import (
    FromLanguage,
    Specification,
    as_translation,
    description,
    noted,
    to_translate,
    translation_of,
    write_each,
)
from counterlens.probes.options import PromptedOptions, protocols
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.prompts.baselines import first_words
from counterlens.probes.record import steady
from counterlens.probes.sanity import repeats
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

Models = Mapping[str, Sequence[DependentExecutionRecord]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DependentExecutionOptions(PromptedOptions):
    """Options of the dependent execution probe."""

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {PROTOCOL: {"ask_by": "text"}}

    timeout: Timeout = DEFAULT_TIMEOUT
    map_timeout: MapTimeout = DEFAULT_MAP_TIMEOUT
    excluded_tests: ExcludedTests = ()
    max_tokens: StyleTokens = None
    from_language: FromLanguage = None
    protocol: Annotated[str | None, protocols(PROTOCOL)] = None


class DependentExecutionProbe(Probe[DependentExecutionOptions, DependentExecutionRecord]):
    """Dependent execution reasoning: the model's prediction of the output of its own code."""

    id = "dependent-execution"
    title = "does it know what its own code returns?"
    source = Source("Liu et al. 2024", "definition 2")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX, Need.TESTS})
    whole_programs = True
    options = DependentExecutionOptions
    record = DependentExecutionRecord

    def check_target(self, target: Target, options: DependentExecutionOptions) -> None:
        """Like `Probe.check_target`: a function needs a description, or a program to translate."""
        _specification(target, reachable(target), options.from_language)

    def run(
        self, context: Context, target: Target, options: DependentExecutionOptions
    ) -> DependentExecutionRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: the function has no description, no judge, or no usable call.
        """
        context.steps.next(f"writing {target.name}")
        synthesis, questions = _synthesise(context, target, options, lasting(options.timeout))
        method = METHODS[options.chosen_protocol]
        asking = method.asking(context.model.info, options.max_tokens, (STEPS,))
        answers, _ = ask_all(context, questions, asking)
        unasked = {f"the model's own code is left out: {synthesis.unasked}": 1} if synthesis.unasked else {}
        return DependentExecutionRecord(
            translated_from=noted(options.from_language),
            syntheses=(replace(synthesis, s_der=_scores(synthesis, answers)),),
            answers=answers,
            left_out=unasked,
        )

    def tables(self, records: Sequence[DependentExecutionRecord], *, seed: int) -> tuple[Table, ...]:
        return as_translation(METHODS[records[0].protocol].dependent_tables(records, seed=seed), records)

    def side_by_side(self, models: Models, *, seed: int) -> tuple[Table, ...]:
        """Like `Probe.side_by_side`; for several models also R' on the functions common to all, and ranks."""
        tables = super().side_by_side(models, seed=seed)
        if len(models) < 2:
            return tables
        all_records = [record for records in models.values() for record in records]
        protocol = all_records[0].protocol if all_records else ""
        several = METHODS[protocol].comparison_tables(models)
        return (*tables, *(as_translation(several, all_records) if all_records else several))

    def summary(self, records: Sequence[DependentExecutionRecord]) -> str:
        written = synthesis_rate(records)
        method = METHODS[records[0].protocol]
        own = pick(ended_answers(answers_of(records)), method.style, Form.OWN)
        right = sum(answer.right for answer in own.values())
        kind = f" ({translation_of(records)})" if translation_of(records) else ""
        asked = f"{plural(written.n, 'function')}{kind}"
        weak = first_words(baselines(answers_of(records)))
        return weak + method.summary.format(written.count, asked, right, len(own))

    def measures(self, record: DependentExecutionRecord) -> Mapping[str, bool]:
        """Like `Probe.measures`: whether it wrote the function right, and predicts its output."""
        (synthesis,) = record.syntheses
        return {
            "written correctly": synthesis.correct,
            **{f"own code, {STYLES[style].title}": bool(score) for style, score in synthesis.s_der.items()},
        }

    def estimate(self, target: Target, options: DependentExecutionOptions, model: Model) -> int:  # noqa: ARG002
        """Like `Probe.estimate`: assuming that the written function is right."""
        reachable(target)
        return 1 + 2 * len(STYLES) + repeats(model)


def _synthesise(
    context: Context, target: Target, options: DependentExecutionOptions, limits: Limits
) -> tuple[Synthesis, list[ExecutionQuestion]]:
    """Have a function written and judged; return also the questions about the reference and the own code."""
    function = reachable(target)
    specification = _specification(target, function, options.from_language)
    judge, judging = _judging(context, target, function, limits, options)
    inputs = METHODS[options.chosen_protocol].inputs
    reference = question_of(context, target, seed=options.seed, limits=limits, inputs=inputs)
    tokens = most_tokens(context.model.info, options.max_tokens, WRITTEN_TOKENS)
    (written,) = write_each(context, target.document, function, [specification], tokens)
    verdict = judging.verdict(written.program)
    if verdict.judgement is Judgement.REFUSED:
        raise SourceError(f"the implementation cannot be judged: {verdict.evidence.message.splitlines()[0]}")
    document = replace(target.document, text=written.program)
    questions, unasked = [reference], ""
    if verdict.passed:
        try:
            questions.append(_own(context, target, reference, document, limits))
        except SourceError as error:
            unasked = error.message
    return Synthesis(
        target=target.name,
        call=reference.call,
        input=reference.input.origin,
        program=written.program,
        finish=written.finish,
        judged_by=steady(judge.described),
        judgement=verdict.judgement,
        failed=steady(verdict.evidence.failed or ""),
        correct=verdict.passed,
        unasked=steady(unasked),
        complexity=_complexity(document, function.qualname),
        reference_complexity=reference.features.complexity if reference.features else None,
        s_der={},
    ), questions


def _specification(target: Target, function: Function, language: str | None) -> Specification:
    """What a function is written from.

    Raises:
        SourceError: there is none.
    """
    if language is not None:
        return to_translate(target, language)
    text = description(target, function)
    if text is None:
        raise SourceError("it has no description to implement", "Add a docstring")
    return Specification(text)


def _judging(
    context: Context,
    target: Target,
    function: Function,
    limits: Limits,
    options: DependentExecutionOptions,
) -> tuple[Judge, Judging]:
    """The tests of a function, which pass on the unchanged function and fail without its body."""
    judge = target.judge or find_judge(
        target.document,
        function,
        replace(
            context.setting(limits, interpreter_for(target.document.path)),
            vetted=context.vetted,
            surveyed=context.surveyed,
            map_timeout=options.map_timeout,
            excluded=tuple(options.excluded_tests),
        ),
        fallback=False,
    )
    if judge is None:
        raise SourceError("it has no tests to judge an implementation", "Add a doctest or a test")
    judging = Judging(judge, target.document, function, context.steps, limits)
    try:
        judging.check_own_tests()
        judging.check_identity()
    except SourceError as error:
        reason = error.message.replace(function.qualname, "it", 1).partition(" (")[0]
        raise SourceError(reason, error.hint) from None
    return judge, judging


def _own(
    context: Context, target: Target, reference: ExecutionQuestion, document: Document, limits: Limits
) -> ExecutionQuestion:
    """The question about the model's code, without comments and docstrings (section IV-B)."""
    language = execution_of(document.language)
    shown = language.without_comments(document)
    if reference.printed:  # it has passed its tests, so it prints what the reference prints
        return replace(reference, form=Form.OWN, source=shown.text, features=language.features(shown.text))
    own = question_about(
        context,
        target.name,
        shown,
        target.qualname,
        reference.input,
        limits=limits,
        form=Form.OWN,
    )
    if not agrees(document, own.truth.written, reference.truth.value):
        raise SourceError("its result for the input differs from the reference")
    return own


def _complexity(document: Document, qualname: str) -> int | None:
    try:
        function = find_function(document, qualname)
    except SourceError:
        return None
    made = execution_of(document.language).features(
        document.data[function.header : function.end].decode("utf-8", "replace")
    )
    return made.complexity if made else None


def _scores(synthesis: Synthesis, answers: Sequence[ExecutionAnswer]) -> dict[str, int]:
    """The dependent execution reasoning score for each style (Liu et al. 2024, equation 2)."""
    own = {answer.style: answer.right for answer in answers if answer.form is Form.OWN}
    asked = {answer.style: None for answer in answers}
    return {style: int(synthesis.correct and own.get(style, False)) for style in asked}
