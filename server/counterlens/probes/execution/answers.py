"""Answers to the questions what calls give, after the checks that come before figures."""

from __future__ import annotations

from collections.abc import Sequence

from counterlens.probes.execution.prompts import STYLES, prompt
from counterlens.probes.execution.questions import ExecutionQuestion
from counterlens.probes.execution.record import ExecutionAnswer
from counterlens.probes.probe import Context
from counterlens.probes.prompts.literals import same_type, short
from counterlens.probes.sanity import require_repeatable


def ask_all(
    context: Context, questions: Sequence[ExecutionQuestion], max_tokens: int | None
) -> tuple[ExecutionAnswer, ...]:
    """Ask every question in every way; the first one twice.

    Args:
        context: The model and the steps.
        questions: The questions.
        max_tokens: How much may be said; None for what each style allows.

    Raises:
        CounterlensError: the same question does not get the same answer.
        ModelError, Cancelled: as the model.
    """
    answers: list[ExecutionAnswer] = []
    total = len(questions) * len(STYLES)
    for style in STYLES:
        for question in questions:
            context.steps.next(f"asking for {short(question.call)}", len(answers), total)
            answers.append(
                ask(context, question, style, max_tokens)
                if answers
                else ask_twice(context, question, style, max_tokens)
            )
    return tuple(answers)


def ask_twice(
    context: Context, question: ExecutionQuestion, style: str, max_tokens: int | None
) -> ExecutionAnswer:
    """Ask one question, and once more whether the answer is the same; then no kept answer is taken.

    Raises:
        CounterlensError: it is not.
        ModelError, Cancelled: as the model.
    """
    first = ask(context, question, style, max_tokens)
    require_repeatable(
        context.model.info.name,
        "answer the same question",
        first.said,
        lambda: ask(context.anew, question, style, max_tokens).said,
    )
    return first


def ask(context: Context, question: ExecutionQuestion, style: str, max_tokens: int | None) -> ExecutionAnswer:
    """Ask one question.

    Raises:
        ModelError, Cancelled: as the model.
    """
    said = context.complete(prompt(context.model.info, style, question.source, question.call, max_tokens))
    truth, made = question.truth, question.features
    answer = STYLES[style].read(said, truth.value)
    return ExecutionAnswer(
        target=question.target,
        call=question.call,
        input=question.input.origin,
        form=question.form,
        truth=truth.written,
        type=type(truth.value).__name__,
        style=style,
        said=said.text,
        finish=said.finish,
        answer=answer.written,
        outcome=answer.outcome,
        unread=answer.unread,
        same_type=answer.literal is not None and same_type(answer.literal.value, truth.value),
        tags=made.tags if made else None,
        uses=made.uses if made else None,
        apis=made.apis if made else None,
        complexity=made.complexity if made else None,
        lines=made.lines if made else None,
        rounds=truth.rounds,
    )
