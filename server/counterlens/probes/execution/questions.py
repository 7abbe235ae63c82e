"""Questions of execution reasoning: the output of code for an input (Liu et al. 2024), and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from counterlens.errors import CounterlensError, SourceError
from counterlens.judging.base import Setting
from counterlens.models.base import Completion, ModelInfo, Prompt
from counterlens.probes.execution.calls import WorthwhileCall, worthwhile_calls
from counterlens.probes.execution.language import Features, execution_of
from counterlens.probes.execution.printing import (
    PRINTED,
    Input,
    Inputs,
    Origin,
    inputs_of,
    shown_run,
)
from counterlens.probes.execution.prompts import STYLES, prompt
from counterlens.probes.execution.record import ExecutionAnswer, Form
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.closed import WeighedQuestion, answer_together
from counterlens.probes.prompts.function_text import definition, visible_part
from counterlens.probes.prompts.literals import AnswerOutcome, short
from counterlens.probes.sanity import require_repeatable
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, Function, find_function


@dataclass(frozen=True, slots=True)
class ExecutionQuestion:
    """A program and a call, with its result.

    Attributes:
        target: The function's name in reports.
        input: The call, and its origin.
        features: The features of the function as shown; None if it does not parse.
        source: The program as shown, without the parts that show the answer.
        language: The id of its language.
        form: The form of the shown text.
        printed: Whether the call is the input of a whole program, and its result what that prints.
    """

    target: str
    input: Input
    truth: CallTruth
    features: Features | None
    source: str
    language: str
    form: Form = Form.STANDING
    printed: bool = False

    @property
    def call(self) -> str:
        """The call."""
        return self.input.call


def question_of(
    context: Context,
    target: Target,
    *,
    seed: int,
    limits: Limits,
    inputs: Inputs = Inputs.ANY,
    calls: Sequence[WorthwhileCall] = (),
) -> ExecutionQuestion:
    """The question about one call of a function, the first with a usable result.

    Args:
        context: The sandbox, and cancellation.
        seed: Random seed of generated or drawn inputs.
        limits: Limits of each run of the function.
        inputs: The kind of inputs.
        calls: What `worthwhile_calls` returned, if that is known: its calls need not run again.

    Raises:
        SourceError: there is none, and the message says why; or the function does not exist.
        SandboxError, Cancelled: as the sandbox.
    """
    if target.qualname == MODULE:
        given, due = shown_run(context, target)
        document = target.document
        language = execution_of(document.language)
        return ExecutionQuestion(
            target.name,
            Input(given, Origin.DATASET),
            CallTruth(due, due, None),
            language.features(document.text),
            document.text.replace("\r\n", "\n"),
            document.language,
            printed=True,
        )
    function = reachable(target)
    failed: str | None = None
    if inputs is not Inputs.ANY:
        candidates = inputs_of(context, target, function, seed=seed, limits=limits, inputs=inputs)
    else:
        worthwhile = calls or worthwhile_calls(context, target, function, seed=seed, limits=limits)
        candidates = (call.input for call in worthwhile)
    for asked in candidates:
        try:
            return question_about(
                context, target.name, target.document, function.qualname, asked, limits=limits
            )
        except SourceError as error:
            failed = failed or error.message
    raise SourceError(failed or "no call of it with literal arguments was found")


def reachable(target: Target) -> Function:
    """The function of a target, if a standalone call can reach it; a whole program runs by itself.

    Raises:
        SourceError: none can, or it does not exist.
    """
    function = find_function(target.document, target.qualname)
    if target.qualname == MODULE:
        return function
    execution_of(target.document.language).require_reachable(target.document, function)
    return function


def question_about(
    context: Context,
    name: str,
    document: Document,
    qualname: str,
    asked: Input,
    *,
    limits: Limits,
    form: Form = Form.STANDING,
) -> ExecutionQuestion:
    """The question about the result of a call of a function; the call runs to get the truth.

    Raises:
        SourceError: the function does not exist, or the call has no usable result.
        CounterlensError: its result cannot be distinguished from another value.
        SandboxError, Cancelled: as the sandbox.
    """
    language = execution_of(document.language)
    truth = truth_of(document, asked.call, context.setting(limits))
    _require_judged(asked.call, truth, document.language)
    cut = language.unanswered(document, find_function(document, qualname), asked.call)
    if cut is not document:
        other = truth_of(cut, asked.call, context.setting(limits))
        if other.written != truth.written:
            raise SourceError("without the code that reveals the answer, the program returns another result")
    made, source = (
        language.features(definition(cut, qualname)),
        visible_part(cut, find_function(cut, qualname)),
    )
    return ExecutionQuestion(name, asked, truth, made, source, document.language, form)


def agrees(document: Document, written: str, truth: Any) -> bool:
    """Whether a value written in a document's language equals another."""
    values = execution_of(document.language).values
    value = values.literal(written)
    return value is not None and values.equal(value.value, truth)


