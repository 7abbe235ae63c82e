"""Prompts of execution reasoning, and parsing of their answers.

Templates are data, one file per style, language and format, in `templates/`: `$source` is the program,
`$call` the call; see `probes/prompts/templates.py`. To add a style: write its files, and add it to `STYLES`
and to the `stops` of each language.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from counterlens.models.base import Completion, ModelInfo, Prompt
from counterlens.models.chat.replies import still_thinks, without_thought
from counterlens.probes.common_options import MOST_TOKENS
from counterlens.probes.execution.language import execution_of
from counterlens.probes.execution.printing import PRINTED, STOPS, printed_answer
from counterlens.probes.options import option
from counterlens.probes.prompts.language import prompting_of
from counterlens.probes.prompts.literals import (
    AnswerOutcome,
    Literal,
    announced_text,
    direct_answer,
    outcome,
    stepwise_answer,
    why_unread,
)
from counterlens.probes.prompts.templates import chats, fill, repeats_example

DIRECT_TOKENS, STEPWISE_TOKENS, WRITTEN_TOKENS = 128, 384, 384
"""Maximum new tokens of a completion model: for a direct answer, a step-by-step answer, and a function."""
CHAT_TOKENS = 16_384
"""Token limit of a chat model, which may reason before it answers; it stops by itself otherwise."""

DIRECT, STEPS = "direct", "steps"
"""The ids of the styles."""
StyleTokens = Annotated[
    int | None,
    option(
        f"Token limit for one answer; by default {CHAT_TOKENS} of a chat model, which may reason first, "
        f"but no more than half of its window. A completion model has {DIRECT_TOKENS} for a direct answer, "
        f"{STEPWISE_TOKENS} step by step, {WRITTEN_TOKENS} for a function.",
        metavar="N",
        low=1,
        high=MOST_TOKENS,
        setting="probe.maxTokens",
    ),
]


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The value read from a model's answer.

    Attributes:
        literal: The literal; None if there is none.
        outcome: Whether it is right.
        unread: Why there is no literal; None if there is one.
        copied: Whether it is wrong, and the literal is that of the prompt's worked example.
    """

    literal: Literal | None
    outcome: AnswerOutcome
    unread: str | None
    copied: bool = False

    @property
    def written(self) -> str | None:
        """The literal as text."""
        return _text_of(self.literal)


@dataclass(frozen=True, slots=True)
class Style:
    """A prompt style.

    Attributes:
        title: Its name.
        find: Finds the answer in the model's text.
        max_tokens: Default token limit.
        stepwise: Whether the answer is at the end, after `Answer:`.
    """

    title: str
    find: Callable[..., Literal | None]
    max_tokens: int
    stepwise: bool = False

    def read(
        self,
        completion: Completion,
        truth: Any,
        written: str | None = None,
        *,
        language: str = "python",
        asked: Prompt | None = None,
        printed: bool = False,
    ) -> ReadAnswer:
        """The answer in the model's text, without its reasoning, compared with the truth.

        Args:
            written: The text of the truth, if answers are compared as text (Liu et al. 2024); None if they
                are compared as values.
            language: The id of the language that values are written in.
            asked: The prompt, whose worked example may be repeated.
            printed: Whether the truth is the text that a whole program prints.
        """
        values = PRINTED if printed else execution_of(language).values
        find = (
            partial(printed_answer, stepwise=self.stepwise) if printed else partial(self.find, values=values)
        )
        finish = "length" if still_thinks(completion.text) else completion.finish
        text = without_thought(completion.text)
        literal = find(text, cut_off=finish == "length")
        unread = None if literal else why_unread(text, finish, stepwise=self.stepwise, values=values)
        came = outcome(literal, truth, unread=unread, values=values)
        if written is not None:
            announced = announced_text(text, stepwise=self.stepwise, values=values)
            came = _as_written(came, same=values.same_text(literal, announced, Literal(truth, written)))
        copied = (
            asked is not None
            and came is not AnswerOutcome.RIGHT
            and repeats_example(asked, text, lambda said: _text_of(find(said)))
        )
        return ReadAnswer(literal, came, unread, copied)


def _text_of(literal: Literal | None) -> str | None:
    return literal.written if literal else None


def _as_written(came: AnswerOutcome, *, same: bool) -> AnswerOutcome:
    """The outcome of an answer that is compared as text."""
    if same and came is not AnswerOutcome.TRUNCATED:
        return AnswerOutcome.RIGHT
    return AnswerOutcome.WRONG if came is AnswerOutcome.RIGHT else came


STYLES = {
    DIRECT: Style("direct", direct_answer, DIRECT_TOKENS),
    STEPS: Style("step by step", stepwise_answer, STEPWISE_TOKENS, stepwise=True),
}


def most_tokens(info: ModelInfo, given: int | None, otherwise: int) -> int:
    """The token limit of an answer.

    Args:
        given: The user's limit; None if there is none.
        otherwise: A sufficient token limit for a completion model.
    """
    if given is not None:
        return given
    if not chats(info):
        return otherwise
    return CHAT_TOKENS if info.context is None else max(otherwise, min(CHAT_TOKENS, info.context // 2))


def prompt(
    info: ModelInfo,
    style: str,
    source: str,
    call: str,
    max_tokens: int | None = None,
    *,
    language: str = "python",
    printed: bool = False,
) -> Prompt:
    """The question about the result of a call, or about what a whole program prints for an input."""
    tokens = most_tokens(info, max_tokens, STYLES[style].max_tokens)
    stop = STOPS[style] if printed else execution_of(language).stops[style]
    name = f"{style}{'-program' if printed else ''}{prompting_of(language).suffix}"
    return fill(info, __package__, name, tokens, stop, source=source, call=call)


def state_prompt(
    info: ModelInfo,
    source: str,
    call: str,
    variable: str,
    times: str,
    max_tokens: int,
    *,
    language: str = "python",
) -> Prompt:
    """The question about the value of a variable after the k-th run of the marked line."""
    return fill(
        info,
        __package__,
        f"state{prompting_of(language).suffix}",
        max_tokens,
        execution_of(language).stops["direct"],
        source=source,
        call=call,
        variable=variable,
        times=times,
    )
