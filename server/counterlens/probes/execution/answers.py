"""Answers about the outputs of calls, after the sanity checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.printing import PRINTED
from counterlens.probes.execution.prompts import STYLES, prompt
from counterlens.probes.execution.questions import ExecutionQuestion
from counterlens.probes.execution.record import ExecutionAnswer
from counterlens.probes.probe import Context
from counterlens.probes.prompts.literals import short
from counterlens.probes.sanity import require_repeatable


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
    context: Context, questions: Sequence[ExecutionQuestion], asking: Asking
) -> tuple[ExecutionAnswer, ...]:
    """Ask every question in every style; the first one twice.

    Args:
        context: The model and the steps.
        asking: How to ask.

    Raises:
        CounterlensError: a repeated question gets another answer.
        ModelError, Cancelled: as the model.
    """
    answers: list[ExecutionAnswer] = []
    total = len(questions) * len(asking.styles)
    for style in asking.styles:
        for question in questions:
            context.steps.next(f"asking for {short(question.call)}", len(answers), total)
            answers.append(
                ask(context, question, style, asking)
                if answers
                else ask_twice(context, question, style, asking)
            )
    return tuple(answers)


def ask_twice(context: Context, question: ExecutionQuestion, style: str, asking: Asking) -> ExecutionAnswer:
    """Ask one question, then again without the cache to check that the answer is the same.

    Raises:
        CounterlensError: the answers differ.
        ModelError, Cancelled: as the model.
    """
    first = ask(context, question, style, asking)
    require_repeatable(
        context.model.info.name,
        "answer the same question",
        first.said,
        lambda: ask(context.uncached, question, style, asking).said,
    )
    return first


def ask(context: Context, question: ExecutionQuestion, style: str, asking: Asking) -> ExecutionAnswer:
    """Ask one question.

    Raises:
        ModelError, Cancelled: as the model.
    """
    language, info = question.language, context.model.info
    asked = prompt(
        info,
        style,
        question.source,
        question.call,
        asking.max_tokens,
        language=language,
        printed=question.printed,
    )
    said = context.complete(asked)
    truth, made = question.truth, question.features
    values = PRINTED if question.printed else execution_of(language).values
    written = truth.written if asking.as_written else None
    answer = STYLES[style].read(
        said, truth.value, written, language=language, asked=asked, printed=question.printed
    )
    return ExecutionAnswer(
        target=question.target,
        call=question.call,
        input=question.input.origin,
        form=question.form,
        truth=truth.written,
        type=values.type_name(truth.value),
        style=style,
        said=said.text,
        finish=said.finish,
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