def _require_judged(call: str, truth: CallTruth, language: str) -> None:
    """Check that the truth is a right answer and another value a wrong one; else figures are meaningless."""
    values = execution_of(language).values
    nothing = values.literal(values.null)
    other = values.zero if nothing is not None and values.equal(truth.value, nothing.value) else values.null
    for style in STYLES.values():
        lead = "Answer: " if style.stepwise else ""
        right, wrong = (
            style.read(Completion(f"{lead}{written}", "stop", 0), truth.value, language=language).outcome
            for written in (truth.written, other)
        )
        if (right, wrong) != (AnswerOutcome.RIGHT, AnswerOutcome.WRONG):
            raise CounterlensError(
                f"answers to {call} cannot be judged: {truth.written} counts as {right}",
                "This is a defect of Counterlens; please report it",
            )


@dataclass(frozen=True, slots=True)
class CallTruth:
    """The result of a call.

    Attributes:
        value: The output.
        written: The output as a literal.
        rounds: The total number of rounds of all loops; None if unknown.
    """

    value: Any
    written: str
    rounds: int | None


def truth_of(document: Document, call: str, setting: Setting) -> CallTruth:
    """Run a call, and count the rounds of its loops.

    Arguments and errors are those of `ExecutedLanguage.output_of`. A result that depends on a random order
    has no truth: it raises a SourceError, too.
    """
    language = execution_of(document.language)
    output = language.output_of(document, call, setting)
    language.require_ordered(document, call, output, setting)
    rounds: int | None
    try:
        rounds = language.rounds_of(document, call, setting)
    except SourceError:
        rounds = None
    return CallTruth(output.value, output.written, rounds)


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions are asked, and their answers compared.

    Attributes:
        max_tokens: Token limit of an answer; None for the default of each style.
        styles: The prompt styles.
        as_written: Whether answers are compared as text, as in Liu et al. 2024, instead of by value.
    """

    max_tokens: int | None = None
    styles: tuple[str, ...] = tuple(STYLES)
    as_written: bool = False


def ask_all(
    context: Context,
    questions: Sequence[ExecutionQuestion],
    asking: Asking,
    weighed: Sequence[WeighedQuestion] = (),
) -> tuple[tuple[ExecutionAnswer, ...], list[tuple[float, ...]]]:
    """Ask every question in every style, the first one twice, and some closed questions beside them.

    Args:
        context: The model and the steps.
        asking: How to ask.
        weighed: The closed questions.

    Returns:
        The answers, and the log-probabilities of the candidates, as `choose`.

    Raises:
        CounterlensError: a repeated question gets another answer.
        ModelError, Cancelled: as the model.
    """
    asked = [(question, style) for style in asking.styles for question in questions]
    prompts = [prompt_of(context.model.info, question, style, asking) for question, style in asked]
    what = f"asking for {short(questions[0].call)}"
    said, chosen = answer_together(context.model, prompts, weighed, context.steps, what)
    require_steady_answer(context, prompts[0], said[0])
    answers = tuple(
        read_answer(question, style, asking, sent, completion)
        for (question, style), sent, completion in zip(asked, prompts, said, strict=True)
    )
    return answers, chosen


def require_steady_answer(context: Context, asked: Prompt, completion: Completion) -> None:
    """Ask one question again without the cache to check that the answer is the same.

    Raises:
        CounterlensError: the answers differ.
        ModelError, Cancelled: as the model.
    """
    require_repeatable(
        context.model,
        "answer the same question",
        completion.text,
        lambda: context.uncached.complete(asked).text,
    )


def prompt_of(info: ModelInfo, question: ExecutionQuestion, style: str, asking: Asking) -> Prompt:
    """One question in one style."""
    return prompt(
        info,
        style,
        question.source,
        question.call,
        asking.max_tokens,
        language=question.language,
        printed=question.printed,
    )


def read_answer(
    question: ExecutionQuestion, style: str, asking: Asking, asked: Prompt, completion: Completion
) -> ExecutionAnswer:
    """The answer to one question."""
    language = question.language
    truth, made = question.truth, question.features
    values = PRINTED if question.printed else execution_of(language).values
    written = truth.written if asking.as_written else None
    answer = STYLES[style].read(
        completion, truth.value, written, language=language, asked=asked, printed=question.printed
    )
    return ExecutionAnswer(
        target=question.target,
        call=question.call,
        input=question.input.origin,
        form=question.form,
        truth=truth.written,
        type=values.type_name(truth.value),
        style=style,
        said=completion.text,
        finish=completion.finish,
        answer=answer.written,
        outcome=answer.outcome,
        unread=answer.unread,
        same_type=answer.literal is not None and values.same_type(answer.literal.value, truth.value),
        tags=made.tags if made else None,
        uses=made.uses if made else None,
        apis=made.apis if made else None,
        complexity=made.complexity if made else None,
        lines=made.lines if made else None,
        rounds=truth.rounds,
        copied=answer.copied,
    )
