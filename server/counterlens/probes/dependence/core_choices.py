"""CoRe's questions with candidates, beside what the model writes: nothing is generated.

Whether one instance depends on another has the candidates yes and no; what an instance depends on has the
lines of the function, of which each with a source is right. They are about data and control dependence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from counterlens.datasets.core import CoreTask
from counterlens.languages.registry import LANGUAGES
from counterlens.metrics.closed import Closed
from counterlens.models.base import Model, Prompt, Stop
from counterlens.probes.dependence.core_answers import CoreAnswer
from counterlens.probes.dependence.core_form import CoreForm, OwnQuestion
from counterlens.probes.dependence.core_questions import lines
from counterlens.probes.dependence.core_replies import KEYS, shown_node
from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.prompts import asked_in
from counterlens.probes.dependence.record import DependenceRecord
from counterlens.probes.prompts.closed import YES_NO, AnswerSource, WeighedQuestion, choose, how
from counterlens.probes.prompts.closed_figures import BY_MODEL, by_way, yes_no
from counterlens.probes.prompts.templates import chats, fill
from counterlens.progress import Steps

_LINE_ASKED = {
    CoreTask.CONTROL: "The outcome of which line decides whether line {} runs, directly or through others?",
    CoreTask.DATA: "Which line sets a value that {} (variable, line) depends on, directly or through others?",
}
_TITLES = {CoreForm.TRACE: "yes or no", CoreForm.SOURCE: "line of a source"}


def with_choices(
    model: Model,
    subject: ExaminedFunction,
    asked: Sequence[OwnQuestion],
    answers: Sequence[CoreAnswer],
    steps: Steps,
) -> list[CoreAnswer]:
    """The answers with the probability of each candidate, if the model gives any.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    if how(model, steps.cancel) is AnswerSource.TEXT:
        return list(answers)
    listing, chosen = lines(subject), dict[int, tuple[str, ...]]()
    weighed: list[WeighedQuestion] = []
    for at, (question, answer) in enumerate(zip(asked, answers, strict=True)):
        if question.task not in _LINE_ASKED:
            continue
        if question.form is CoreForm.TRACE:
            chosen[at] = YES_NO
            weighed.append(_yes_no(model, subject, question, listing))
        elif answer.sources:
            chosen[at] = candidates = _lines_of(subject)
            weighed.append(_line(model, subject, question, listing, candidates))
    logprobs = iter(choose(model, weighed, steps, "asking CoRe's questions with candidates"))
    return [
        replace(answer, candidates=chosen[at], logprobs=next(logprobs)) if at in chosen else answer
        for at, answer in enumerate(answers)
    ]


def ranked_choices(records: Sequence[DependenceRecord]) -> Mapping[tuple[str, str], Sequence[Closed]]:
    """The questions with candidates, by what was asked and what ranks these."""
    return by_way(
        (f"{answer.task.words}: {_TITLES[answer.form]}", dict(_ways(record.target, answer)))
        for record in records
        for answer in record.answers
        if answer.logprobs
    )


def _ways(function: str, answer: CoreAnswer) -> Iterator[tuple[str, Closed]]:
    """A question by the model's probabilities, by the rule, and by the distance of the lines."""
    target = _line_in(answer.target)
    if answer.form is CoreForm.TRACE:
        yield BY_MODEL, Closed(function, YES_NO, answer.logprobs, frozenset({0 if answer.true else 1}))
        yield "the rule", yes_no(function, 1.0 if answer.ruled else -1.0, truth=answer.true)
        yield "near", yes_no(function, -abs(target - _line_in(answer.source)), truth=answer.true)
        return
    places = {candidate: at for at, candidate in enumerate(answer.candidates)}
    right = frozenset(places[str(line)] for line in map(_line_in, answer.sources) if str(line) in places)
    if right:
        ruled = {str(_line_in(source)) for source in answer.ruled_sources}
        yield BY_MODEL, Closed(function, answer.candidates, answer.logprobs, right)
        by_rule = tuple(float(candidate in ruled) for candidate in answer.candidates)
        yield "the rule", Closed(function, answer.candidates, by_rule, right)
        near = tuple(-abs(target - int(candidate) - 0.5) for candidate in answer.candidates)
        yield "near", Closed(function, answer.candidates, near, right)


def _yes_no(model: Model, subject: ExaminedFunction, question: OwnQuestion, listing: str) -> WeighedQuestion:
    info, key = model.info, KEYS[question.task]
    wording = asked_in(
        info,
        subject,
        f"core-{question.task}",
        lines=listing,
        function=subject.dependences.function,
        source=shown_node(question.source or question.target),
        target=shown_node(question.target),
    )
    words = (f'{{"{key}": true}}', f'{{"{key}": false}}') if chats(info) else YES_NO
    return WeighedQuestion(wording.question(4, Stop(texts=("\n",))), words)


def _line(
    model: Model,
    subject: ExaminedFunction,
    question: OwnQuestion,
    listing: str,
    candidates: tuple[str, ...],
) -> WeighedQuestion:
    asked = _LINE_ASKED[question.task].format(shown_node(question.target))
    prompt: Prompt = fill(
        model.info,
        "counterlens.probes.prompts",
        "closed",
        4,
        ("\n",),
        source=listing,
        question=asked,
        answers="with the number of a line",
        comment=LANGUAGES[subject.language].comment,
    )
    return WeighedQuestion(prompt, candidates, ended=True)


def _lines_of(subject: ExaminedFunction) -> tuple[str, ...]:
    """The numbers of the lines with statements, the header included, whose parameters are sources."""
    numbers = sorted({part.statement.line for part in subject.parts if not part.described})
    return tuple(map(str, numbers))


def _line_in(node: str) -> int:
    """The line of a node's text: `total 3`, or `3`."""
    return int(node.rpartition(" ")[2])
