"""The execution probe (Liu et al. 2024, definition 1): does the model know the output of this code?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Any, ClassVar

from counterlens.errors import OptionError, SourceError
from counterlens.judging.base import lasting
from counterlens.languages.registry import title_of
from counterlens.metrics.closed import Closed, share_above_chance
from counterlens.metrics.figures import ComputedFigure, draw_figures
from counterlens.metrics.table import Table
from counterlens.models.base import Model
from counterlens.probes.common_options import DEFAULT_TIMEOUT, Timeout
from counterlens.probes.execution import mutated
from counterlens.probes.execution.calls import WorthwhileCall, worthwhile_calls
from counterlens.probes.execution.choices import (
    AMONG_OTHERS,
    output_choices,
    output_questions,
    ranked_outputs,
    weighed_outputs,
)
from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.methods import METHODS
from counterlens.probes.execution.prompts import STYLES, StyleTokens
from counterlens.probes.execution.published import PROTOCOL
from counterlens.probes.execution.questions import (
    ExecutionQuestion,
    agrees,
    ask_all,
    question_about,
    question_of,
    reachable,
)
from counterlens.probes.execution.record import ExecutionRecord, Form
from counterlens.probes.execution.tables import baselines, pick, rate
from counterlens.probes.options import PromptedOptions, option, protocols
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.prompts.baselines import first_words
from counterlens.probes.prompts.closed_figures import BY_MODEL, by_way, closed_table
from counterlens.probes.sanity import repeats
from counterlens.sandbox.base import Limits
from counterlens.syntax.functions import MODULE, find_function


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionOptions(PromptedOptions):
    """Options of the execution probe."""

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        PROTOCOL: {"unroll": True, "ask_by": "text"},
        mutated.PROTOCOL: {"unroll": False},
    }

    timeout: Timeout = DEFAULT_TIMEOUT
    max_tokens: StyleTokens = None
    protocol: Annotated[str | None, protocols(PROTOCOL, mutated.PROTOCOL)] = None
    unroll: Annotated[bool, option("Also ask about the function with its loops unrolled.")] = False


class ExecutionProbe(Probe[ExecutionOptions, ExecutionRecord]):
    """Independent execution reasoning: the model's prediction of the result of a call, and the result."""

    id = "execution"
    title = "does it know what the code returns?"
    source = Source("Liu et al. 2024", "definition 1")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    whole_programs = True
    options = ExecutionOptions
    record = ExecutionRecord

    def check_target(self, target: Target, options: ExecutionOptions) -> None:
        """Like `Probe.check_target`; the protocol leaves out unrolled versions one by one."""
        reachable(target)
        language = target.document.language
        method = METHODS[options.chosen_protocol]
        if method.mutates and target.qualname == MODULE:
            raise SourceError(
                f"--protocol {options.protocol} asks about calls of functions, not about whole programs",
                "Use --data cruxeval, for example",
            )
        if options.unroll and not method.leaves_out and not execution_of(language).unrolls:
            raise OptionError(
                f"--unroll is not for {title_of(language)}, whose loops are not unrolled",
                "Leave out --unroll",
            )

    def run(self, context: Context, target: Target, options: ExecutionOptions) -> ExecutionRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: there is no usable call.
        """
        limits = lasting(options.timeout)
        context.steps.next(f"running {target.name}")
        method = METHODS[options.chosen_protocol]
        seed, calls = options.seed, list[WorthwhileCall]()
        if method.chooses and target.qualname != MODULE:
            calls = worthwhile_calls(context, target, reachable(target), seed=seed, limits=limits)
        questions = [
            question_of(context, target, seed=seed, limits=limits, inputs=method.inputs, calls=calls)
        ]
        left_out = Counter[str]()
        if options.unroll:
            try:
                questions.append(unroll(context, target, questions[0], limits))
            except SourceError as error:
                left_out[f"the unrolled version is left out: {error.message}"] += 1
        versions = list[mutated.MutatedProgram]()
        if method.mutates:
            versions = mutated.versions_of(context, target, questions[0], left_out, seed=seed, limits=limits)
            questions += [version.question for version in versions]
        asking = method.asking(context.model.info, options.max_tokens)
        outputs = output_questions(context, target, calls, seed=seed, limits=limits) if calls else []
        answers, chosen = ask_all(context, questions, asking, weighed_outputs(context, outputs, asking))
        choices = tuple(output_choices(outputs, chosen))
        answers, changed = mutated.split_answers(answers, versions)
        return ExecutionRecord(answers=answers, choices=choices, versions=changed, left_out=left_out)

    def tables(self, records: Sequence[ExecutionRecord], *, seed: int) -> tuple[Table, ...]:
        figures = METHODS[records[0].protocol].execution_figures
        chosen = ComputedFigure[ExecutionRecord](lambda r, seed: closed_table(ranked_choices(r), seed=seed))
        return draw_figures([*figures, chosen], records, seed=seed)

    def summary(self, records: Sequence[ExecutionRecord]) -> str:
        answers = list(chain.from_iterable(record.answers for record in records))
        parts = []
        for name, style in STYLES.items():
            if asked := pick(answers, name, Form.STANDING):
                share = rate(list(asked.values()))
                parts.append(f"{share.count} of {share.n} {style.title}")
        standing = [answer for answer in answers if answer.form is Form.STANDING]
        weak = first_words(baselines(standing))
        more = mutated.finding(records) if METHODS[records[0].protocol].mutates else ""
        return f"{weak}Calls whose result the model predicted: {', '.join(parts)}.{more}"

    def measures(self, record: ExecutionRecord) -> Mapping[str, bool]:
        """Like `Probe.measures`: whether it was right, by style."""
        standing = [answer for answer in record.answers if answer.form is Form.STANDING]
        return {STYLES[answer.style].title: answer.right for answer in standing}

    def excess(self, record: ExecutionRecord) -> float | None:
        """Like `Probe.excess`: the share of outputs chosen right above that of a random choice."""
        asked = ranked_choices([record]).get((AMONG_OTHERS, BY_MODEL), [])
        return share_above_chance(asked).value

    def estimate(self, target: Target, options: ExecutionOptions, model: Model) -> int:
        reachable(target)
        if METHODS[options.chosen_protocol].mutates:
            return 2 + len(mutated.MUTATIONS) + repeats(model)
        return len(STYLES) * (2 if options.unroll else 1) + repeats(model)


def ranked_choices(records: Sequence[ExecutionRecord]) -> dict[tuple[str, str], list[Closed]]:
    """The questions for outputs among others, by what was asked and what ranks the candidates."""
    return by_way(
        (
            AMONG_OTHERS,
            ranked_outputs(record.target, each.call, each.truth, each.candidates, each.logprobs),
        )
        for record in records
        for each in record.choices
    )


def unroll(
    context: Context, target: Target, question: ExecutionQuestion, limits: Limits
) -> ExecutionQuestion:
    """The same question about the program without loops.

    Raises:
        SourceError: there are no loops, or not all can be unrolled; the message says why.
        SandboxError, Cancelled: as the sandbox.
    """
    if question.printed:
        raise SourceError("the loops of whole programs are not unrolled")
    function, language = (
        find_function(target.document, target.qualname),
        execution_of(target.document.language),
    )
    document = language.written_out(target.document, function, question.call, context.setting(limits))
    try:
        asked = question_about(
            context,
            target.name,
            document,
            function.qualname,
            question.input,
            limits=limits,
            form=Form.UNROLLED,
        )
    except SourceError as error:
        raise SourceError(f"it cannot be unrolled: {error.message}") from None
    if not agrees(document, asked.truth.written, question.truth.value):
        raise SourceError("it returns another result when unrolled")
    # The rounds and features are those of the program with its loops.
    return replace(
        asked, truth=replace(asked.truth, rounds=question.truth.rounds), features=question.features
    )
